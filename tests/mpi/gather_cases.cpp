// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "../overlap/quick_compile.hpp"

#include "operands.hpp"

#include <tpoverlap/overlap/gather_overlap.hpp>
#include <tpoverlap/strategies/gather_strategies.hpp>

#include <deque>

namespace tpoverlap_test {

namespace {

struct gather_call {
  matrix<float> x, other, y, gathered;
};

template <class Policy, int P>
std::vector<float> run_gather(any_communicator& comm) {
  using object = overlap<Policy, world<P>, any_communicator, chosen_gemm<float>>;
  constexpr gather options = Policy::options;
  constexpr bool contracts = options.dimension == gathered_dimension::contraction;
  constexpr bool right = options.operand == gathered_operand::right;
  constexpr std::int64_t rows = most_rows(P);
  gemm_shape const shape =
      contracts ? gemm_shape{.rows = 24, .inner = rows, .columns = columns, .largest_shard = rows}
                : gemm_shape{.rows = rows, .inner = inner, .columns = columns, .largest_shard = rows};
  std::int64_t const width = !contracts ? shape.inner : right ? shape.columns : shape.rows;
  std::int64_t const other_width = right ? shape.rows : shape.columns;
  nan_bytes const workspace{object::workspace_bytes(shape)};
  object work{comm, gemm_of<float>(gemm_kind::loops), shape, workspace.span()};

  auto const counts = row_counts(P);
  auto const seed = static_cast<std::uint64_t>(comm.rank());
  std::deque<gather_call> calls;
  host::stream stream;
  for (std::size_t i = 0; i < counts.size(); ++i) {  // none is waited for
    auto const shards = shards_of(counts[i], rows, P);
    row_range const own = shards[static_cast<std::size_t>(comm.rank())];
    std::int64_t const total = shards.back().end();
    gather_call& now = calls.emplace_back();
    now.x.resize(own.count, width);
    now.other.resize(contracts ? total : shape.inner, contracts ? other_width : shape.columns);
    now.y.resize(contracts ? shape.rows : total, shape.columns);
    now.gathered.resize(total, width);
    fill(now.x.view(), filling::fractions, 100 + i, own.first);
    fill(now.other.view(), filling::fractions, 1000 + 10 * i + seed);
    call_options const how{.shard_rows = counts[i]};
    if constexpr (options.keep_gathered) {
      work(stream, now.x.view(), now.other.view(), now.y.view(), now.gathered.view(), how);
    } else {
      work(stream, now.x.view(), now.other.view(), now.y.view(), how);
    }
  }
  comm.wait(stream);

  std::vector<float> results;
  for (auto& each : calls) {
    // With nothing to contract there may be no GEMM that writes y.
    if (each.other.view().rows > 0) collect(results, each.y.view(), "y");
    if constexpr (options.keep_gathered) collect(results, each.gathered.view(), "gathered");
  }
  return results;
}

template <auto Strategy, gather Options, int... P>
void list(policy_cases& cases, std::integer_sequence<int, P...>) {
  using policy = producer_before_consumer<Strategy, Options>;
  constexpr policy_facts facts = facts_of(policy{});
  (cases.push_back({"gather, " + name_of(facts, P), P, &run_gather<policy, P>}), ...);
}

}  // namespace

policy_cases gather_cases() {
  constexpr gather kept{.keep_gathered = true};
  constexpr gather contraction{.dimension = gathered_dimension::contraction};
  constexpr gather of_right{.dimension = gathered_dimension::contraction, .operand = gathered_operand::right};
  policy_cases cases;
  list<blocking{}, gather{}>(cases, all_worlds{});
  list<ring{}, gather{}>(cases, all_worlds{});
  list<ring{.chunks = 3, .way = direction::backward}, gather{}>(cases, all_worlds{});
  list<ring{.chunks = 2, .way = direction::both}, gather{}>(cases, all_worlds{});
  list<ring{.chunks = 2, .depth = 2}, gather{}>(cases, all_worlds{});
  list<direct{.chunks = 2}, gather{}>(cases, all_worlds{});
  list<direct{.chunks = 1, .depth = 2}, gather{}>(cases, all_worlds{});
  list<pipeline{.chunks = 3}, gather{}>(cases, all_worlds{});
  list<ring{.chunks = 2}, kept>(cases, all_worlds{});
  list<pipeline{.chunks = 2}, contraction>(cases, all_worlds{});
  list<ring{.chunks = 2}, of_right>(cases, all_worlds{});
  return cases;
}

}  // namespace tpoverlap_test
