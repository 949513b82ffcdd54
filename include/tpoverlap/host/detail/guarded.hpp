// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The one place of the host backend that catches: turns an exception into a value that can cross threads.
#pragma once

#include <exception>

namespace tpoverlap::inline v0::host::detail {

/// Runs `f()` and returns what it threw, or nullptr.
template <class F>
[[nodiscard]] std::exception_ptr guarded(F&& f) noexcept {
#if defined(__cpp_exceptions)
  try {
    f();
  } catch (...) {
    return std::current_exception();
  }
#else
  f();
#endif
  return nullptr;
}

}  // namespace tpoverlap::inline v0::host::detail
