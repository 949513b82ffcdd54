// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Bad sample: the second case is never looked at, because no comment declares it.
#if defined(CASE_1)  // CASE_1: E901
static_assert(false, "tpoverlap[E901]: canary");
#elif defined(CASE_2)
static_assert(true, "tpoverlap[E901]: canary");
#endif
