// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Strategies that are not the library's, written as a user would write them.

#include "../support/catch.hpp"
#include "brute_force_oracle.hpp"
#include "mutants.hpp"

#include <tpoverlap/schedule/schedule.hpp>
#include <tpoverlap/strategies/gather_strategies.hpp>
#include <tpoverlap/strategies/reduction_strategies.hpp>

#include <string>

// [recursive_halving begin]
namespace engine {

/// ReduceScatter in log2(P) exchanges: in each, a rank gives away half of the sums it still carries.
struct recursive_halving {
  int chunks = 1;
  constexpr tpoverlap::rank_group group(int ranks) const {
    return {ranks, tpoverlap::rank_group::kind::exclusive_or};
  }
};

constexpr void emit(tpoverlap::reduction_builder& b, recursive_halving const&) {
  if (b.ranks() == 1) return emit(b, tpoverlap::blocking{});
  // Shards are named by exclusive-or with the running rank. Those given away first are computed first.
  for (int shard = b.ranks() - 1; shard >= 0; --shard) {
    for (int c = 0; c < b.chunks(); ++c) b.produce(b.partial(shard, shard, c));
  }
  for (int half = b.ranks() / 2; half >= 1; half /= 2) {
    for (int c = 0; c < b.chunks(); ++c) {
      tpoverlap::message_group swap;
      for (int kept = 0; kept < half; ++kept) {
        int const given = kept + half;  // to the rank `half` away this is shard `kept`
        swap.send(b.partial(given, given, c), half).receive(b.landing(given, kept, c), half);
      }
      b.exchange(swap);
      for (int kept = 0; kept < half; ++kept) {
        auto const landed = b.landing(kept + half, kept, c);
        if (half == 1) {
          b.add(b.output(0, c), b.partial(0, 0, c), landed);
        } else {
          b.add_into(b.partial(kept, kept, c), landed);
        }
      }
    }
  }
}

}  // namespace engine
// [recursive_halving end]

// [two_level_ring begin]
namespace engine {

/// AllGather for nodes of `inner` ranks each: first round the ring inside a node, then all of a node's shards from node
/// to node, so that slow links carry each shard once.
struct two_level_ring {
  int inner = 2;
  int chunks = 1;
  constexpr tpoverlap::rank_group group(int ranks) const {
    return {ranks, tpoverlap::rank_group::kind::two_level, inner};
  }
};

constexpr void emit(tpoverlap::gather_builder& b, two_level_ring const& options) {
  int const inner = options.inner;
  int const outer = b.ranks() / inner;
  // The shard that has come `o` nodes and `i` ranks in a node; as a step, those lead back to its owner.
  auto const tile = [&](int o, int i, int c) {
    int const shard = b.back(o * inner + i);
    return shard == 0 ? b.own(c) : b.landed(0, shard, c);
  };
  for (int i = 0; i < inner; ++i) {
    for (int c = 0; c < b.chunks(); ++c) {
      if (i + 1 < inner) {
        b.exchange(tpoverlap::message_group{}.send(tile(0, i, c), 1).receive(tile(0, i + 1, c), b.back(1)));
      }
      b.consume(tile(0, i, c));
    }
  }
  for (int o = 1; o < outer; ++o) {
    for (int i = 0; i < inner; ++i) {
      for (int c = 0; c < b.chunks(); ++c) {
        b.exchange(
            tpoverlap::message_group{}.send(tile(o - 1, i, c), inner).receive(tile(o, i, c), b.back(inner)));
        b.consume(tile(o, i, c));
      }
    }
  }
  b.keep_own();
}

}  // namespace engine
// [two_level_ring end]

using namespace tpoverlap;
using namespace tpoverlap_test;

namespace {

using engine::recursive_halving;
using engine::two_level_ring;

static_assert(schedule<consumer_before_reduction<recursive_halving{}>, 8>::verdict.verified());
static_assert(schedule<consumer_before_reduction<recursive_halving{.chunks = 2}>, 16>::verdict.verified());
static_assert(schedule<producer_before_consumer<two_level_ring{.inner = 4}>, 16>::verdict.verified());
static_assert(schedule<producer_before_consumer<two_level_ring{}, gather{.keep_gathered = true}>, 6>::verdict
                  .verified());
static_assert(!schedule<consumer_before_reduction<recursive_halving{}>, 8>::hides_nothing);
static_assert(!schedule<producer_before_consumer<two_level_ring{.inner = 4}>, 16>::hides_nothing);

/// Accepted by both, for each world size; its mutants, by neither or both.
template <class Policy>
void check(std::initializer_list<int> worlds) {
  for (int ranks : worlds) {
    CAPTURE(ranks);
    editable_program const p = with_program(
        Policy{}, ranks, [](program_builder const& built) { return editable_program{built.view()}; });
    CHECK(std::string{name_of(verify(p.view()).broken)} == "none");
    CHECK(std::string{name_of(judge(p.view()).why)} == "safe");
    if (ranks > 8) continue;
    long mutants = 0;
    for_each_mutant(p, [&](mutant const& m) {
      ++mutants;
      bool const accepted = verify(m.program).verified();
      if (m.kind == mutation::remove_wait && accepted) FAIL_CHECK(m.description() << " is not noticed");
      if (!accepted) return;
      finding const f = judge(m.program);
      if (!f.safe()) FAIL_CHECK(m.description() << " is accepted, but the oracle finds " << name_of(f.why));
    });
    CHECK((ranks == 1 || mutants > 100));
  }
}

}  // namespace

TEST_CASE("recursive halving", "[own_strategy]") {
  check<consumer_before_reduction<recursive_halving{}>>({2, 4, 8, 16});
  check<consumer_before_reduction<recursive_halving{.chunks = 3}>>({2, 4, 16});
  // log2(P) exchanges, but half of all shards in the first.
  critical_path const path = schedule<consumer_before_reduction<recursive_halving{}>, 8>::path;
  CHECK(path.serial == path_length{8, 7});
}

TEST_CASE("halving needs a power of two", "[own_strategy]") {
  for (int ranks : {3, 6}) {
    CHECK(with_program(consumer_before_reduction<recursive_halving{}>{}, ranks,
                       [](program_builder const& built) { return verify(built.view()).broken; }) ==
          rule::structure);
  }
}

TEST_CASE("a ring of rings", "[own_strategy]") {
  check<producer_before_consumer<two_level_ring{.inner = 1}>>({1, 2, 4});
  check<producer_before_consumer<two_level_ring{.inner = 2}>>({2, 4, 6, 8, 16});
  check<producer_before_consumer<two_level_ring{.inner = 3}>>({3, 6, 9});
  check<producer_before_consumer<two_level_ring{.inner = 4, .chunks = 2}>>({4, 8, 16});
  check<producer_before_consumer<two_level_ring{.inner = 4}, gather{.keep_gathered = true}>>({4, 8});
  check<producer_before_consumer<two_level_ring{.inner = 2}, gather{gathered_dimension::contraction}>>(
      {4, 8});
}
