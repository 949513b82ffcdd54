// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Bad sample: a tuner works with every backend.
#pragma once

#include <tpoverlap/host/stream.hpp>
