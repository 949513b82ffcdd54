// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What the ranks of one process share: mailboxes, the emulated links, and whether somebody has given up.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/host/communicator_options.hpp>
#include <tpoverlap/host/detail/clock.hpp>
#include <tpoverlap/host/detail/mailbox.hpp>

namespace tpoverlap::inline v0::host {

class communicator;
namespace detail {
class rendezvous;
}

/// The shared state of `ranks` in-process ranks. It must outlive their communicators.
///
/// **Errors** an abort is final: the first reason is kept and quoted to every rank.
class world {
 public:
  static constexpr int lanes = 8;  ///< lane 0 carries the blocking calls, 1..7 are streams

  explicit world(int ranks, communicator_options const& options = {})
      : ranks_{checked(ranks)},
        options_{options},
        mailboxes_{std::make_unique<detail::mailbox[]>(count(lanes) * count(ranks) * count(ranks))},
        seats_{std::make_unique<detail::seat[]>(count(lanes) * count(ranks))},
        links_{std::make_unique<busy_until[]>(count(ranks))},
        claimed_{std::make_unique<std::atomic<bool>[]>(count(ranks))} {}

  world(world const&) = delete;
  world& operator=(world const&) = delete;

  [[nodiscard]] int size() const noexcept { return ranks_; }
  [[nodiscard]] communicator_options const& options() const noexcept { return options_; }
  [[nodiscard]] bool aborted() const noexcept { return aborted_.load(); }

  /// Ends every rank's pending and later operations with an `aborted_error` that quotes `rank` and `reason`.
  void abort(int rank, std::string_view reason) noexcept {
    {
      std::lock_guard lock{abort_mutex_};
      if (aborted()) return;
      constexpr std::string_view prefix = "tpoverlap: ";
      if (reason.starts_with(prefix)) reason.remove_prefix(prefix.size());
      abort_reason_ << "aborted by rank " << rank << ": " << reason;
      aborted_.store(true);
    }
    for (std::size_t i = 0; i < count(lanes) * count(ranks_); ++i) seats_[i].call();
  }

  /// Throws the `aborted_error` of an aborted world, as seen from `rank`.
  [[noreturn]] void raise_aborted(int rank, call_site where = {}, int peer = -1) const {
    raise(aborted_error{abort_reason_.view(), rank, where, peer});
  }

 private:
  friend class communicator;
  friend class detail::rendezvous;

  struct busy_until {
    detail::clock::time_point egress{};
    detail::clock::time_point ingress{};
  };

  static std::size_t count(int value) noexcept { return static_cast<std::size_t>(value); }
  static int checked(int ranks) {
    if (ranks < 1) raise(usage_error{"a world has at least one rank"});
    return ranks;
  }

  detail::mailbox& mailbox(int lane, int source, int destination) noexcept {
    return mailboxes_[(count(lane) * count(ranks_) + count(source)) * count(ranks_) + count(destination)];
  }
  detail::seat& seat(int rank, int lane) noexcept { return seats_[count(rank) * count(lanes) + count(lane)]; }

  bool claim(int rank) noexcept { return !claimed_[count(rank)].exchange(true); }
  void release(int rank) noexcept { claimed_[count(rank)].store(false); }

  /// Puts a message on the emulated links now and returns when it will have arrived.
  detail::clock::time_point send_over_link(int source, int destination, std::size_t bytes) {
    auto const now = detail::clock::now();
    if (!options_.link.emulates() || source == destination) return now;
    auto const ticks = [](double seconds) {
      return std::chrono::duration_cast<detail::clock::duration>(std::chrono::duration<double>{seconds});
    };
    auto const wire = ticks(options_.link.seconds_on_wire(bytes));
    std::lock_guard lock{link_mutex_};
    auto& egress = links_[count(source)].egress;
    auto& ingress = links_[count(destination)].ingress;
    auto const later = [](auto a, auto b) { return a < b ? b : a; };
    // Each end is busy for the time on the wire; neither idles because the other has a queue.
    egress = later(egress, now) + wire;
    ingress = later(ingress, now) + wire;
    return later(egress, ingress) + ticks(options_.link.latency_seconds);
  }

  int ranks_;
  communicator_options options_;
  std::unique_ptr<detail::mailbox[]> mailboxes_;
  std::unique_ptr<detail::seat[]> seats_;
  std::unique_ptr<busy_until[]> links_;
  std::unique_ptr<std::atomic<bool>[]> claimed_;
  std::mutex link_mutex_;
  std::mutex abort_mutex_;
  bounded_text<400> abort_reason_;  // written once, before `aborted_`
  std::atomic<bool> aborted_{false};
};

}  // namespace tpoverlap::inline v0::host
