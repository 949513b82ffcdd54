// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Bad sample: longer than its budget, and with an expensive std header.
#pragma once

#include <iostream>

namespace tpoverlap {

inline int one() { return 1; }
inline int two() { return 2; }
inline int three() { return 3; }

}  // namespace tpoverlap
