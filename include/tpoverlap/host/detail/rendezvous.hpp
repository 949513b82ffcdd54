// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! One operation of one rank on one lane: a group of sends and receives that progress together, within a time limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/message.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/host/detail/clock.hpp>
#include <tpoverlap/host/detail/mailbox.hpp>
#include <tpoverlap/host/detail/straggler.hpp>
#include <tpoverlap/host/world.hpp>

namespace tpoverlap::inline v0::host::detail {

/// One half of a message on its way.
struct transfer {
  enum class step : std::uint8_t { waiting, posted, seen, done };

  message half;
  std::int32_t after = -1;  // an earlier transfer of the same peer and direction, which goes first
  bool held = false;        // a receive that is read in place by a reduction instead of being copied
  step at = step::waiting;
  void const* source = nullptr;  // of a held receive
  clock::time_point arrival{};

  [[nodiscard]] bool done() const { return at == step::done; }
};

/// Runs in the thread of the rank's lane. Receivers copy out of the senders' memory, so that nothing is
/// ever written into a rank's memory after its own operation has ended.
class rendezvous {
 public:
  rendezvous(host::world& shared, int rank, int lane, call_site where)
      : world_{shared}, seat_{shared.seat(rank, lane)}, rank_{rank}, lane_{lane}, where_{where} {}

  /// Delays this rank by its pseudo-random share of `straggler_max`, then starts the clock of the time limit.
  void start(std::uint64_t sequence) {
    auto const& options = world_.options();
    auto const delay = straggler_delay(options.straggler_seed, options.straggler_max, rank_, lane_, sequence);
    if (delay.count() > 0) sleep_until(clock::now() + delay);
    deadline_ = clock::now() + options.time_limit;
    if (world_.aborted()) world_.raise_aborted(rank_, where_);
  }

  /// Completes all transfers. Once every held receive has met its sender, `reduce()` is called, in which the
  /// `source` of held receives may be read.
  template <class Reduce>
  void run(std::span<transfer> transfers, Reduce reduce) {
    struct withdrawal {
      rendezvous& self;
      std::span<transfer> transfers;
      ~withdrawal() { self.withdraw(transfers); }
    } const at_exit{*this, transfers};  // finds nothing to do after success

    for (bool reduced = false;;) {
      auto const changes = seat_.changes.load();
      bool progress = advance(transfers);
      if (!reduced && all(transfers, met)) {
        if (!take_held(transfers)) fail_aborted(transfers);
        reduce();
        deliver_held(transfers);
        reduced = progress = true;
      }
      if (reduced && all(transfers, finished)) break;
      if (world_.aborted()) fail_aborted(transfers);
      if (progress) continue;
      if (clock::now() >= deadline_) fail_late(transfers);
      seat_.sleep.wait_until(deadline_, [&] { return seat_.changes.load() != changes; });
    }
    await_arrivals(transfers);
  }

 private:
  using state = mailbox::state;
  using step = transfer::step;
  static bool is_send(transfer const& each) { return each.half.way == message::direction::send; }
  static bool met(transfer const& each) { return !each.held || each.at != step::waiting; }
  static bool finished(transfer const& each) { return each.done(); }
  static bool all(std::span<transfer const> transfers, bool (*holds)(transfer const&)) {
    for (auto const& each : transfers)
      if (!holds(each)) return false;
    return true;
  }

  mailbox& box_of(transfer const& each) {
    return is_send(each) ? world_.mailbox(lane_, rank_, each.half.peer)
                         : world_.mailbox(lane_, each.half.peer, rank_);
  }
  void call_peer(transfer const& each) { world_.seat(each.half.peer, lane_).call(); }

  /// Takes every transfer as far as it goes now. Returns whether any moved.
  bool advance(std::span<transfer> transfers) {
    bool progress = false;
    for (auto& each : transfers) {
      if (each.done() || (each.after >= 0 && !transfers[static_cast<std::size_t>(each.after)].done()))
        continue;
      auto const before = each.at;
      if (is_send(each)) {
        advance_send(each);
      } else {
        advance_receive(each);
      }
      progress = progress || each.at != before;
    }
    return progress;
  }

  void advance_send(transfer& each) {
    auto& box = box_of(each);
    auto const now = box.now.load();
    if (each.at == step::waiting && now == state::vacant) {
      box.data = each.half.data;
      box.bytes = each.half.bytes;
      box.now.store(state::posted);
      each.at = step::posted;
      call_peer(each);
    } else if (each.at == step::posted && now == state::delivered) {
      each.arrival = box.arrival;
      each.at = step::done;
      box.now.store(state::vacant);
    } else if (each.at == step::posted && now == state::refused) {
      fail_mismatch(each, each.half.bytes, box.wanted);
    }
  }

