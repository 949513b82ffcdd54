// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Bad sample: one mistake, two codes.
#if defined(CASE_1)  // CASE_1: E901
static_assert(false, "tpoverlap[E901]: canary");
static_assert(false, "tpoverlap[E902]: canary");
#endif
