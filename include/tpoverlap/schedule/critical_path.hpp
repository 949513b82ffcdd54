// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! How long the longest chain of a schedule is, counted in GEMM tiles and messages instead of seconds.
#pragma once

#include <tpoverlap/schedule/program.hpp>
#include <tpoverlap/schedule/scratch.hpp>

namespace tpoverlap::inline v0 {

/// Work along a chain: `gemm_tiles` tiles multiplied and `messages` tiles sent one after another. Additions and copies
/// count as nothing, tiles count alike, whatever their size.
struct path_length {
  int gemm_tiles = 0;
  int messages = 0;

  [[nodiscard]] constexpr int total() const { return gemm_tiles + messages; }
  friend constexpr bool operator==(path_length const&, path_length const&) = default;
};

/// The longest chain, beside all work done one after another.
struct critical_path {
  path_length longest;
  path_length serial;

  /// Units hidden behind others when a message takes as long as a GEMM tile.
  [[nodiscard]] constexpr int hidden() const { return serial.total() - longest.total(); }

  /// Whether nothing is hidden although there is something to hide: blocking, or a ring whose every step waits for
  /// the one before.
  [[nodiscard]] constexpr bool hides_nothing() const { return serial.messages > 0 && hidden() == 0; }
};

namespace detail {

/// An exchange costs its largest share on one link: messages to different peers travel side by side.
constexpr int messages_on_busiest_link(program_view const& p, operation const& op) {
  int busiest = 0;
  for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
    if (p.accesses[a].mode != access_mode::read) continue;
    int load = 0;
    for (int b = op.first_access; b < op.first_access + op.accesses; ++b) {
      if (p.accesses[b].mode == access_mode::read && p.accesses[b].peer == p.accesses[a].peer) {
        load += p.accesses[b].tiles.chunks;
      }
    }
    if (load > busiest) busiest = load;
  }
  return busiest;
}

constexpr path_length cost_of(program_view const& p, operation const& op) {
  if (op.kind == operation_kind::exchange) return {0, messages_on_busiest_link(p, op)};
  tile_access const* const uses = p.accesses + op.first_access;
  if (is_collective(op.kind)) {
    int const hops = (p.group.ranks - 1) * (op.kind == operation_kind::all_reduce ? 2 : 1);
    return {0, hops * uses[0].tiles.chunks};
  }
  if (op.kind != operation_kind::gemm) return {};
  bool const uncut = op.accesses == 1 && p.buffers[uses[0].tiles.buffer].arrangement == layout::whole;
  if (uncut) return {p.group.ranks * p.chunks, 0};
  for (int a = 0; a < op.accesses; ++a) {
    tile_range const& r = uses[a].tiles;
    if (p.buffers[r.buffer].arrangement != layout::whole) return {r.slots * r.chunks, 0};
  }
  return {};
}

}  // namespace detail

/// Longest chain over lane order and waits. All ranks run the same operations, so a message's two ends come equally
/// far down their ranks' chains.
[[nodiscard]] constexpr critical_path critical_path_of(program_view const& p) {
  critical_path result;
  scratch<path_length> end(p.operation_count);
  scratch<int> last(p.lanes, -1);
  for (int i = 0; i < p.operation_count; ++i) {
    operation const& op = p.operations[i];
    path_length start;
    if (last[op.lane] >= 0) start = end[last[op.lane]];
    for (int w = op.first_wait; w < op.first_wait + op.waits; ++w) {
      path_length const& awaited = end[p.waits[w]];
      if (awaited.total() > start.total()) start = awaited;
    }
    path_length const cost = detail::cost_of(p, op);
    end[i] = {start.gemm_tiles + cost.gemm_tiles, start.messages + cost.messages};
    result.serial.gemm_tiles += cost.gemm_tiles;
    result.serial.messages += cost.messages;
    if (end[i].total() > result.longest.total()) result.longest = end[i];
    last[op.lane] = i;
  }
  return result;
}

}  // namespace tpoverlap::inline v0
