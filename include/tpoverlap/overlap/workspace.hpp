// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! How much memory a schedule needs from the caller, and where its buffers lie in it.
#pragma once

#include <tpoverlap/overlap/issuer.hpp>
#include <tpoverlap/schedule/program.hpp>

#include <cstddef>
#include <cstdint>

namespace tpoverlap::inline v0::detail {

inline constexpr std::size_t workspace_alignment = 256;

/// Whether an operation other than fork and join touches a buffer.
[[nodiscard]] constexpr bool is_used(program_view const& p, int buffer_index) {
  for (int i = 1; i + 1 < p.operation_count; ++i) {
    operation const& op = p.operations[i];
    for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
      if (p.accesses[a].tiles.buffer == buffer_index) return true;
    }
  }
  return false;
}

/// Rows of the cut dimension: of all ranks together, and of the largest shard.
struct extent {
  std::int64_t rows = 0;
  std::int64_t largest_shard = 0;
};

[[nodiscard]] constexpr std::int64_t rows_of(buffer const& b, extent const& size) {
  switch (b.arrangement) {
    case layout::own: return size.largest_shard;
    case layout::by_shard:
    case layout::by_chunk: return size.rows;
    case layout::by_slot: return b.slots * size.largest_shard;
    case layout::whole: return 0;
  }
  return 0;
}

/// Lays the workspace buffers one behind the other; returns the bytes they take. `memory` gives the row sizes, and
/// receives addresses if `base` is not null.
constexpr std::size_t place_workspace(program_view const& p, extent const& size, std::byte* base,
                                      buffer_memory* memory) {
  std::size_t offset = 0;
  for (int b = 0; b < p.buffer_count; ++b) {
    if (p.buffers[b].where != storage::workspace || !is_used(p, b)) continue;
    if (base != nullptr) memory[b].data = base + offset;
    std::size_t const bytes = static_cast<std::size_t>(rows_of(p.buffers[b], size)) * memory[b].row_bytes;
    offset += (bytes + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
  }
  return offset;
}

}  // namespace tpoverlap::inline v0::detail
