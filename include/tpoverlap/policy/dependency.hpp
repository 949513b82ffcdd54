// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The three dependency classes. Each names the edge between a collective and a GEMM; its strategy says how the edge
//! is cut into tiles.
#pragma once

#include <tpoverlap/policy/strategy.hpp>

#include <cstdint>

namespace tpoverlap::inline v0 {

/// Which dimension of the GEMM the gathered shards make up: the rows of its left operand and result (forward pass,
/// data gradient), or its contraction dimension (weight gradient: every arriving tile is added to one result).
enum class gathered_dimension : std::uint8_t { rows, contraction };

/// Which operand of a contraction is gathered: `left` is used as gathered(x)ᵀ · other, `right` as otherᵀ · gathered(x).
enum class gathered_operand : std::uint8_t { left, right };

/// What a gather leaves behind. With `keep_gathered`, the gathered matrix is complete in the caller's memory at the end.
struct gather {
  gathered_dimension dimension = gathered_dimension::rows;
  bool keep_gathered = false;
  gathered_operand operand = gathered_operand::left;
  friend constexpr bool operator==(gather const&, gather const&) = default;
};

/// `fused`: the GEMM adds into the bucket that has arrived (beta = 1), so that it has to wait for it.
/// `separate`: the GEMM writes a partial while the bucket is still on the wire, and an addition joins the two.
enum class accumulation : std::uint8_t { separate, fused };

/// What the sum over ranks ends as: each rank's own shard, or every shard on every rank.
enum class reduction_result : std::uint8_t { reduce_scatter, all_reduce };

/// The type that buckets are added and sent in: the output's own, or a wider one.
enum class reduction_type : std::uint8_t { as_output, float32, float64 };

/// How partial results become a sum.
struct reduction {
  reduction_result result = reduction_result::reduce_scatter;
  accumulation accumulate = accumulation::separate;
  reduction_type reduce_in = reduction_type::as_output;
  friend constexpr bool operator==(reduction const&, reduction const&) = default;
};

/// An AllGather feeds a GEMM: `y = all_gather(x) · w`, tile by tile as shards arrive.
template <auto Strategy, gather Gather = gather{}>
struct producer_before_consumer {
  static constexpr auto strategy = Strategy;
  static constexpr gather options = Gather;
};

/// A GEMM feeds a ReduceScatter (or an AllReduce): `y = reduce_scatter(a · w)`, tile by tile as partials are ready.
template <auto Strategy, reduction Reduction = reduction{}>
struct consumer_before_reduction {
  static constexpr auto strategy = Strategy;
  static constexpr reduction options = Reduction;
};

/// A collective that a GEMM neither feeds nor needs, side by side with it.
template <auto Strategy>
struct independent_side_work {
  static constexpr auto strategy = Strategy;
};

/// The number of ranks of a tensor-parallel group, as a type.
template <int Ranks>
struct world {
  static_assert(Ranks >= 1,
                "tpoverlap[E001]: a world has at least one rank; world<0> or a negative size was asked "
                "for; write world<P> with P >= 1");
  static constexpr int size = Ranks;
};

}  // namespace tpoverlap::inline v0
