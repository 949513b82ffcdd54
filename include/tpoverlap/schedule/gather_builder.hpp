// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The words a `producer_before_consumer` strategy is written in.
#pragma once

#include <tpoverlap/policy/dependency.hpp>
#include <tpoverlap/schedule/program_builder.hpp>

namespace tpoverlap::inline v0 {

/// Buffers of every gather, by number. A strategy may add more.
namespace gather_buffer {
inline constexpr int input = 0;     ///< the rank's own shard, in the caller's memory
inline constexpr int gathered = 1;  ///< shards of other ranks (of all ranks where a collective is used)
inline constexpr int output = 2;    ///< the functor's result
}  // namespace gather_buffer

/// Emits the operations of a gather that feeds a GEMM. Shards are named by the step from the running rank to their
/// owner: 0 is the own shard.
class gather_builder {
 public:
  /// `depth` landing slots, or 0 for a place for every shard.
  constexpr gather_builder(rank_group group, int chunks, gather options, int depth, chunk_ratio ratio = {})
      : program_{group, chunks, ratio}, options_{options}, depth_{depth} {
    bool const contraction = options.dimension == gathered_dimension::contraction;
    bool const keep = options.keep_gathered;
    int const ranks = group.ranks;
    program_.add_buffer({"input", storage::caller, layout::own, element_role::input, 1, content::shard_piece,
                         content::shard_piece});
    program_.add_buffer({"gathered", keep ? storage::caller : storage::workspace,
                         depth > 0 ? layout::by_slot : layout::by_shard, element_role::input,
                         depth > 0 ? depth : ranks, content::nothing,
                         keep ? content::shard_piece : content::nothing});
    program_.add_buffer({"output", storage::caller, contraction ? layout::whole : layout::by_shard,
                         element_role::output, contraction ? 1 : ranks, content::nothing,
                         contraction ? content::everything : content::shard_piece});
  }

  [[nodiscard]] constexpr program_builder& program() { return program_; }
  [[nodiscard]] constexpr gather const& options() const { return options_; }
  [[nodiscard]] constexpr int ranks() const { return program_.ranks(); }
  [[nodiscard]] constexpr int chunks() const { return program_.chunks(); }

  /// The step that undoes `step`: data that comes from `back(s)` is sent by `s`.
  [[nodiscard]] constexpr int back(int step) const { return program_.group().inverse(step); }

  /// Chunk `chunk` of the own shard.
  [[nodiscard]] constexpr tile_range own(int chunk) const {
    return {gather_buffer::input, 0, 1, 0, chunk, 1};
  }

  /// The whole own shard.
  [[nodiscard]] constexpr tile_range own() const { return {gather_buffer::input, 0, 1, 0, 0, chunks()}; }

  /// Where chunk `chunk` of shard `shard` lands; `arrival` counts the shards that came before it, 0, 1, ...
  [[nodiscard]] constexpr tile_range landed(int arrival, int shard, int chunk) const {
    return {gather_buffer::gathered, depth_ > 0 ? arrival % depth_ : shard, 1, shard, chunk, 1};
  }

  /// Chunks `chunk` to `chunk + count` of every gathered shard from step `first` on.
  [[nodiscard]] constexpr tile_range gathered(int first, int chunk, int count) const {
    return {gather_buffer::gathered, first, ranks() - first, first, chunk, count};
  }

  constexpr void exchange(message_group const& messages) { program_.exchange(messages); }

  /// The collective on chunks `chunk` to `chunk + count` of every shard. Part of the chunks are gathered side by side,
  /// as collectives deliver them, unless the caller keeps the gathered matrix in row order.
  constexpr void all_gather(int chunk, int count) {
    if (count < chunks() && !options_.keep_gathered)
      program_.arrange(gather_buffer::gathered, layout::by_chunk);
    program_.emit(operation_kind::all_gather, lane::communication,
                  {{{gather_buffer::input, 0, 1, 0, chunk, count}, access_mode::read},
                   {gathered(0, chunk, count), access_mode::write}});
  }

  /// The functor on `tiles`: writes the same tiles of the output, or adds to the one output of a contraction.
  constexpr void consume(tile_range tiles) {
    tile_range result{gather_buffer::output, tiles.shard, tiles.slots,
                      tiles.shard,           tiles.chunk, tiles.chunks};
    access_mode mode = access_mode::write;
    if (options_.dimension == gathered_dimension::contraction) {
      result = {gather_buffer::output, 0, 1, 0, 0, 1};
      mode = consumed_ ? access_mode::accumulate : access_mode::write;
    }
    program_.emit(operation_kind::gemm, lane::compute, {{tiles, access_mode::read}, {result, mode}});
    consumed_ = true;
  }

  /// Puts the own shard beside the gathered ones, for who keeps them. Collectives do so by themselves.
  constexpr void keep_own() {
    if (!options_.keep_gathered) return;
    program_.copy({gather_buffer::gathered, 0, 1, 0, 0, chunks()}, own());
  }

 private:
  program_builder program_;
  gather options_;
  int depth_;
  bool consumed_ = false;
};

}  // namespace tpoverlap::inline v0
