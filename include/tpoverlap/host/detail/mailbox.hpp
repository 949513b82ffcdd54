// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Where a sender and a receiver meet, and where a rank's lane sleeps until one of its mailboxes changes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tpoverlap/host/detail/parking.hpp>

namespace tpoverlap::inline v0::host::detail {

/// One for each (lane, source, destination). The sender posts its memory; the receiver copies out of it.
///
///     vacant ──sender──▶ posted ──receiver──▶ taken ──receiver──▶ delivered ──sender──▶ vacant
///                          │  ╰───receiver──▶ refused (the sizes differ)
///                          ╰──sender, when it gives up──▶ vacant
///
/// Leaving `posted` is a compare-and-swap: either the sender withdraws or the receiver takes, never both. While it is
/// `taken`, the receiver reads the sender's memory and the sender must stay.
struct mailbox {
  enum class state : std::uint32_t { vacant, posted, taken, delivered, refused };

  bool leave_posted(state next) noexcept {
    auto expected = state::posted;
    return now.compare_exchange_strong(expected, next);
  }

  std::atomic<state> now{state::vacant};
  void const* data = nullptr;   // sender's, valid from posted on
  std::size_t bytes = 0;        // sender's, valid from posted on
  std::size_t wanted = 0;       // receiver's, valid when refused
  clock::time_point arrival{};  // receiver's, valid when delivered
};

/// One for each (rank, lane).
struct seat {
  void call() noexcept {
    changes.fetch_add(1);
    sleep.wake();
  }

  std::atomic<std::uint64_t> changes{0};
  parking sleep;
};

}  // namespace tpoverlap::inline v0::host::detail
