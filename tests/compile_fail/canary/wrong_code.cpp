// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Bad sample: the case fails with a code other than the declared one.
#if defined(CASE_1)  // CASE_1: E901
static_assert(false, "tpoverlap[E902]: canary");
#endif
