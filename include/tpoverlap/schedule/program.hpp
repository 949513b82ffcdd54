// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A list of operations as plain data: what strategies emit, `synchronize` completes, `verify` proves and backends run.
#pragma once

#include <tpoverlap/schedule/operation.hpp>
#include <tpoverlap/schedule/rank_group.hpp>

namespace tpoverlap::inline v0 {

/// A read-only look at a program, wherever its lists are kept.
struct program_view {
  rank_group group;
  int chunks = 1;
  int lanes = 1;
  int events = 0;

  int const* weights = nullptr;  ///< of each chunk of a shard, for `cut_in_proportion`
  buffer const* buffers = nullptr;
  operation const* operations = nullptr;
  tile_access const* accesses = nullptr;
  int const* waits = nullptr;  ///< positions in `operations`

  int buffer_count = 0;
  int operation_count = 0;
  int access_count = 0;
  int wait_count = 0;

  /// Tiles of one slot: every chunk, or the one tile of a buffer that is not cut.
  [[nodiscard]] constexpr int chunks_in(int buffer_index) const {
    return buffers[buffer_index].arrangement == layout::whole ? 1 : chunks;
  }
};

/// Sizes of a program's lists.
struct program_size {
  int chunks = 1;
  int buffers = 0;
  int operations = 0;
  int accesses = 0;
  int waits = 0;
};

/// A program of exactly known size, fit for a constexpr variable.
template <program_size Size>
struct static_program {
  rank_group group;
  int chunks = 1;
  int lanes = 1;
  int events = 0;
  int weights[Size.chunks > 0 ? Size.chunks : 1]{};
  buffer buffers[Size.buffers > 0 ? Size.buffers : 1]{};
  operation operations[Size.operations > 0 ? Size.operations : 1]{};
  tile_access accesses[Size.accesses > 0 ? Size.accesses : 1]{};
  int waits[Size.waits > 0 ? Size.waits : 1]{};

  constexpr static_program() = default;

  constexpr explicit static_program(program_view const& source)
      : group{source.group}, chunks{source.chunks}, lanes{source.lanes}, events{source.events} {
    for (int i = 0; i < Size.chunks; ++i) weights[i] = source.weights[i];
    for (int i = 0; i < Size.buffers; ++i) buffers[i] = source.buffers[i];
    for (int i = 0; i < Size.operations; ++i) operations[i] = source.operations[i];
    for (int i = 0; i < Size.accesses; ++i) accesses[i] = source.accesses[i];
    for (int i = 0; i < Size.waits; ++i) waits[i] = source.waits[i];
  }

  [[nodiscard]] constexpr program_view view() const {
    return {group,    chunks, lanes,        events,          weights,       buffers,   operations,
            accesses, waits,  Size.buffers, Size.operations, Size.accesses, Size.waits};
  }
};

}  // namespace tpoverlap::inline v0
