// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "../support/catch.hpp"
#include "builtin_policies.hpp"

#include <tpoverlap/schedule/schedule.hpp>
#include <tpoverlap/strategies/gather_strategies.hpp>
#include <tpoverlap/strategies/reduction_strategies.hpp>
#include <tpoverlap/strategies/side_strategies.hpp>

#include <algorithm>

using namespace tpoverlap;
using namespace tpoverlap_test;

namespace {

template <class Policy>
critical_path path_of(int ranks) {
  return with_program(Policy{}, ranks,
                      [](program_builder const& built) { return critical_path_of(built.view()); });
}

constexpr reduction fused{.accumulate = accumulation::fused};

// What docs say of policies that hide nothing.
static_assert(schedule<producer_before_consumer<blocking{}>, 4>::hides_nothing);
static_assert(schedule<consumer_before_reduction<blocking{}>, 4>::hides_nothing);
static_assert(schedule<consumer_before_reduction<ring{}, fused>, 4>::hides_nothing);
static_assert(schedule<consumer_before_reduction<pipeline{.chunks = 1}>, 4>::hides_nothing);
static_assert(!schedule<consumer_before_reduction<ring{.chunks = 2}, fused>, 4>::hides_nothing);
static_assert(!schedule<consumer_before_reduction<ring{}>, 4>::hides_nothing);
static_assert(!schedule<producer_before_consumer<ring{}>, 4>::hides_nothing);
static_assert(!schedule<producer_before_consumer<ring{.depth = 2}>, 4>::hides_nothing);
static_assert(!schedule<producer_before_consumer<pipeline{.chunks = 1}>, 4>::hides_nothing);
static_assert(!schedule<consumer_before_reduction<pipeline{}>, 4>::hides_nothing);
static_assert(!schedule<independent_side_work<all_reduce{}>, 4>::hides_nothing);

}  // namespace

TEST_CASE("no path is longer than all work", "[critical_path]") {
  for (int chunks = 1; chunks <= most_chunks; ++chunks) {
    for (named_policy const& policy : builtin_policies(chunks)) {
      for (int ranks : {1, 2, 3, 4, 5, 8, 16}) {
        INFO(policy.name << ", P = " << ranks);
        critical_path const path = critical_path_of(policy.build(ranks).view());
        CHECK(path.longest.gemm_tiles <= path.serial.gemm_tiles);
        CHECK(path.longest.messages <= path.serial.messages);
        CHECK(path.longest.total() >= std::max(path.serial.gemm_tiles, 1));
        CHECK(path.hidden() >= 0);
        CHECK((path.serial.messages > 0) == (ranks > 1));
        CHECK(path.hides_nothing() == (ranks > 1 && path.longest.total() == path.serial.total()));
        bool const side = policy.name.rfind("side", 0) == 0;
        CHECK(path.serial.gemm_tiles == (side ? ranks : ranks * chunks));
      }
    }
  }
}

TEST_CASE("blocking is serial", "[critical_path]") {
  for (int ranks : {2, 4, 8}) {
    critical_path const gathered = path_of<producer_before_consumer<blocking{}>>(ranks);
    CHECK(gathered.longest == path_length{ranks, ranks - 1});
    CHECK(gathered.serial == gathered.longest);
    critical_path const reduced = path_of<consumer_before_reduction<blocking{}>>(ranks);
    CHECK(reduced.longest == path_length{ranks, ranks - 1});
    CHECK(reduced.serial == reduced.longest);
  }
}

TEST_CASE("gathers hide all but what is there at the start", "[critical_path]") {
  for (int ranks : {2, 4, 8}) {
    // Messages end just when the GEMM before theirs does.
    CHECK(path_of<producer_before_consumer<ring{}>>(ranks).longest.total() == ranks);
    CHECK(path_of<producer_before_consumer<ring{.chunks = 3}>>(ranks).longest.total() == 3 * ranks);
    CHECK(path_of<producer_before_consumer<direct{.chunks = 3}>>(ranks).longest.total() == 3 * ranks);
    CHECK(path_of<producer_before_consumer<ring{}>>(ranks).serial == path_length{ranks, ranks - 1});
    CHECK(path_of<producer_before_consumer<ring{.chunks = 3}>>(ranks).serial ==
          path_length{3 * ranks, 3 * (ranks - 1)});
    // Chunk after chunk is gathered, while at most the one before is multiplied.
    int const chunks = 4;
    CHECK(path_of<producer_before_consumer<pipeline{.chunks = chunks}>>(ranks).longest.total() ==
          std::max(chunks * ranks, (chunks + 1) * (ranks - 1)));
  }
  // Half as many steps when shards come both ways.
  CHECK(path_of<producer_before_consumer<ring{.way = direction::both}>>(8).serial.messages == 4);
}

TEST_CASE("reductions", "[critical_path]") {
  for (int ranks : {2, 4, 8}) {
    critical_path const chain = path_of<consumer_before_reduction<ring{}, fused>>(ranks);
    CHECK(chain.longest == path_length{ranks, ranks - 1});
    CHECK(chain.hides_nothing());
    CHECK(path_of<consumer_before_reduction<ring{}>>(ranks).longest.total() == ranks);
    CHECK(path_of<consumer_before_reduction<direct{}>>(ranks).longest.total() == ranks);
    // A chunk's GEMM beside the reduction of the chunk before.
    int const chunks = 4;
    CHECK(path_of<consumer_before_reduction<pipeline{.chunks = chunks}>>(ranks).longest.total() ==
          chunks * ranks + ranks - 1);
  }
}

TEST_CASE("side work is hidden behind the GEMM", "[critical_path]") {
  for (int ranks : {2, 4, 8}) {
    CHECK(path_of<independent_side_work<all_gather{}>>(ranks).longest.total() == ranks);
    CHECK(path_of<independent_side_work<reduce_scatter{}>>(ranks).longest.total() == ranks);
    CHECK(path_of<independent_side_work<all_reduce{}>>(ranks).longest.total() ==
          std::max(ranks, 2 * (ranks - 1)));
    CHECK(path_of<independent_side_work<all_gather{}>>(ranks).serial == path_length{ranks, ranks - 1});
  }
}

TEST_CASE("one rank has nothing to hide", "[critical_path]") {
  critical_path const path = path_of<producer_before_consumer<ring{.chunks = 2}>>(1);
  CHECK(path.longest == path_length{2, 0});
  CHECK(!path.hides_nothing());
}
