// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Stands in for `std::source_location`, which clang 14 cannot use with libstdc++.
#pragma once

namespace tpoverlap::inline v0 {

/// The place in a program's source that a default argument of type `source_location::current()` was evaluated at.
struct source_location {
  char const* file = "";
  char const* function = "";
  int line = 0;

  static constexpr source_location current(char const* file = __builtin_FILE(),
                                           char const* function = __builtin_FUNCTION(),
                                           int line = __builtin_LINE()) noexcept {
    return {file, function, line};
  }
};

}  // namespace tpoverlap::inline v0
