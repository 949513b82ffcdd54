// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Programs of `independent_side_work`: a collective in a lane of its own, and a GEMM that has nothing to do with it.
#pragma once

#include <tpoverlap/policy/strategy.hpp>
#include <tpoverlap/schedule/program_builder.hpp>

namespace tpoverlap::inline v0 {

/// Buffers of every side work, by number.
namespace side_buffer {
inline constexpr int product = 0;  ///< the GEMM's result
inline constexpr int source = 1;   ///< what the collective reads (and, for an AllReduce, changes in place)
inline constexpr int target = 2;   ///< what it writes; an AllReduce has none
}  // namespace side_buffer

namespace detail {

constexpr void emit_product(program_builder& b) {
  b.emit(operation_kind::gemm, lane::compute, {{b.all_of(side_buffer::product), access_mode::write}});
}

constexpr void add_product(program_builder& b) {
  b.add_buffer({"product", storage::caller, layout::whole, element_role::output, 1, content::nothing,
                content::own_contribution});
}

}  // namespace detail

///     compute  | g
///     side     | gather
constexpr void emit(program_builder& b, all_gather const&) {
  detail::add_product(b);
  b.add_buffer({"source", storage::caller, layout::own, element_role::input, 1, content::shard_piece,
                content::shard_piece});
  b.add_buffer({"target", storage::caller, layout::by_shard, element_role::input, b.ranks(), content::nothing,
                content::shard_piece});
  tile_range const source = b.all_of(side_buffer::source);
  tile_range const target = b.all_of(side_buffer::target);
  if (b.ranks() == 1) {
    b.copy(target, source, lane::side);
  } else {
    b.emit(operation_kind::all_gather, lane::side,
           {{source, access_mode::read}, {target, access_mode::write}});
  }
  detail::emit_product(b);
}

///     compute  | g
///     side     | reduce
constexpr void emit(program_builder& b, reduce_scatter const&) {
  detail::add_product(b);
  b.add_buffer({"source", storage::caller, layout::by_shard, element_role::input, b.ranks(),
                content::own_contribution, content::own_contribution});
  b.add_buffer(
      {"target", storage::caller, layout::own, element_role::input, 1, content::nothing, content::sum});
  tile_range const source = b.all_of(side_buffer::source);
  tile_range const target = b.all_of(side_buffer::target);
  if (b.ranks() == 1) {
    b.copy(target, source, lane::side);
  } else {
    b.emit(operation_kind::reduce_scatter, lane::side,
           {{target, access_mode::write}, {source, access_mode::read}});
  }
  detail::emit_product(b);
}

///     compute  | g
///     side     | reduce, gather
constexpr void emit(program_builder& b, all_reduce const&) {
  detail::add_product(b);
  b.add_buffer({"source", storage::caller, layout::by_shard, element_role::input, b.ranks(),
                content::own_contribution, content::sum});
  if (b.ranks() > 1) {
    b.emit(operation_kind::all_reduce, lane::side,
           {{b.all_of(side_buffer::source), access_mode::accumulate}});
  }
  detail::emit_product(b);
}

}  // namespace tpoverlap::inline v0
