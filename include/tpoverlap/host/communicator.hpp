// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! One rank's handle to a world of in-process ranks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>

#include <tpoverlap/concepts/communicator.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/host/backend.hpp>
#include <tpoverlap/host/detail/agree_on_words.hpp>
#include <tpoverlap/host/detail/clock.hpp>
#include <tpoverlap/host/detail/guarded.hpp>
#include <tpoverlap/host/detail/operand_checks.hpp>
#include <tpoverlap/host/detail/rendezvous.hpp>
#include <tpoverlap/host/detail/sum_pieces.hpp>
#include <tpoverlap/host/link_model.hpp>
#include <tpoverlap/host/world.hpp>

namespace tpoverlap::inline v0::host {

/// Two-sided messages and collectives between threads of one process.
///
/// **Ordering** a send is complete for its lane when the receiver has its data, so the memory may be reused then; all
/// transfers of one exchange progress together. Use a communicator from its rank's thread only.
/// Peers' memory is read in place. A reduction adds `((p[r+1] + p[r+2]) + ...) + p[r]`, as a ring does, bit for bit.
/// **Errors** sizes that differ end in a `communication_error` on both ranks. An operation that waits longer than
/// `time_limit` for its peers ends in a `timeout_error`. Either aborts the world: every other rank's operations end
/// with an `aborted_error`, and new ones are refused with it. By the time that `wait` or a refused call throws, an
/// aborted world's lanes have let go of the caller's memory. Where an exception of your own passes, call `drain` first.
class communicator {
 public:
  using backend = host::backend;

  communicator(world& shared, int rank) : world_{&shared}, rank_{rank} {
    if (rank < 0 || rank >= shared.size()) raise(usage_error{"this rank is not in the world", rank});
    if (!shared.claim(rank)) raise(usage_error{"this rank has a communicator already", rank});
  }

  communicator(communicator const&) = delete;
  communicator& operator=(communicator const&) = delete;

  /// Finishes the lanes first, within the time limit of what was issued to them.
  ~communicator() {
    for (auto& each : lanes_) each.reset();
    world_->release(rank_);
  }

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return world_->size(); }
  [[nodiscard]] host::world& shared() const noexcept { return *world_; }
  /// What a tuner keeps choices for: times measured on one emulated link say nothing about another.
  [[nodiscard]] std::string identity() const { return "host, " + describe(world_->options().link); }

  /// Lane 1..7, a stream of high priority made at its first use.
  stream& lane(int index) {
    if (index < 1 || index >= world::lanes) raise(usage_error{"communication lanes are 1 to 7", rank_});
    auto& made = lanes_[static_cast<std::size_t>(index)];
    if (!made) {
      bounded_text<32> name;
      name << "rank " << rank_ << " lane " << index;
      made = std::make_unique<stream>(stream_options{.priority = priority::high,
                                                     .queue_bytes = world_->options().lane_queue_bytes,
                                                     .name = name.view()});
    }
    return *made;
  }

  void exchange(int lane, std::span<message const> messages, call_site where = {}) {
    begin(where, "exchange");
    checks(where).messages(messages);
    issue(
        lane, where, messages.size(),
        [&](std::size_t index) {
          auto const& half = messages[index];
          detail::transfer made{.half = half};
          for (std::size_t i = 0; i < index; ++i)
            if (messages[i].peer == half.peer && messages[i].way == half.way)
              made.after = static_cast<int>(i);
          return made;
        },
        [](detail::rendezvous& here, std::span<detail::transfer> transfers) { here.run(transfers, [] {}); });
  }

  /// Receives from rank + 1, rank + 2, ... while it sends to rank - 1, rank - 2, ...
  void all_gather(int lane, void const* own, std::span<piece const> shards, element type,
                  call_site where = {}) {
    begin(where, "all_gather");
    checks(where).pieces(shards);
    auto const mine = shards[index_of(rank_)];
    if (mine.elements > 0) checks(where).memory(own);
    auto const bytes = bytes_of(mine, type);
    issue(
        lane, where, 2 * (index_of(size()) - 1),
        [&](std::size_t index) {
          auto const step = static_cast<int>(index / 2) + 1;
          if (index % 2 == 0) return send_half(before(step), own, bytes);
          auto const& shard = shards[index_of(after(step))];
          return receive_half(after(step), shard.data, bytes_of(shard, type));
        },
        [own, to = mine.data, bytes](detail::rendezvous& here, std::span<detail::transfer> transfers) {
          if (bytes > 0 && to != own) std::memcpy(to, own, bytes);
          here.run(transfers, [] {});
        });
  }

