// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The second pass of `verify`: happens-before on one rank, and with it races, joins and reuse.
#pragma once

#include <tpoverlap/schedule/tile_index.hpp>
#include <tpoverlap/schedule/violation.hpp>

namespace tpoverlap::inline v0::detail {

/// Which operations are known to be done when another one starts: a vector clock for each operation, made from the
/// order of its lane and from its waits. Order that exists only through another rank is not counted.
class happens_before {
 public:
  constexpr explicit happens_before(program_view const& p) : p_{p}, clock_(p.operation_count * p.lanes, -1) {
    int const lanes = p.lanes;
    scratch<int> last(lanes, -1);
    for (int i = 0; i < p.operation_count; ++i) {
      operation const& op = p.operations[i];
      if (last[op.lane] >= 0) merge(i, last[op.lane]);
      for (int w = op.first_wait; w < op.first_wait + op.waits; ++w) merge(i, p.waits[w]);
      last[op.lane] = i;
    }
  }

  /// Whether `earlier` is done before `later` starts.
  [[nodiscard]] constexpr bool operator()(int earlier, int later) const {
    return clock_[later * p_.lanes + p_.operations[earlier].lane] >= earlier;
  }

 private:
  constexpr void merge(int into, int from) {
    int* const target = clock_.data() + into * p_.lanes;
    for (int l = 0; l < p_.lanes; ++l) {
      int const known = clock_[from * p_.lanes + l];
      if (target[l] < known) target[l] = known;
    }
    int const lane_of_from = p_.operations[from].lane;
    if (target[lane_of_from] < from) target[lane_of_from] = from;
  }

  program_view p_;
  scratch<int> clock_;
};

/// Every two accesses to a tile, one of them a write, must be ordered. The last writer and, for each lane, the last
/// reader since then stand for all earlier ones, because those were checked when the later ones came.
constexpr violation check_races(program_view const& p, tile_index const& tiles,
                                happens_before const& before) {
  int const lanes = p.lanes;
  scratch<int> writer(tiles.size(), -1);
  scratch<int> reader(tiles.size() * lanes, -1);
  for (int i = 0; i < p.operation_count; ++i) {
    operation const& op = p.operations[i];
    for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
      tile_range const& r = p.accesses[a].tiles;
      bool const writes = p.accesses[a].mode != access_mode::read;
      for (int s = r.slot; s < r.slot + r.slots; ++s) {
        for (int c = r.chunk; c < r.chunk + r.chunks; ++c) {
          int const tile = tiles(r.buffer, s, c);
          int const w = writer[tile];
          if (w >= 0 && !before(w, i)) return {rule::race, 0, w, i, r.buffer, s, c};
          int* const readers = reader.data() + tile * lanes;
          if (writes) {
            for (int l = 0; l < lanes; ++l) {
              if (readers[l] >= 0 && !before(readers[l], i))
                return {rule::race, 0, readers[l], i, r.buffer, s, c};
              readers[l] = -1;
            }
            writer[tile] = i;
          } else {
            readers[op.lane] = i;
          }
        }
      }
    }
  }
  return {};
}

/// Everything lies between fork and join. Fork and join write every buffer, so two calls in a row, however far one
/// rank is ahead of another, are ordered on each rank; across ranks the calls' messages cannot mix, because each
/// exchange sends as many messages to a peer as that peer receives.
constexpr violation check_ends(program_view const& p, happens_before const& before) {
  int const join = p.operation_count - 1;
  for (int i = 1; i < join; ++i) {
    if (!before(0, i)) return {rule::reuse, 0, 0, i};
    if (!before(i, join)) return {rule::join, 0, i, join};
  }
  return {};
}

}  // namespace tpoverlap::inline v0::detail
