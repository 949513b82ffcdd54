// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What an overlap object is built for, and what may change from call to call.
#pragma once

#include <cstdint>
#include <span>

namespace tpoverlap::inline v0 {

/// The GEMM of all ranks together: result (rows, columns), contraction over `inner`.
///
/// The dimension that is cut into shards (`rows`, or `inner` for a gathered contraction dimension) is the largest
/// that a call may have. `largest_shard` is the largest shard that a call may have; 0 stands for an even split.
struct gemm_shape {
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  std::int64_t largest_shard = 0;

  friend constexpr bool operator==(gemm_shape const&, gemm_shape const&) = default;
};

/// The matrix that a collective moves, all ranks together.
struct collective_shape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t largest_shard = 0;

  friend constexpr bool operator==(collective_shape const&, collective_shape const&) = default;
};

/// What one call may say beyond its operands.
struct call_options {
  /// Rows of every rank's shard, in rank order; empty for the even split of the shape. All ranks pass the same.
  std::span<std::int64_t const> shard_rows{};
  /// The result of a GEMM becomes `... + beta * result`. Results that are summed over ranks take 0 only.
  float beta = 0;
};

/// Stands for a functor that is given with each call and works on tiles of type `Input` (or makes tiles of `Output`).
template <class Input, class Output = Input>
struct tiles {
  using input_type = Input;
  using output_type = Output;
};

}  // namespace tpoverlap::inline v0