  /// **Units** `type` is float64, float32, int32 or int64.
  void reduce_scatter(int lane, std::span<piece const> partials, void* result, element type,
                      call_site where = {}) {
    begin(where, "reduce_scatter");
    checks(where).pieces(partials);
    checks(where).summable(type);
    auto const mine = partials[index_of(rank_)];
    if (mine.elements > 0) checks(where).memory(result);
    issue(
        lane, where, 2 * (index_of(size()) - 1),
        [&](std::size_t index) {
          auto const step = static_cast<int>(index / 2) + 1;
          auto const& partial = partials[index_of(before(step))];
          if (index % 2 == 0) return send_half(before(step), partial.data, bytes_of(partial, type));
          auto made = receive_half(after(step), nullptr, bytes_of(mine, type));
          made.held = true;
          return made;
        },
        [mine, result, type](detail::rendezvous& here, std::span<detail::transfer> transfers) {
          // The halves come in pairs: a send, then the receive of the next summand.
          auto const source = [&](int i) { return transfers[2 * index_of(i) + 1].source; };
          auto const count = static_cast<int>(transfers.size() / 2);
          here.run(transfers,
                   [&] { detail::sum_pieces(count, source, mine.data, result, mine.elements, type); });
        });
  }

  /// In place: `reduce_scatter`, then `all_gather`, each with a time limit of its own.
  void all_reduce(int lane, std::span<piece const> shards, element type, call_site where = {}) {
    begin(where, "all_reduce");
    checks(where).pieces(shards);
    auto* const own = shards[index_of(rank_)].data;
    reduce_scatter(lane, shards, own, type, where);
    all_gather(lane, own, shards, type, where);
  }

  /// Blocking. Sizes that differ end in a `communication_error` on all ranks, and the world stays usable.
  void host_all_gather(std::span<std::uint64_t const> mine, std::span<std::uint64_t> all) {
    if (all.size() != mine.size() * index_of(size()))
      raise(usage_error{"host_all_gather needs room for the words of every rank", rank_});
    detail::agree_on_words(*world_, rank_, next_sequence(0), mine, all);
  }

  /// Ends every rank's pending and later operations.
  void abort(char const* reason) { world_->abort(rank_, reason); }

  /// Waits until all that was issued to `stream` is done, then throws what went wrong, if anything did. All waits for
  /// peers are bounded by `time_limit`, and so is this, unless a task of the caller's own never ends. After
  /// an abort it waits for such a task no longer than `time_limit`, and for the lanes, too, before it throws.
  void wait(stream& stream) {
    constexpr std::chrono::milliseconds glance{20};  // at whether the world has been aborted
    auto const failure = detail::guarded([&] {
      while (!world_->aborted())
        if (stream.synchronize_until(detail::clock::now() + glance)) return;
      (void)stream.synchronize_until(detail::clock::now() + world_->options().time_limit);
    });
    if (failure) {
      if (world_->aborted()) drain();
      std::rethrow_exception(failure);
    }
    refuse_after_abort({.operation = "wait"});
  }

  /// Waits until the lanes are idle, at most `time_limit` each, and throws nothing. Memory that was handed to an
  /// operation may be freed after this, also when the operation failed.
  void drain() noexcept {
    for (auto& each : lanes_) {
      auto const limit = detail::clock::now() + world_->options().time_limit;
      if (each) (void)detail::guarded([&] { (void)each->synchronize_until(limit); });
    }
  }

 private:
  static std::size_t index_of(int rank) noexcept { return static_cast<std::size_t>(rank); }
  [[nodiscard]] int after(int step) const noexcept { return (rank_ + step) % size(); }
  [[nodiscard]] int before(int step) const noexcept { return (rank_ + size() - step) % size(); }
  static std::size_t bytes_of(piece const& part, element type) noexcept {
    return static_cast<std::size_t>(part.elements) * size_of(type);
  }

  static detail::transfer send_half(int peer, void const* data, std::size_t bytes) {
    return {.half = {message::direction::send, peer, const_cast<void*>(data), bytes}};
  }
  static detail::transfer receive_half(int peer, void* data, std::size_t bytes) {
    return {.half = {message::direction::receive, peer, data, bytes}};
  }

  void refuse_after_abort(call_site where) {
    if (!world_->aborted()) return;
    drain();  // the caller is about to lose the memory of what it issued before
    world_->raise_aborted(rank_, where);
  }

  [[nodiscard]] detail::operand_checks checks(call_site where) const { return {rank_, size(), where}; }

  void begin(call_site& where, char const* operation) {
    if (where.operation[0] == '\0') where.operation = operation;
    refuse_after_abort(where);
  }

  std::uint64_t next_sequence(int lane) noexcept { return sequence_[index_of(lane)]++; }

  template <class Fill, class Task>
  void issue(int index, call_site where, std::size_t count, Fill fill, Task task) {
    auto& to = lane(index);
    auto const sequence = next_sequence(index);
    to.enqueue_filled<detail::transfer>(
        count, fill,
        [shared = world_, rank = rank_, index, where, sequence, task](std::span<detail::transfer> transfers) {
          detail::rendezvous here{*shared, rank, index, where};
          here.start(sequence);
          task(here, transfers);
        });
  }

  world* world_;
  int rank_;
  std::array<std::uint64_t, world::lanes> sequence_{};
  std::array<std::unique_ptr<stream>, world::lanes> lanes_;
};

static_assert(tpoverlap::communicator<communicator>);
static_assert(has_all_gather<communicator> && has_reduce_scatter<communicator> &&
              has_all_reduce<communicator>);
static_assert(has_host_all_gather<communicator> && has_abort<communicator> && has_bounded_wait<communicator>);

}  // namespace tpoverlap::inline v0::host
