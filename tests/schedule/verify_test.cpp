// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "../support/catch.hpp"
#include "brute_force_oracle.hpp"
#include "builtin_policies.hpp"
#include "hand_made.hpp"

#include <tpoverlap/schedule/schedule.hpp>
#include <tpoverlap/strategies/gather_strategies.hpp>
#include <tpoverlap/strategies/reduction_strategies.hpp>
#include <tpoverlap/strategies/side_strategies.hpp>

#include <string>

using namespace tpoverlap;
using namespace tpoverlap_test;

namespace {

template <auto Strategy, auto... Options>
using gathers = producer_before_consumer<Strategy, Options...>;
template <auto Strategy, auto... Options>
using reduces = consumer_before_reduction<Strategy, Options...>;

// Proven while this compiles, with default limits.
static_assert(schedule<gathers<ring{.chunks = 4}>, 16>::verdict.verified());
static_assert(schedule<gathers<ring{.chunks = 4, .way = direction::both}>, 16>::verdict.verified());
static_assert(schedule<gathers<direct{.chunks = 4}>, 16>::verdict.verified());
static_assert(schedule<gathers<pipeline{.chunks = 4}>, 16>::verdict.verified());
static_assert(schedule<reduces<ring{.chunks = 4}>, 16>::verdict.verified());
static_assert(schedule<reduces<direct{.chunks = 4}>, 16>::verdict.verified());
static_assert(schedule<reduces<pipeline{.chunks = 4}>, 16>::verdict.verified());
static_assert(schedule<independent_side_work<all_gather{}>, 16>::proven_at_compile_time);
static_assert(!schedule<gathers<ring{}>, TPOVERLAP_PROVE_UP_TO + 1>::proven_at_compile_time);

template <class Policy>
violation verdict_on(int ranks) {
  return with_program(Policy{}, ranks, [](program_builder const& built) { return verify(built.view()); });
}

template <class Policy>
reason opinion_on(int ranks) {
  return with_program(Policy{}, ranks, [](program_builder const& built) { return judge(built.view()).why; });
}

}  // namespace

TEST_CASE("every built-in policy is verified for every small world", "[verify]") {
  for (int chunks = 1; chunks <= most_chunks; ++chunks) {
    for (named_policy const& policy : builtin_policies(chunks)) {
      for (int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16}) {
        violation const v = verify(policy.build(ranks).view());
        if (!v.verified()) {
          FAIL_CHECK(policy.name << ", P = " << ranks << ": " << name_of(v.broken) << " at " << v.first
                                 << ", " << v.second);
        }
      }
    }
  }
}

TEST_CASE("every built-in policy is verified for 64 ranks", "[verify]") {
  for (named_policy const& policy : builtin_policies(4)) {
    INFO(policy.name);
    CHECK(std::string{name_of(verify(policy.build(64).view()).broken)} == "none");
  }
}

TEST_CASE("a ring needs two landing slots, or one that nobody forwards from", "[verify]") {
  // The slot is sent from and received into at once.
  for (int ranks : {4, 8}) {
    violation const v = verdict_on<gathers<ring{.depth = 1}>>(ranks);
    CHECK(std::string{name_of(v.broken)} == "race");
    CHECK(v.buffer == gather_buffer::gathered);
    CHECK(v.slot == 0);
    CHECK(v.first == v.second);
    CHECK(opinion_on<gathers<ring{.depth = 1}>>(ranks) == reason::race);
  }
  CHECK(verdict_on<gathers<ring{.depth = 1}>>(2).verified());
  CHECK(verdict_on<gathers<ring{.depth = 2}>>(8).verified());
  // Both ways round two shards arrive in each step.
  CHECK(!verdict_on<gathers<ring{.way = direction::both, .depth = 2}>>(8).verified());
  CHECK(!verdict_on<gathers<ring{.way = direction::both, .depth = 3}>>(8).verified());
  CHECK(verdict_on<gathers<ring{.way = direction::both, .depth = 4}>>(8).verified());
}

TEST_CASE("a direct gather needs two landing slots", "[verify]") {
  // The next shard is received before the last one is multiplied, into the same slot.
  violation const v = verdict_on<gathers<direct{.depth = 1}>>(4);
  CHECK(std::string{name_of(v.broken)} == "wrong tile");
  CHECK(v.buffer == gather_buffer::gathered);
  CHECK(opinion_on<gathers<direct{.depth = 1}>>(4) == reason::wrong_tile);
  CHECK(verdict_on<gathers<direct{.depth = 1}>>(2).verified());
  CHECK(verdict_on<gathers<direct{.depth = 2}>>(4).verified());
}

TEST_CASE("reductions with one slot", "[verify]") {
  for (int ranks : {2, 3, 4, 8}) {
    CAPTURE(ranks);
    CHECK(verdict_on<reduces<ring{.depth = 1}>>(ranks).verified() ==
          (opinion_on<reduces<ring{.depth = 1}>>(ranks) == reason::safe));
    CHECK(verdict_on<reduces<direct{.depth = 1}>>(ranks).verified() ==
          (opinion_on<reduces<direct{.depth = 1}>>(ranks) == reason::safe));
  }
  CHECK(!verdict_on<reduces<ring{.depth = 1}>>(4).verified());
  CHECK(!verdict_on<reduces<direct{.depth = 1}>>(4).verified());
  CHECK(verdict_on<reduces<ring{.depth = 2}>>(4).verified());
  CHECK(verdict_on<reduces<direct{.depth = 2}>>(4).verified());
}

