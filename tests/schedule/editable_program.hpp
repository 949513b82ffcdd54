// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A program in vectors, so that tests can break it.
#pragma once

#include <tpoverlap/schedule/program.hpp>

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace tpoverlap_test {

struct editable_program {
  tpoverlap::rank_group group;
  int chunks = 1;
  int lanes = 1;
  int events = 0;
  std::vector<int> weights{1};
  std::vector<tpoverlap::buffer> buffers;
  std::vector<tpoverlap::operation> operations;
  std::vector<tpoverlap::tile_access> accesses;
  std::vector<int> waits;

  editable_program() = default;
  explicit editable_program(tpoverlap::program_view const& p)
      : group{p.group},
        chunks{p.chunks},
        lanes{p.lanes},
        events{p.events},
        weights(p.weights, p.weights + p.chunks),
        buffers(p.buffers, p.buffers + p.buffer_count),
        operations(p.operations, p.operations + p.operation_count),
        accesses(p.accesses, p.accesses + p.access_count),
        waits(p.waits, p.waits + p.wait_count) {}

  [[nodiscard]] tpoverlap::program_view view() const {
    return {group,
            chunks,
            lanes,
            events,
            weights.data(),
            buffers.data(),
            operations.data(),
            accesses.data(),
            waits.data(),
            static_cast<int>(buffers.size()),
            static_cast<int>(operations.size()),
            static_cast<int>(accesses.size()),
            static_cast<int>(waits.size())};
  }

  [[nodiscard]] int count() const { return static_cast<int>(operations.size()); }
  [[nodiscard]] tpoverlap::operation& op(int i) { return operations[static_cast<std::size_t>(i)]; }
  [[nodiscard]] tpoverlap::operation const& op(int i) const {
    return operations[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] tpoverlap::tile_access& use(int a) { return accesses[static_cast<std::size_t>(a)]; }

  /// Appends an operation that waits for `awaited` (positions), each of which gets an event if it has none.
  int add(tpoverlap::operation_kind kind, int lane, std::initializer_list<tpoverlap::tile_access> uses,
          std::initializer_list<int> awaited = {}) {
    tpoverlap::operation added{kind, lane};
    added.first_access = static_cast<int>(accesses.size());
    added.accesses = static_cast<int>(uses.size());
    added.first_wait = static_cast<int>(waits.size());
    added.waits = static_cast<int>(awaited.size());
    accesses.insert(accesses.end(), uses);
    waits.insert(waits.end(), awaited);
    for (int w : awaited) {
      if (op(w).event < 0) op(w).event = events++;
    }
    if (lane >= lanes) lanes = lane + 1;
    operations.push_back(added);
    return count() - 1;
  }
};

}  // namespace tpoverlap_test
