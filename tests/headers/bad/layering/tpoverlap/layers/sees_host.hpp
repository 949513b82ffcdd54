// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Bad sample: layers work with every backend.
#pragma once

#include <tpoverlap/host/stream.hpp>
