// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Bad sample: puts a namespace on its includer.
#pragma once

namespace tpoverlap {}
using namespace tpoverlap;
