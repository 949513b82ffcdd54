// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The first pass of `verify`: every operation names things that exist and fits its kind.
#pragma once

#include <tpoverlap/schedule/tile_index.hpp>
#include <tpoverlap/schedule/violation.hpp>

#include <cstdint>
#include <type_traits>

namespace tpoverlap::inline v0::detail {

/// Reads and writes that an operation kind may have. `many` means one or more.
constexpr bool fits_kind(operation_kind kind, int reads, int writes, int accumulates) {
  int const changes = writes + accumulates;
  switch (kind) {
    case operation_kind::fork:
    case operation_kind::join: return reads == 0 && accumulates == 0;
    case operation_kind::gemm: return reads <= 1 && changes == 1;
    case operation_kind::exchange: return accumulates == 0 && reads + writes > 0;
    case operation_kind::reduce: return changes == 1 && reads + accumulates == 2;
    case operation_kind::copy: return reads == 1 && writes == 1 && accumulates == 0;
    case operation_kind::all_gather:
    case operation_kind::reduce_scatter: return reads == 1 && writes == 1 && accumulates == 0;
    case operation_kind::all_reduce: return reads == 0 && writes == 0 && accumulates == 1;
  }
  return false;
}

constexpr bool holds_all_shards(program_view const& p, tile_range const& r) {
  layout const arrangement = p.buffers[r.buffer].arrangement;
  return (arrangement == layout::by_shard || arrangement == layout::by_chunk) && r.slot == 0 &&
         r.slots == p.group.ranks;
}

/// Whether a range names its shard the way its buffer's layout demands.
constexpr bool fits_layout(program_view const& p, tile_range const& r) {
  switch (p.buffers[r.buffer].arrangement) {
    case layout::own:
    case layout::whole: return r.slot == 0 && r.slots == 1 && r.shard == 0;
    case layout::by_shard:
    case layout::by_chunk: return r.shard == r.slot;
    case layout::by_slot: return r.slots == 1;
  }
  return false;
}

/// Whether a buffer has the slots that its layout speaks of.
constexpr bool fits_world(buffer const& b, int ranks) {
  switch (b.arrangement) {
    case layout::own:
    case layout::whole: return b.slots == 1;
    case layout::by_shard:
    case layout::by_chunk: return b.slots == ranks;
    case layout::by_slot: return b.slots >= 1 && b.before == content::nothing && b.after == content::nothing;
  }
  return false;
}

/// Whether a range lies in one piece, slot by slot, where its operation takes a slot at once.
constexpr bool fits_memory(program_view const& p, operation_kind kind, tile_range const& r) {
  if (kind == operation_kind::fork || kind == operation_kind::join || kind == operation_kind::gemm ||
      kind == operation_kind::copy) {
    return true;
  }
  layout const arrangement = p.buffers[r.buffer].arrangement;
  bool const apart = arrangement == layout::by_chunk || arrangement == layout::by_slot;
  return (r.chunks == 1 || !apart) && (r.slots == 1 || kind != operation_kind::reduce);
}

constexpr bool same_shape(tile_range const& a, tile_range const& b) {
  return a.slots == b.slots && a.chunk == b.chunk && a.chunks == b.chunks;
}

/// A collective moves elements as they are; copies and sums convert between the types of results, but what is gathered
/// becomes a result in a GEMM only.
constexpr bool fits_elements(program_view const& p, operation const& op) {
  bool const multiplies = op.kind == operation_kind::gemm;
  element_role target = element_role::input;
  for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
    if (p.accesses[a].mode != access_mode::read) target = p.buffers[p.accesses[a].tiles.buffer].element;
  }
  if (multiplies && target == element_role::input) return false;
  for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
    if (p.accesses[a].mode != access_mode::read) continue;
    element_role const source = p.buffers[p.accesses[a].tiles.buffer].element;
    if (is_collective(op.kind) && source != target) return false;
    bool const gathered = source == element_role::input;
    if (gathered != (multiplies || target == element_role::input)) return false;
  }
  return true;
}

