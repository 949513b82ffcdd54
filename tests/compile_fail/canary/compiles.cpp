// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Bad sample: the case compiles.
#if defined(CASE_1)  // CASE_1: E901
static_assert(true, "tpoverlap[E901]: canary");
#endif
