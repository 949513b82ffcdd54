// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Bad sample: a lower layer sees a higher one.
#pragma once

#include <tpoverlap/strategies/ring.hpp>
