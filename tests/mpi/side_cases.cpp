// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "../overlap/quick_compile.hpp"

#include "operands.hpp"

#include <tpoverlap/overlap/side_overlap.hpp>
#include <tpoverlap/strategies/side_strategies.hpp>

#include <deque>
#include <type_traits>

namespace tpoverlap_test {

namespace {

struct side_call {
  matrix<float> source, target, a, b, c;
};

// The calls are joined in turn by the call itself and by a token, which is joined behind work of the caller's.
template <class Policy, int P>
std::vector<float> run_side(any_communicator& comm) {
  using object = overlap<Policy, world<P>, any_communicator, chosen_gemm<float>>;
  constexpr auto strategy = Policy::strategy;
  constexpr bool gathers = std::is_same_v<decltype(strategy), all_gather const>;
  constexpr bool in_place = object::in_place;
  constexpr std::int64_t rows = most_rows(P);
  collective_shape const shape{.rows = rows, .columns = columns, .largest_shard = rows};
  object work{comm, gemm_of<float>(gemm_kind::loops), shape};

  auto const counts = row_counts(P);
  auto const seed = static_cast<std::uint64_t>(comm.rank());
  std::deque<side_call> calls;
  host::stream stream;
  for (std::size_t i = 0; i < 2 * counts.size(); ++i) {
    auto const& shard_rows = counts[i / 2];
    auto const shards = shards_of(shard_rows, rows, P);
    row_range const own = shards[static_cast<std::size_t>(comm.rank())];
    std::int64_t const total = shards.back().end();
    side_call& now = calls.emplace_back();
    now.source.resize(gathers ? own.count : total, columns);
    now.target.resize(gathers ? total : own.count, columns);
    now.a.resize(9, 5);
    now.b.resize(5, 7);
    now.c.resize(9, 7);
    fill(now.source.view(), filling::fractions, 100 + 10 * i + seed);
    fill(now.a.view(), filling::fractions, 1000 + i);
    fill(now.b.view(), filling::fractions, 2000 + i);
    call_options const how{.shard_rows = shard_rows};
    auto const with = [&](auto&& call) {
      if constexpr (in_place) {
        return call(now.source.view(), now.a.view(), now.b.view(), now.c.view(), how);
      } else {
        return call(now.source.view(), now.target.view(), now.a.view(), now.b.view(), now.c.view(), how);
      }
    };
    if (i % 2 == 0) {
      with([&](auto const&... operands) { work(stream, operands...); });
    } else {
      auto token = with([&](auto const&... operands) { return work.start(stream, operands...); });
      stream.enqueue([] {});
      token.join(stream);
    }
  }
  comm.wait(stream);

  std::vector<float> results;
  for (auto& each : calls) {
    collect(results, in_place ? each.source.view() : each.target.view(), "the collective's result");
    collect(results, each.c.view(), "c");
  }
  return results;
}

template <class Policy, int... P>
void list(policy_cases& cases, char const* name, std::integer_sequence<int, P...>) {
  (cases.push_back({"side work, " + (name + (", " + std::to_string(P) + " ranks")), P, &run_side<Policy, P>}),
   ...);
}

}  // namespace

policy_cases side_cases() {
  policy_cases cases;
  list<independent_side_work<all_gather{}>>(cases, "all_gather", all_worlds{});
  list<independent_side_work<reduce_scatter{}>>(cases, "reduce_scatter", all_worlds{});
  list<independent_side_work<all_reduce{}>>(cases, "all_reduce", all_worlds{});
  return cases;
}

}  // namespace tpoverlap_test
