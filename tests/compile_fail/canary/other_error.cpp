// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Bad sample: fails for another reason, while the expected text stands in the quoted source.
#if defined(CASE_1)  // CASE_1: E901
int bad = undeclared_name("tpoverlap[E901]: canary");
#endif
