// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Two small programs with waits written by hand, to be broken in one place each.
#pragma once

#include "editable_program.hpp"

namespace tpoverlap_test {

/// A gather on two ranks, without overlap of any cleverness. Fork and join list no buffers, so that only their order counts.
///
///     0 fork | 1 exchange | 2 gemm own | 3 gemm other | 4 join
struct hand_made_gather {
  static constexpr int fork = 0, exchange = 1, own_gemm = 2, other_gemm = 3, join = 4;
  static constexpr int input = 0, gathered = 1, output = 2;

  static tpoverlap::tile_range own() { return {input, 0, 1, 0, 0, 1}; }
  static tpoverlap::tile_range other() { return {gathered, 1, 1, 1, 0, 1}; }
  static tpoverlap::tile_range result(int shard) { return {output, shard, 1, shard, 0, 1}; }

  static editable_program make() {
    using namespace tpoverlap;
    editable_program p;
    p.group = {2};
    p.buffers = {{"input", storage::caller, layout::own, element_role::input, 1, content::shard_piece},
                 {"gathered", storage::workspace, layout::by_shard, element_role::input, 2},
                 {"output", storage::caller, layout::by_shard, element_role::output, 2, content::nothing,
                  content::shard_piece}};
    p.add(operation_kind::fork, 0, {});
    p.add(operation_kind::exchange, 1, {{own(), access_mode::read, 1}, {other(), access_mode::write, 1}},
          {fork});
    p.add(operation_kind::gemm, 0, {{own(), access_mode::read}, {result(0), access_mode::write}});
    p.add(operation_kind::gemm, 0, {{other(), access_mode::read}, {result(1), access_mode::write}},
          {exchange});
    p.add(operation_kind::join, 0, {}, {exchange});
    return p;
  }
};

/// A ReduceScatter on two ranks.
///
///     0 fork | 1 gemm theirs | 2 gemm own | 3 exchange | 4 reduce | 5 join
struct hand_made_reduction {
  static constexpr int fork = 0, their_gemm = 1, own_gemm = 2, exchange = 3, reduce = 4, join = 5;
  static constexpr int output = 0, partial = 1, landing = 2;

  static tpoverlap::tile_range own() { return {output, 0, 1, 0, 0, 1}; }
  static tpoverlap::tile_range part(int slot) { return {partial, slot, 1, slot, 0, 1}; }
  static tpoverlap::tile_range landed() { return {landing, 0, 1, 0, 0, 1}; }

  static editable_program make() {
    using namespace tpoverlap;
    editable_program p;
    p.group = {2};
    p.buffers = {
        {"output", storage::caller, layout::own, element_role::output, 1, content::nothing, content::sum},
        {"partial", storage::workspace, layout::by_slot, element_role::output, 2},
        {"landing", storage::workspace, layout::by_slot, element_role::output, 1}};
    p.add(operation_kind::fork, 0, {});
    p.add(operation_kind::gemm, 0, {{part(1), access_mode::write}});
    p.add(operation_kind::gemm, 0, {{part(0), access_mode::write}});
    p.add(operation_kind::exchange, 1, {{part(1), access_mode::read, 1}, {landed(), access_mode::write, 1}},
          {their_gemm});
    p.add(operation_kind::reduce, 2,
          {{own(), access_mode::write}, {landed(), access_mode::read}, {part(0), access_mode::read}},
          {own_gemm, exchange});
    p.add(operation_kind::join, 0, {}, {reduce});
    return p;
  }
};

}  // namespace tpoverlap_test
