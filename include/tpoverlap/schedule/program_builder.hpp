// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Writes programs: buffers first, then operations in issue order. Nobody writes waits here; `synchronize` derives them.
#pragma once

#include <tpoverlap/policy/strategy.hpp>
#include <tpoverlap/schedule/program.hpp>
#include <tpoverlap/schedule/scratch.hpp>

#include <utility>  // std::initializer_list

namespace tpoverlap::inline v0 {

/// Sends and receives that make one exchange.
class message_group {
 public:
  /// Sends `tiles` to the rank that is `step` away.
  constexpr message_group& send(tile_range tiles, int step) {
    messages_.push({tiles, access_mode::read, step});
    return *this;
  }

  /// Receives `tiles` from the rank that is `step` away.
  constexpr message_group& receive(tile_range tiles, int step) {
    messages_.push({tiles, access_mode::write, step});
    return *this;
  }

  [[nodiscard]] constexpr tile_access const* data() const { return messages_.data(); }
  [[nodiscard]] constexpr int size() const { return messages_.size(); }

 private:
  growing_list<tile_access> messages_;
};

/// A program under construction. The dependency classes wrap it in words of their own: `gather_builder` and
/// `reduction_builder`.
class program_builder {
 public:
  constexpr program_builder(rank_group group, int chunks, chunk_ratio ratio = {})
      : group_{group}, chunks_{chunks} {
    for (int c = 0; c < chunks; ++c) weights_.push(ratio.weight(c, chunks));
    operations_.push({operation_kind::fork, lane::compute});
  }

  [[nodiscard]] constexpr rank_group group() const { return group_; }
  [[nodiscard]] constexpr int ranks() const { return group_.ranks; }
  [[nodiscard]] constexpr int chunks() const { return chunks_; }

  /// Gives a chunk another relative size than the strategy's `ratio` does.
  constexpr void weigh(int chunk, int weight) { weights_[chunk] = weight; }

  /// Adds a buffer and returns its number.
  constexpr int add_buffer(buffer description) {
    buffers_.push(description);
    return buffers_.size() - 1;
  }

  /// Makes room for `slots` slots; a buffer never shrinks.
  constexpr void grow(int buffer_index, int slots) {
    if (buffers_[buffer_index].slots < slots) buffers_[buffer_index].slots = slots;
  }

  /// Lets a buffer hold one slot for every shard, found as `arrangement` says.
  constexpr void arrange(int buffer_index, layout arrangement) {
    buffers_[buffer_index].arrangement = arrangement;
    grow(buffer_index, ranks());
  }

  constexpr void emit(operation_kind kind, int in_lane, tile_access const* uses, int count) {
    operations_.push({kind, in_lane, accesses_.size(), count});
    for (int i = 0; i < count; ++i) accesses_.push(uses[i]);
    if (in_lane >= lanes_) lanes_ = in_lane + 1;
  }

  constexpr void emit(operation_kind kind, int in_lane, std::initializer_list<tile_access> uses) {
    emit(kind, in_lane, uses.begin(), static_cast<int>(uses.size()));
  }

  constexpr void exchange(message_group const& messages, int in_lane = lane::communication) {
    if (messages.size() > 0) emit(operation_kind::exchange, in_lane, messages.data(), messages.size());
  }

  constexpr void copy(tile_range to, tile_range from, int in_lane = lane::elementwise) {
    emit(operation_kind::copy, in_lane, {{to, access_mode::write}, {from, access_mode::read}});
  }

  /// All tiles of a buffer.
  [[nodiscard]] constexpr tile_range all_of(int buffer_index) const {
    buffer const& b = buffers_[buffer_index];
    return {buffer_index, 0, b.slots, 0, 0, b.arrangement == layout::whole ? 1 : chunks_};
  }

  /// Ends the program: every buffer is the caller's before the fork and from the join on.
  constexpr void finish() {
    operations_[0].first_access = accesses_.size();
    operations_[0].accesses = buffers_.size();
    for (int i = 0; i < buffers_.size(); ++i) accesses_.push({all_of(i), access_mode::write});
    operation join{operation_kind::join, lane::compute, operations_[0].first_access, buffers_.size()};
    operations_.push(join);
  }

  /// Used by `synchronize`: replaces all waits and events.
  constexpr void set_synchronization(growing_list<int> const& waits, int const* first_wait,
                                     int const* wait_count, int const* event, int events) {
    waits_.clear();
    for (int i = 0; i < waits.size(); ++i) waits_.push(waits[i]);
    for (int i = 0; i < operations_.size(); ++i) {
      operations_[i].first_wait = first_wait[i];
      operations_[i].waits = wait_count[i];
      operations_[i].event = event[i];
    }
    events_ = events;
  }

  [[nodiscard]] constexpr program_view view() const {
    return {group_,
            chunks_,
            lanes_,
            events_,
            weights_.data(),
            buffers_.data(),
            operations_.data(),
            accesses_.data(),
            waits_.data(),
            buffers_.size(),
            operations_.size(),
            accesses_.size(),
            waits_.size()};
  }

  [[nodiscard]] constexpr program_size size() const {
    return {chunks_, buffers_.size(), operations_.size(), accesses_.size(), waits_.size()};
  }

 private:
  rank_group group_;
  int chunks_;
  int lanes_ = 1;
  int events_ = 0;
  growing_list<int> weights_;
  growing_list<buffer> buffers_;
  growing_list<operation> operations_;
  growing_list<tile_access> accesses_;
  growing_list<int> waits_;
};

}  // namespace tpoverlap::inline v0
