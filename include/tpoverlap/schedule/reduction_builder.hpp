// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The words a `consumer_before_reduction` strategy is written in.
#pragma once

#include <tpoverlap/policy/dependency.hpp>
#include <tpoverlap/schedule/program_builder.hpp>

namespace tpoverlap::inline v0 {

/// Buffers of every reduction, by number. A strategy may add more. Those that it does not touch take no memory.
namespace reduction_buffer {
inline constexpr int output = 0;   ///< the sum: the own shard, or every shard of an AllReduce
inline constexpr int partial = 1;  ///< what the functor produced, in the output's type
inline constexpr int landing = 2;  ///< other ranks' partials
inline constexpr int bucket = 3;   ///< sums on their way, in the type of the reduction
inline constexpr int sum = 4;      ///< the own shard's sum while it is in the type of the reduction
}  // namespace reduction_buffer

/// Emits the operations of a GEMM whose partial results are summed over ranks. Shards are named by the step from the
/// running rank to the rank that owns the sum: 0 is the own shard. Buffers grow to the slots that are named.
class reduction_builder {
 public:
  constexpr reduction_builder(rank_group group, int chunks, reduction options, chunk_ratio ratio = {})
      : program_{group, chunks, ratio}, options_{options} {
    bool const everywhere = sums_everywhere();
    element_role const sums = widens() ? element_role::reduction : element_role::output;
    program_.add_buffer({"output", storage::caller, everywhere ? layout::by_shard : layout::own,
                         element_role::output, everywhere ? group.ranks : 1, content::nothing, content::sum});
    program_.add_buffer({"partial", storage::workspace, layout::by_slot, element_role::output});
    program_.add_buffer({"landing", storage::workspace, layout::by_slot, element_role::output});
    program_.add_buffer({"bucket", storage::workspace, layout::by_slot, sums});
    program_.add_buffer({"sum", storage::workspace, layout::own, sums});
  }

  [[nodiscard]] constexpr program_builder& program() { return program_; }
  [[nodiscard]] constexpr reduction const& options() const { return options_; }
  [[nodiscard]] constexpr int ranks() const { return program_.ranks(); }
  [[nodiscard]] constexpr int chunks() const { return program_.chunks(); }

  /// Whether sums are kept in another type than the output's.
  [[nodiscard]] constexpr bool widens() const { return options_.reduce_in != reduction_type::as_output; }
  [[nodiscard]] constexpr bool sums_everywhere() const {
    return options_.result == reduction_result::all_reduce;
  }

  /// The step that undoes `step`: what is sent by `s` arrives from `back(s)`.
  [[nodiscard]] constexpr int back(int step) const { return program_.group().inverse(step); }

  [[nodiscard]] constexpr tile_range output(int shard, int chunk) const {
    return {reduction_buffer::output, shard, 1, shard, chunk, 1};
  }
  [[nodiscard]] constexpr tile_range sum(int chunk) const {
    return {reduction_buffer::sum, 0, 1, 0, chunk, 1};
  }
  [[nodiscard]] constexpr tile_range partial(int slot, int shard, int chunk) {
    return tile(reduction_buffer::partial, slot, shard, chunk);
  }
  [[nodiscard]] constexpr tile_range landing(int slot, int shard, int chunk) {
    return tile(reduction_buffer::landing, slot, shard, chunk);
  }
  [[nodiscard]] constexpr tile_range bucket(int slot, int shard, int chunk) {
    return tile(reduction_buffer::bucket, slot, shard, chunk);
  }

  /// Chunks `chunk` to `chunk + count` of every shard, as a collective takes them, in `partial`, `bucket` or `output`.
  [[nodiscard]] constexpr tile_range all_shards(int buffer_index, int chunk, int count) {
    if (buffer_index != reduction_buffer::output) {
      program_.arrange(buffer_index, count < chunks() ? layout::by_chunk : layout::by_shard);
    }
    return {buffer_index, 0, ranks(), 0, chunk, count};
  }

  /// Chunks `chunk` to `chunk + count` of the own shard, in `output` or `sum`.
  [[nodiscard]] constexpr tile_range own_shard(int buffer_index, int chunk, int count) const {
    return {buffer_index, 0, 1, 0, chunk, count};
  }

  /// The functor writes `tiles`, or adds to them.
  constexpr void produce(tile_range tiles, access_mode mode = access_mode::write) {
    program_.emit(operation_kind::gemm, lane::compute, {{tiles, mode}});
  }

  /// `to = a + b`
  constexpr void add(tile_range to, tile_range a, tile_range b) {
    program_.emit(operation_kind::reduce, lane::elementwise,
                  {{to, access_mode::write}, {a, access_mode::read}, {b, access_mode::read}});
  }

  /// `to = to + from`
  constexpr void add_into(tile_range to, tile_range from) {
    program_.emit(operation_kind::reduce, lane::elementwise,
                  {{to, access_mode::accumulate}, {from, access_mode::read}});
  }

  /// `to = from`, converted.
  constexpr void copy(tile_range to, tile_range from) { program_.copy(to, from); }

  constexpr void exchange(message_group const& messages) { program_.exchange(messages); }

  constexpr void reduce_scatter(tile_range to, tile_range from) {
    program_.emit(operation_kind::reduce_scatter, lane::communication,
                  {{to, access_mode::write}, {from, access_mode::read}});
  }

  constexpr void all_reduce(tile_range tiles) {
    program_.emit(operation_kind::all_reduce, lane::communication, {{tiles, access_mode::accumulate}});
  }

 private:
  constexpr tile_range tile(int buffer_index, int slot, int shard, int chunk) {
    program_.grow(buffer_index, slot + 1);
    return {buffer_index, slot, 1, shard, chunk, 1};
  }

  program_builder program_;
  reduction options_;
};

}  // namespace tpoverlap::inline v0