  void advance_receive(transfer& each) {
    auto& box = box_of(each);
    if (each.at != step::waiting || box.now.load() != state::posted) return;
    if (box.bytes != each.half.bytes) {
      auto const sent = box.bytes;
      box.wanted = each.half.bytes;
      if (box.leave_posted(state::refused)) call_peer(each);
      fail_mismatch(each, sent, each.half.bytes);
    }
    if (each.held) {
      each.arrival = world_.send_over_link(each.half.peer, rank_, each.half.bytes);
      each.at = step::seen;
      return;
    }
    if (!box.leave_posted(state::taken)) return;
    each.arrival = world_.send_over_link(each.half.peer, rank_, each.half.bytes);
    if (each.half.bytes > 0) std::memcpy(each.half.data, box.data, each.half.bytes);
    deliver(each, box);
  }

  void deliver(transfer& each, mailbox& box) {
    box.arrival = each.arrival;
    each.at = step::done;
    box.now.store(state::delivered);
    call_peer(each);
  }

  /// Returns false if a sender has withdrawn; then none is held.
  bool take_held(std::span<transfer> transfers) {
    for (auto& each : transfers) {
      if (!each.held) continue;
      auto& box = box_of(each);
      if (!box.leave_posted(state::taken)) {
        for (auto& taken : transfers)
          if (taken.held && taken.source != nullptr) deliver(taken, box_of(taken));
        return false;
      }
      each.source = box.data;
    }
    return true;
  }

  void deliver_held(std::span<transfer> transfers) {
    for (auto& each : transfers)
      if (each.held) deliver(each, box_of(each));
  }

  /// Takes back what no receiver has begun to read, and waits for those that are reading: after this the caller's
  /// memory is its own again.
  void withdraw(std::span<transfer> transfers) noexcept {
    for (auto& each : transfers) {
      if (!is_send(each) || each.at != step::posted) continue;
      auto& box = box_of(each);
      if (box.leave_posted(state::vacant)) continue;
      seat_.sleep.wait([&] { return box.now.load() != state::taken; });
    }
  }

  void await_arrivals(std::span<transfer const> transfers) {
    if (!world_.options().link.emulates()) return;
    for (auto const& each : transfers) {
      sleep_until(each.arrival < deadline_ ? each.arrival : deadline_);
      if (world_.aborted()) world_.raise_aborted(rank_, where_, each.half.peer);
      if (each.arrival > deadline_) fail_slow_link(each);
    }
  }

  /// Ends early when the world aborts.
  void sleep_until(clock::time_point moment) {
    if (moment > clock::now()) seat_.sleep.wait_until(moment, [this] { return world_.aborted(); });
  }

  [[noreturn]] void fail_aborted(std::span<transfer> transfers) {
    advance(transfers);  // a refusal explains more than the abort that came of it
    world_.raise_aborted(rank_, where_);
  }

  [[noreturn]] void fail_mismatch(transfer const& each, std::size_t sent, std::size_t wanted) {
    auto const peer = each.half.peer;
    bounded_text<240> text;
    text << "rank " << (is_send(each) ? rank_ : peer) << " sends " << sent << " bytes, but rank "
         << (is_send(each) ? peer : rank_) << " receives " << wanted
         << " bytes; give both ranks the same shapes and the same policy";
    fail(communication_error{text.view(), rank_, where_, peer});
  }

  [[noreturn]] void fail_late(std::span<transfer const> transfers) {
    auto const* late = transfers.data();
    for (auto const& candidate : transfers) {
      if (candidate.done()) continue;
      late = &candidate;
      break;
    }
    auto const& each = *late;
    bounded_text<300> text;
    text << "waited " << world_.options().time_limit.count() << " ms for rank " << each.half.peer
         << (is_send(each) ? " to receive " : " to send ") << each.half.bytes
         << " bytes; look for the rank that did not call, or raise communicator_options::time_limit";
    fail(timeout_error{text.view(), rank_, where_, each.half.peer});
  }

  [[noreturn]] void fail_slow_link(transfer const& each) {
    bounded_text<200> text;
    text << each.half.bytes << (is_send(each) ? " bytes to rank " : " bytes from rank ") << each.half.peer
         << " take longer than " << world_.options().time_limit.count()
         << " ms on the emulated link; raise communicator_options::time_limit";
    fail(timeout_error{text.view(), rank_, where_, each.half.peer});
  }

  template <class Error>
  [[noreturn]] void fail(Error const& failure) {
    world_.abort(rank_, failure.what());
    raise(failure);
  }

  host::world& world_;
  host::detail::seat& seat_;
  int rank_;
  int lane_;
  call_site where_;
  clock::time_point deadline_{};
};

}  // namespace tpoverlap::inline v0::host::detail
