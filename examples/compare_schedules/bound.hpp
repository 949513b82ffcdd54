// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What no schedule can beat: the longer of computing and communicating, and what cannot lie beside the other.
#pragma once

#include <tpoverlap/host.hpp>
#include <tpoverlap/overlap.hpp>

#include <algorithm>
#include <cstddef>

namespace compare {

/// Seconds that a schedule's messages take on an emulated link if nothing ever holds them up: their bytes over the
/// bandwidth, and a latency for each exchange or collective, since a lane works on one at a time. `bytes` is the size
/// of the matrix that travels, all shards together.
[[nodiscard]] inline double link_seconds(tpoverlap::program_view const& program, double bytes,
                                         tpoverlap::host::link_model const& link) {
  using tpoverlap::access_mode;
  using tpoverlap::operation_kind;
  double const tile = bytes / (program.group.ranks * program.chunks);
  double seconds = 0;
  for (int i = 0; i < program.operation_count; ++i) {
    tpoverlap::operation const& op = program.operations[i];
    int tiles = 0;
    int turns = 1;
    if (op.kind == operation_kind::exchange) {
      for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
        if (program.accesses[a].mode == access_mode::write) tiles += program.accesses[a].tiles.chunks;
      }
    } else if (tpoverlap::is_collective(op.kind)) {
      turns = op.kind == operation_kind::all_reduce ? 2 : 1;
      tiles = turns * (program.group.ranks - 1) * program.accesses[op.first_access].tiles.chunks;
    } else {
      continue;
    }
    seconds += link.seconds_on_wire(1) * tile * tiles + turns * link.latency_seconds;
  }
  return seconds;
}

/// What cannot be hidden by construction, for a matrix cut into `ranks * chunks` tiles: after the last message of a
/// gather its tile is still to be multiplied, and before the first message of a reduction its tile has to be. Both is
/// one tile's GEMM. Where computing takes longer than the link, a gather or reduction may instead end with one
/// message exposed; the smaller of the two is taken, so that the bound is never too easy. Side work has no fill.
[[nodiscard]] inline double fill_seconds(double compute, double link, int ranks, int chunks) {
  if (ranks == 1) return 0;
  return (std::min)(compute / (ranks * chunks), link / ((ranks - 1) * chunks));
}

}  // namespace compare