TEST_CASE("a violation names operations and tile", "[verify]") {
  using gathering = hand_made_gather;
  using reducing = hand_made_reduction;
  SECTION("race") {
    editable_program p = gathering::make();
    p.op(gathering::other_gemm).waits = 0;
    CHECK(verify(p.view()) ==
          violation{rule::race, 0, gathering::exchange, gathering::other_gemm, gathering::gathered, 1, 0});
  }
  SECTION("coverage") {
    editable_program p = reducing::make();
    p.op(reducing::reduce).kind = operation_kind::copy;
    p.op(reducing::reduce).accesses = 2;
    CHECK(verify(p.view()) == violation{rule::coverage, 0, reducing::join, -1, reducing::output, 0, 0});
  }
  SECTION("wrong tile") {
    editable_program p = reducing::make();
    p.use(p.op(reducing::own_gemm).first_access).tiles.shard = 1;
    CHECK(verify(p.view()) == violation{rule::wrong_tile, 0, reducing::reduce, -1, reducing::partial, 0, 0});
  }
  SECTION("counted twice") {
    editable_program p = reducing::make();
    p.use(p.op(reducing::reduce).first_access + 2).tiles = reducing::landed();
    CHECK(verify(p.view()) ==
          violation{rule::counted_twice, 0, reducing::reduce, -1, reducing::output, 0, 0});
  }
  SECTION("matching") {
    editable_program p = reducing::make();
    p.buffers[reducing::landing].element = element_role::reduction;
    CHECK(verify(p.view()) == violation{rule::matching, 0, reducing::exchange, -1, reducing::landing, 0, 0});
  }
  SECTION("progress") {
    editable_program p = gathering::make();
    p.op(gathering::exchange).event = -1;
    violation const v = verify(p.view());
    CHECK(v.broken == rule::progress);
    CHECK(v.first == gathering::other_gemm);
    CHECK(v.second == gathering::exchange);
  }
  SECTION("join") {
    editable_program p = gathering::make();
    p.op(gathering::join).waits = 0;
    p.op(gathering::other_gemm).lane = 2;
    p.lanes = 3;
    violation const v = verify(p.view());
    CHECK(v.broken == rule::join);
    CHECK(v.first == gathering::exchange);
    CHECK(v.second == gathering::join);
  }
  SECTION("reuse") {
    editable_program p = gathering::make();
    p.op(gathering::exchange).waits = 0;
    violation const v = verify(p.view());
    CHECK(v.broken == rule::reuse);
    CHECK(v.first == gathering::fork);
    CHECK(v.second == gathering::exchange);
  }
  SECTION("structure") {
    editable_program p = gathering::make();
    p.use(p.op(gathering::own_gemm).first_access).tiles.chunk = 1;
    violation const v = verify(p.view());
    CHECK(v.broken == rule::structure);
    CHECK(v.first == gathering::own_gemm);
  }
}

namespace {

void check_laws(rank_group const& g) {
  CAPTURE(g.ranks, static_cast<int>(g.shape), g.inner);
  REQUIRE(g.valid());
  bool held = true;
  for (int a = 0; a < g.ranks; ++a) {
    held = held && g.apply(a, 0) == a && g.apply(0, a) == a;
    held = held && g.inverse(a) >= 0 && g.inverse(a) < g.ranks && g.apply(a, g.inverse(a)) == 0;
    held = held && g.inverse(g.inverse(a)) == a;
    for (int b = 0; b < g.ranks; ++b) {
      held = held && g.apply(a, b) >= 0 && g.apply(a, b) < g.ranks && g.apply(a, b) == g.apply(b, a);
      held = held && g.apply(g.apply(a, b), g.inverse(b)) == a;
      for (int c = 0; c < g.ranks; ++c) held = held && g.apply(g.apply(a, b), c) == g.apply(a, g.apply(b, c));
    }
  }
  CHECK(held);
}

}  // namespace

TEST_CASE("ranks make a commutative group", "[verify]") {
  for (int ranks = 1; ranks <= 16; ++ranks) {
    check_laws({ranks});
    bool const power_of_two = (ranks & (ranks - 1)) == 0;
    CHECK(rank_group{ranks, rank_group::kind::exclusive_or}.valid() == power_of_two);
    if (power_of_two) check_laws({ranks, rank_group::kind::exclusive_or});
    for (int inner = 1; inner <= ranks; ++inner) {
      CHECK(rank_group{ranks, rank_group::kind::two_level, inner}.valid() == (ranks % inner == 0));
      if (ranks % inner == 0) check_laws({ranks, rank_group::kind::two_level, inner});
    }
  }
  CHECK(!rank_group{0}.valid());
  CHECK(!rank_group{4, rank_group::kind::two_level, 0}.valid());
}
