// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Bad sample: a function without inline.
#pragma once

namespace tpoverlap {

int answer();
int answer() { return 42; }

}  // namespace tpoverlap
