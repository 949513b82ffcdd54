// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What is thrown when a file of kept choices cannot be read, understood or written.
#pragma once

#include <tpoverlap/core/error.hpp>

namespace tpoverlap::inline v0 {

/// A tuning file is corrupt, of another version, no tuning file, or out of reach. Nothing of it has been used, and all
/// ranks throw the same.
class [[gnu::visibility("default")]] tuning_file_error : public error {
 public:
  tuning_file_error(located_text what_and_fix, int line = 0, int rank = -1) noexcept
      : error{what_and_fix, rank}, line_{line} {}

  [[nodiscard]] int line() const noexcept {
    return line_;
  }  ///< counted from 1; 0 if it is not about one line

 private:
  int line_;
};

}  // namespace tpoverlap::inline v0
