// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What a policy is put through: objects, and the calls made on each of them one after another without waiting.
#pragma once

#include "chosen_gemm.hpp"
#include "policy_facts.hpp"

#include <tpoverlap/host/communicator_options.hpp>
#include <tpoverlap/overlap/shape.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace tpoverlap::inline v0::host {
class communicator;
}

namespace tpoverlap_test {

struct call_plan {
  std::vector<std::int64_t> shard_rows;  ///< empty for the even split
  float beta = 0;
};

struct object_plan {
  std::int64_t rows = 0;  ///< of the dimension that is cut
  std::int64_t largest_shard = 0;
  std::vector<call_plan> calls;
};

struct plan {
  filling with =
      filling::integers;  ///< fractions: compared bit for bit with the same pieces one after another
  gemm_kind gemm = usual_gemm;
  bool unusual_views =
      false;  ///< a transposed operand, gaps between the rows of results that need not be contiguous,
              ///< and operands that lie where the collective would put them
  std::vector<object_plan> objects;
  host::communicator_options options;
};

/// Even and uneven shards, with and without remainders, empty ones, all rows on one rank, none at all.
[[nodiscard]] plan every_shape(int ranks, bool with_beta);
/// Fewer calls on fractions.
[[nodiscard]] plan bitwise(int ranks, std::uint64_t straggler_seed);

/// Runs `f` on `ranks` ranks; compiled once.
void on_ranks(int ranks, host::communicator_options const& options,
              std::function<void(host::communicator&)> const& f);

}  // namespace tpoverlap_test
