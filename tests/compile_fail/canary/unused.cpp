// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Bad sample: a case is declared that the code does not have.
#if defined(CASE_1)  // CASE_1: E901
static_assert(false, "tpoverlap[E901]: canary");
#endif
// CASE_2: E902
