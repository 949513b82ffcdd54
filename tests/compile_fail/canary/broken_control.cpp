// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Bad sample: fails with the right code, but would do so without the mistake as well.
static_assert(false, "tpoverlap[E901]: canary");
#if defined(CASE_1)  // CASE_1: E901
#endif
