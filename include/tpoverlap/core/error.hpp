// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The exceptions of the library: each says what happened, where (rank, operation, tile, peer) and what to do.
#pragma once

#include <tpoverlap/core/source_location.hpp>
#include <tpoverlap/core/text.hpp>

#include <exception>

namespace tpoverlap::inline v0 {

/// Where in a schedule something happened. Negative numbers mean "does not apply".
struct call_site {
  char const* operation = "";  ///< a literal such as "exchange" or "all_gather"
  int index = -1;              ///< position in the schedule's list of operations
  int shard = -1;              ///< rank that owns the tile's shard
  int chunk = -1;              ///< chunk of that shard

  friend constexpr bool operator==(call_site const&, call_site const&) = default;
};

/// A message together with the place in the source that made it; converts from text at that place.
struct located_text {
  text_view text;
  source_location source;

  constexpr located_text(char const* what, source_location place = source_location::current()) noexcept
      : text{what}, source{place} {}
  constexpr located_text(text_view what, source_location place = source_location::current()) noexcept
      : text{what}, source{place} {}
};

/// Base of every exception thrown here. The whole message is in `what()`.
class [[gnu::visibility("default")]] error : public std::exception {
 public:
  error(located_text what_and_fix, int rank = -1, call_site where = {}, int peer = -1) noexcept
      : rank_{rank}, peer_{peer}, where_{where}, source_{what_and_fix.source} {
    message_ << "tpoverlap: ";
    if (rank >= 0) message_ << "rank " << rank << ": ";
    if (where.operation[0] != '\0') {
      message_ << where.operation;
      if (where.index >= 0) message_ << " (operation " << where.index << ')';
      if (where.shard >= 0) message_ << " of shard " << where.shard;
      if (where.chunk >= 0) message_ << " chunk " << where.chunk;
      message_ << ": ";
    }
    message_ << what_and_fix.text;
  }

  [[nodiscard]] char const* what() const noexcept override { return message_.c_str(); }
  [[nodiscard]] int rank() const noexcept { return rank_; }  ///< the rank that reports, 0..P-1
  [[nodiscard]] int peer() const noexcept { return peer_; }  ///< the rank it was waiting for, or -1
  [[nodiscard]] call_site where() const noexcept { return where_; }
  [[nodiscard]] source_location source() const noexcept { return source_; }

 private:
  bounded_text<480> message_;
  int rank_;
  int peer_;
  call_site where_;
  source_location source_;
};

/// The caller passed something that cannot work; nothing was launched.
class [[gnu::visibility("default")]] usage_error : public error {
  using error::error;
};

/// A rank did not arrive within the communicator's time limit.
class [[gnu::visibility("default")]] timeout_error : public error {
  using error::error;
};

/// Ranks disagree about a message, or the transport failed.
class [[gnu::visibility("default")]] communication_error : public error {
  using error::error;
};

/// The communicator was aborted, by this rank or by another one that failed first.
class [[gnu::visibility("default")]] aborted_error : public communication_error {
  using communication_error::communication_error;
};

/// A schedule that `verify` rejected was about to be used.
class [[gnu::visibility("default")]] schedule_error : public error {
  using error::error;
};

/// Throws where exceptions are enabled, and ends the program where they are not.
template <class Error>
[[noreturn]] void raise(Error const& failure) {
#if defined(__cpp_exceptions)
  throw failure;
#else
  (void)failure;
  std::terminate();
#endif
}

}  // namespace tpoverlap::inline v0
