// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Derives which operation has to wait for which from what they read and write.
#pragma once

#include <tpoverlap/schedule/program_builder.hpp>
#include <tpoverlap/schedule/tile_index.hpp>

namespace tpoverlap::inline v0 {

namespace detail {

/// The latest operation of each lane that touched a tile, as reader and as writer; -1 for none.
class tile_users {
 public:
  constexpr tile_users(int tiles, int lanes)
      : lanes_{lanes}, writer_(tiles, -1), readers_(tiles * lanes, -1) {}

  /// Raises `needed[lane]` to the latest operation of that lane that an access to `tile` conflicts with.
  constexpr void conflicts(int tile, bool writes, operation const* operations, int* needed) const {
    int const writer = writer_[tile];
    if (writer >= 0 && needed[operations[writer].lane] < writer) needed[operations[writer].lane] = writer;
    if (!writes) return;
    for (int l = 0; l < lanes_; ++l) {
      int const reader = readers_[tile * lanes_ + l];
      if (needed[l] < reader) needed[l] = reader;
    }
  }

  constexpr void note(int tile, bool writes, int index, int in_lane) {
    if (writes) {
      writer_[tile] = index;
      for (int l = 0; l < lanes_; ++l) readers_[tile * lanes_ + l] = -1;
    } else {
      readers_[tile * lanes_ + in_lane] = index;
    }
  }

 private:
  int lanes_;
  scratch<int> writer_;
  scratch<int> readers_;
};

}  // namespace detail

/// Gives every operation the waits it needs and no more.
///
/// An operation must run after the last writer of each tile it touches, and after the readers since then if it
/// writes. Order within a lane is free; across lanes it takes an event. Candidates are taken from the latest to the
/// earliest and dropped when what is already awaited implies them (vector clocks), which leaves the transitive
/// reduction. O(operations × lanes + accesses × tiles each).
constexpr void synchronize(program_builder& program) {
  program_view const p = program.view();
  int const lanes = p.lanes;
  int const count = p.operation_count;
  tile_index const tiles{p};
  detail::tile_users users{tiles.size(), lanes};

  scratch<int> clock(count * lanes,
                     -1);          // clock[i][l]: latest operation of lane l known to be done when i is
  scratch<int> latest(lanes, -1);  // latest operation issued to each lane
  scratch<int> needed(lanes, -1);
  scratch<int> first_wait(count), wait_count(count), event(count, -1);
  growing_list<int> waits;

  for (int i = 0; i < count; ++i) {
    operation const& op = p.operations[i];
    for (int l = 0; l < lanes; ++l) needed[l] = -1;
    for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
      tile_range const& r = p.accesses[a].tiles;
      if (!tiles.contains(r)) continue;  // `verify` says so
      bool const writes = p.accesses[a].mode != access_mode::read;
      for (int s = r.slot; s < r.slot + r.slots; ++s) {
        for (int c = r.chunk; c < r.chunk + r.chunks; ++c) {
          users.conflicts(tiles(r.buffer, s, c), writes, p.operations, needed.data());
        }
      }
    }
    if (op.kind != operation_kind::fork && needed[lane::compute] < 0) needed[lane::compute] = 0;

    int* const now = clock.data() + i * lanes;
    if (latest[op.lane] >= 0) {
      for (int l = 0; l < lanes; ++l) now[l] = clock[latest[op.lane] * lanes + l];
    }
    first_wait[i] = waits.size();
    while (true) {
      int best = -1;
      for (int l = 0; l < lanes; ++l) {
        if (l != op.lane && needed[l] > now[l] && needed[l] > best) best = needed[l];
      }
      if (best < 0) break;
      waits.push(best);
      for (int l = 0; l < lanes; ++l) {
        if (now[l] < clock[best * lanes + l]) now[l] = clock[best * lanes + l];
      }
    }
    wait_count[i] = waits.size() - first_wait[i];
    now[op.lane] = i;
    latest[op.lane] = i;

    for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
      tile_range const& r = p.accesses[a].tiles;
      if (!tiles.contains(r)) continue;
      for (int s = r.slot; s < r.slot + r.slots; ++s) {
        for (int c = r.chunk; c < r.chunk + r.chunks; ++c) {
          users.note(tiles(r.buffer, s, c), p.accesses[a].mode != access_mode::read, i, op.lane);
        }
      }
    }
  }

  int events = 0;
  for (int w = 0; w < waits.size(); ++w) event[waits[w]] = 0;
  for (int i = 0; i < count; ++i) {
    if (event[i] == 0) event[i] = events++;
  }
  program.set_synchronization(waits, first_wait.data(), wait_count.data(), event.data(), events);
}

}  // namespace tpoverlap::inline v0
