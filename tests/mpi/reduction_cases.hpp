// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Runs a reduction on every row count.
#pragma once

#include "operands.hpp"

#include <tpoverlap/overlap/reduction_overlap.hpp>
#include <tpoverlap/strategies/reduction_strategies.hpp>

#include <deque>
#include <type_traits>

namespace tpoverlap_test {

struct reduction_call {
  matrix<float> a, w, y;
};

template <class Policy, int P>
std::vector<float> run_reduction(any_communicator& comm) {
  constexpr reduction options = Policy::options;
  constexpr bool fused_wide =
      options.accumulate == accumulation::fused && options.reduce_in == reduction_type::float64;
  using functor = std::conditional_t<fused_wide, widening_gemm<float>, chosen_gemm<float>>;
  using object = overlap<Policy, world<P>, any_communicator, functor>;
  constexpr bool everywhere = options.result == reduction_result::all_reduce;
  constexpr std::int64_t rows = most_rows(P);
  gemm_shape const shape{.rows = rows, .inner = inner, .columns = columns, .largest_shard = rows};
  nan_bytes const workspace{object::workspace_bytes(shape)};
  object work{comm, functor{gemm_of<float>(gemm_kind::loops)}, shape, workspace.span()};

  auto const counts = row_counts(P);
  auto const seed = static_cast<std::uint64_t>(comm.rank());
  std::deque<reduction_call> calls;
  host::stream stream;
  for (std::size_t i = 0; i < counts.size(); ++i) {  // none is waited for
    auto const shards = shards_of(counts[i], rows, P);
    std::int64_t const total = shards.back().end();
    reduction_call& now = calls.emplace_back();
    now.a.resize(total, inner);
    now.w.resize(inner, columns);
    now.y.resize(everywhere ? total : shards[static_cast<std::size_t>(comm.rank())].count, columns);
    fill(now.a.view(), filling::fractions, 100 + 10 * i + seed);
    fill(now.w.view(), filling::fractions, 1000 + 10 * i + seed);
    work(stream, now.a.view(), now.w.view(), now.y.view(), {.shard_rows = counts[i]});
  }
  comm.wait(stream);

  std::vector<float> results;
  for (auto& each : calls) collect(results, each.y.view(), "y");
  return results;
}

template <auto Strategy, reduction Options, int... P>
void list_reduction(policy_cases& cases, std::integer_sequence<int, P...>) {
  using policy = consumer_before_reduction<Strategy, Options>;
  constexpr policy_facts facts = facts_of(policy{});
  (cases.push_back({"reduction, " + name_of(facts, P), P, &run_reduction<policy, P>}), ...);
}

}  // namespace tpoverlap_test
