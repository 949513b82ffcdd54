// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Bad sample: a trace is of a schedule, not of its execution.
#pragma once

#include <tpoverlap/overlap.hpp>
