// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Sound: the harness has to accept it. The case lies in a function template, as most real ones do.
template <class T>
void must_be_large() {
  static_assert(sizeof(T) >= 4, "tpoverlap[E901]: canary: this is why");
  static_assert(sizeof(T) >= 1, "tpoverlap[E902]: canary: never reached");
}

void control() { must_be_large<int>(); }

#if defined(CASE_1)  // CASE_1: E901
void bad() { must_be_large<char>(); }
#endif
