// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Tells causes from consequences among the failures of several ranks.
#pragma once

#include <cstddef>
#include <exception>
#include <mutex>

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>

namespace tpoverlap::inline v0::host::detail {

/// What an exception says, for quoting it to other ranks.
[[nodiscard]] inline bounded_text<360> text_of(std::exception_ptr const& thrown) noexcept {
#if defined(__cpp_exceptions)
  try {
    std::rethrow_exception(thrown);
  } catch (std::exception const& failure) {
    return {failure.what()};
  } catch (...) {
  }
#else
  (void)thrown;
#endif
  return {"an exception that is not a std::exception"};
}

/// Collects failures from several threads.
class first_failure {
 public:
  void keep(std::exception_ptr thrown) noexcept {
    auto& first = first_[rank_of(thrown)];
    std::lock_guard lock{mutex_};
    if (!first) first = thrown;
  }

  /// The first failure that is no consequence of another rank's; else the first of a rank that waited in vain,
  /// since the rank it waited for may have been busy failing; else the first abort; else nullptr.
  [[nodiscard]] std::exception_ptr root_cause() const noexcept {
    for (auto const& each : first_)
      if (each) return each;
    return nullptr;
  }

 private:
  static std::size_t rank_of(std::exception_ptr const& thrown) noexcept {
#if defined(__cpp_exceptions)
    try {
      std::rethrow_exception(thrown);
    } catch (aborted_error const&) {
      return 2;
    } catch (timeout_error const&) {
      return 1;
    } catch (...) {
    }
#else
    (void)thrown;
#endif
    return 0;
  }

  std::mutex mutex_;
  std::exception_ptr first_[3];
};

}  // namespace tpoverlap::inline v0::host::detail
