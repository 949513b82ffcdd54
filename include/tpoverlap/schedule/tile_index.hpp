// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Numbers the tiles of a program, so that passes can keep what they know of each tile in a flat array.
#pragma once

#include <tpoverlap/schedule/program.hpp>
#include <tpoverlap/schedule/scratch.hpp>

namespace tpoverlap::inline v0 {

/// Tile (buffer, slot, chunk) has the number `first(buffer) + slot * chunks + chunk`.
class tile_index {
 public:
  constexpr explicit tile_index(program_view const& program)
      : first_(program.buffer_count + 1), program_{program} {
    for (int b = 0; b < program.buffer_count; ++b) {
      first_[b + 1] = first_[b] + program.buffers[b].slots * program.chunks_in(b);
    }
  }

  [[nodiscard]] constexpr int size() const { return first_[program_.buffer_count]; }

  [[nodiscard]] constexpr int operator()(int buffer, int slot, int chunk) const {
    return first_[buffer] + slot * program_.chunks_in(buffer) + chunk;
  }

  /// Whether a range names tiles that exist.
  [[nodiscard]] constexpr bool contains(tile_range const& range) const {
    return range.buffer >= 0 && range.buffer < program_.buffer_count && range.slot >= 0 && range.slots >= 1 &&
           range.slot + range.slots <= program_.buffers[range.buffer].slots && range.chunk >= 0 &&
           range.chunks >= 1 && range.chunk + range.chunks <= program_.chunks_in(range.buffer) &&
           range.shard >= 0 && range.shard < program_.group.ranks;
  }

 private:
  scratch<int> first_;
  program_view program_;
};

}  // namespace tpoverlap::inline v0