/// Ranges that an operation combines must be of one shape; those of collectives span the world on one side.
constexpr bool fits_operands(program_view const& p, operation const& op) {
  if (op.kind == operation_kind::fork || op.kind == operation_kind::join ||
      op.kind == operation_kind::exchange) {
    return true;
  }
  tile_access const* const uses = p.accesses + op.first_access;
  if (!fits_elements(p, op)) return false;
  if (op.kind == operation_kind::all_reduce) return holds_all_shards(p, uses[0].tiles);
  for (int a = 1; a < op.accesses; ++a) {
    tile_range const& first = uses[0].tiles;
    tile_range const& other = uses[a].tiles;
    if (is_collective(op.kind)) {
      bool const gathers = op.kind == operation_kind::all_gather;
      tile_range const& wide = (uses[0].mode == access_mode::read) != gathers ? first : other;
      tile_range const& narrow = (uses[0].mode == access_mode::read) != gathers ? other : first;
      if (!holds_all_shards(p, wide) || narrow.slots != 1 || narrow.shard != 0 ||
          narrow.chunk != wide.chunk || narrow.chunks != wide.chunks) {
        return false;
      }
      continue;
    }
    bool const into_whole = p.buffers[first.buffer].arrangement == layout::whole ||
                            p.buffers[other.buffer].arrangement == layout::whole;
    if (op.kind == operation_kind::gemm && into_whole) continue;
    if (!same_shape(first, other)) return false;
  }
  return true;
}

/// Whether every chunk has a size, and all together one that rows can be divided by.
constexpr bool fits_weights(program_view const& p) {
  // While compiling a null pointer is an error anyway, and g++ with -fsanitize=undefined refuses the comparison.
  if (!std::is_constant_evaluated() && p.weights == nullptr) return false;
  std::int64_t all = 0;
  for (int c = 0; c < p.chunks; ++c) {
    if (p.weights[c] < 1) return false;
    all += p.weights[c];
  }
  return all <= 0x7fffffff;
}

constexpr violation check_structure(program_view const& p, tile_index const& tiles) {
  auto const broken = [](rule r, int at, int other = -1) { return violation{r, 0, at, other}; };
  int const count = p.operation_count;
  if (!p.group.valid() || p.chunks < 1 || p.lanes < 1 || count < 2 || !fits_weights(p))
    return broken(rule::structure, -1);
  if (p.operations[0].kind != operation_kind::fork || p.operations[0].lane != 0)
    return broken(rule::structure, 0);
  if (p.operations[count - 1].kind != operation_kind::join || p.operations[count - 1].lane != 0) {
    return broken(rule::structure, count - 1);
  }
  for (int b = 0; b < p.buffer_count; ++b) {
    if (!fits_world(p.buffers[b], p.group.ranks)) return {rule::structure, 0, -1, -1, b};
  }
  scratch<int> recorder(p.events, -1);
  for (int i = 0; i < count; ++i) {
    operation const& op = p.operations[i];
    bool const inner = i > 0 && i < count - 1;
    if (inner && (op.kind == operation_kind::fork || op.kind == operation_kind::join)) {
      return broken(rule::structure, i);
    }
    if (op.lane < 0 || op.lane >= p.lanes || op.first_access < 0 || op.accesses < 0 ||
        op.first_access + op.accesses > p.access_count || op.first_wait < 0 || op.waits < 0 ||
        op.first_wait + op.waits > p.wait_count || op.event >= p.events) {
      return broken(rule::structure, i);
    }
    // A wait is for an event's latest record, so that a second one would change what is waited for.
    if (op.event >= 0) {
      if (recorder[op.event] >= 0) return broken(rule::structure, i, recorder[op.event]);
      recorder[op.event] = i;
    }
    int uses[3] = {0, 0, 0};
    for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
      tile_access const& use = p.accesses[a];
      ++uses[static_cast<int>(use.mode)];
      if (!tiles.contains(use.tiles)) return broken(rule::structure, i);
      if (inner && (!fits_layout(p, use.tiles) || !fits_memory(p, op.kind, use.tiles)))
        return broken(rule::structure, i);
      bool const has_peer = use.peer > 0 && use.peer < p.group.ranks;
      if (op.kind == operation_kind::exchange ? !has_peer || use.tiles.slots != 1 : use.peer != no_peer) {
        return broken(rule::structure, i);
      }
    }
    if (!fits_kind(op.kind, uses[0], uses[1], uses[2]) || !fits_operands(p, op))
      return broken(rule::structure, i);
    for (int w = op.first_wait; w < op.first_wait + op.waits; ++w) {
      int const awaited = p.waits[w];
      if (awaited < 0 || awaited >= i || p.operations[awaited].event < 0)
        return broken(rule::progress, i, awaited);
    }
  }
  return {};
}

}  // namespace tpoverlap::inline v0::detail
