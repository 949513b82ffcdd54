// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Chunks of different sizes: the same operations, the same proof, and less of the GEMM exposed.

#include "../support/catch.hpp"
#include "editable_program.hpp"

#include <tpoverlap/schedule/build.hpp>
#include <tpoverlap/schedule/program_hash.hpp>
#include <tpoverlap/schedule/verify.hpp>
#include <tpoverlap/strategies/gather_strategies.hpp>
#include <tpoverlap/strategies/reduction_strategies.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

using namespace tpoverlap;
using tpoverlap_test::editable_program;

namespace {

template <class Policy>
editable_program made(int ranks) {
  return with_program(Policy{}, ranks,
                      [](program_builder const& built) { return editable_program{built.view()}; });
}

template <class Policy>
std::vector<int> weights_of(int ranks) {
  return made<Policy>(ranks).weights;
}

/// When the last operation ends on lanes that obey waits. The GEMM takes `gemm` and the wire `wire` for each unit of
/// weight; additions and copies take nothing. All ranks run alike, so that no message finds its other end late.
std::int64_t duration(program_view const& p, std::int64_t gemm, std::int64_t wire) {
  auto const size = [&](tile_range const& r) {
    return r.slots * std::accumulate(p.weights + r.chunk, p.weights + r.chunk + r.chunks, std::int64_t{0});
  };
  std::vector<std::int64_t> lane_end(static_cast<std::size_t>(p.lanes), 0);
  std::vector<std::int64_t> end(static_cast<std::size_t>(p.operation_count), 0);
  for (int i = 1; i + 1 < p.operation_count; ++i) {
    operation const& op = p.operations[i];
    std::int64_t& lane = lane_end[static_cast<std::size_t>(op.lane)];
    for (int w = op.first_wait; w < op.first_wait + op.waits; ++w)
      lane = (std::max)(lane, end[static_cast<std::size_t>(p.waits[w])]);
    tile_access const* const uses = p.accesses + op.first_access;
    if (op.kind == operation_kind::gemm) lane += gemm * size(uses[0].tiles);
    if (op.kind == operation_kind::exchange) {
      for (int a = 0; a < op.accesses; ++a)
        if (uses[a].mode == access_mode::read) lane += wire * size(uses[a].tiles);
    }
    if (is_collective(op.kind)) {
      std::int64_t const both = size(uses[0].tiles) + size(uses[1].tiles);  // of all ranks and of one
      lane += wire * both / (p.group.ranks + 1) * (p.group.ranks - 1);
    }
    end[static_cast<std::size_t>(i)] = lane;
  }
  return *std::max_element(end.begin(), end.end());
}

template <class Policy>
std::int64_t duration_of(int ranks, std::int64_t gemm, std::int64_t wire) {
  return duration(made<Policy>(ranks).view(), gemm, wire);
}

constexpr chunk_ratio halving{.earlier = 2, .later = 1};
constexpr chunk_ratio doubling{.earlier = 1, .later = 2};

/// A strategy from outside, which knows nothing of sizes but has the knob.
struct own_strategy {
  int chunks = 3;
  chunk_ratio ratio = halving;
};
constexpr void emit(gather_builder& b, own_strategy const&) { emit(b, direct{}); }

/// One whose `ratio` means something of its own.
struct other_ratio {
  int chunks = 3;
  int ratio = 0;
};
constexpr void emit(gather_builder& b, other_ratio const&) { emit(b, direct{}); }

template <class Graded, class Even>
void same_but_for_sizes(std::string const& name) {
  for (int ranks : {1, 2, 3, 4, 8}) {
    CAPTURE(name, ranks);
    editable_program graded = made<Graded>(ranks);
    editable_program const even = made<Even>(ranks);
    CHECK(verify(graded.view()).verified());
    CHECK(hash_of(graded.view()) != hash_of(even.view()));
    graded.weights = even.weights;
    CHECK(hash_of(graded.view()) == hash_of(even.view()));
  }
}

template <auto Graded, auto Even>
void in_both_classes(std::string const& name) {
  same_but_for_sizes<producer_before_consumer<Graded>, producer_before_consumer<Even>>("gather, " + name);
  same_but_for_sizes<consumer_before_reduction<Graded>, consumer_before_reduction<Even>>("reduction, " +
                                                                                         name);
}

}  // namespace

TEST_CASE("sizes change the hash and nothing else of a program", "[graded]") {
  in_both_classes<ring{.chunks = 3, .ratio = halving}, ring{.chunks = 3}>("ring");
  in_both_classes<ring{.chunks = 4, .way = direction::both, .ratio = doubling},
                  ring{.chunks = 4, .way = direction::both}>("both ways");
  in_both_classes<direct{.chunks = 3, .depth = 2, .ratio = doubling}, direct{.chunks = 3, .depth = 2}>(
      "direct");
  in_both_classes<pipeline{.ratio = halving}, pipeline{}>("pipeline");
  CHECK(hash_of(made<producer_before_consumer<ring{.chunks = 3, .ratio = {2, 1}}>>(4).view()) ==
        hash_of(made<producer_before_consumer<ring{.chunks = 3, .ratio = {6, 3}}>>(4).view()));
}

TEST_CASE("every strategy hands its ratio to the program", "[graded]") {
  using sizes = std::vector<int>;
  CHECK(weights_of<producer_before_consumer<ring{.chunks = 4}>>(4) == sizes{1, 1, 1, 1});
  CHECK(weights_of<producer_before_consumer<ring{.chunks = 4, .ratio = halving}>>(4) == sizes{8, 4, 2, 1});
  CHECK(weights_of<producer_before_consumer<direct{.chunks = 3, .ratio = {4, 3}}>>(4) == sizes{16, 12, 9});
  CHECK(weights_of<producer_before_consumer<pipeline{.ratio = halving}>>(4) == sizes{8, 4, 2, 1});
  CHECK(weights_of<consumer_before_reduction<ring{.chunks = 4, .ratio = doubling}>>(4) == sizes{1, 2, 4, 8});
  CHECK(weights_of<consumer_before_reduction<direct{.chunks = 2, .ratio = doubling}>>(4) == sizes{1, 2});
  CHECK(weights_of<consumer_before_reduction<pipeline{.ratio = doubling}>>(4) == sizes{1, 2, 4, 8});
}

TEST_CASE("both ways round, a reduction grades the chunks of each way", "[graded]") {
  using sizes = std::vector<int>;
  constexpr auto both = direction::both;
  CHECK(weights_of<consumer_before_reduction<ring{.chunks = 4, .way = both, .ratio = doubling}>>(4) ==
        sizes{1, 2, 1, 2});
  CHECK(weights_of<consumer_before_reduction<ring{.chunks = 5, .way = both, .ratio = doubling}>>(4) ==
        sizes{1, 2, 4, 1, 2});
  CHECK(weights_of<consumer_before_reduction<ring{.chunks = 2, .way = both, .ratio = doubling}>>(4) ==
        sizes{1, 1});
  CHECK(weights_of<producer_before_consumer<ring{.chunks = 4, .way = both, .ratio = halving}>>(4) ==
        sizes{8, 4, 2, 1});
}

TEST_CASE("a strategy from outside gets the knob by name and type", "[graded]") {
  CHECK(weights_of<producer_before_consumer<own_strategy{}>>(3) == std::vector<int>{4, 2, 1});
  CHECK(weights_of<producer_before_consumer<own_strategy{.ratio = {}}>>(3) == std::vector<int>{1, 1, 1});
  CHECK(weights_of<producer_before_consumer<other_ratio{}>>(3) == std::vector<int>{1, 1, 1});
}

TEST_CASE("sizes that rows cannot be divided by are refused", "[graded]") {
  editable_program program = made<producer_before_consumer<ring{.chunks = 2, .ratio = halving}>>(3);
  REQUIRE(verify(program.view()).verified());
  for (std::vector<int> const& bad : {std::vector<int>{2, 0}, {-2, 1}, {0x7fffffff, 1}, {}}) {
    CAPTURE(bad);
    program.weights = bad;
    program_view view = program.view();
    if (bad.empty()) view.weights = nullptr;
    CHECK(verify(view).broken == rule::structure);
  }
  program.weights = {0x7ffffffe, 1};
  CHECK(verify(program.view()).verified());
}

TEST_CASE("with the ratio of wire to GEMM, only the last chunk of a gather is exposed", "[graded]") {
  // Two ranks: all GEMMs take as long as all messages. Weights 8, 4, 2, 1, and 1, 1, 1, 1.
  CHECK(duration_of<producer_before_consumer<ring{.chunks = 4, .ratio = halving}>>(2, 1, 2) == 2 * 15 + 1);
  CHECK(duration_of<producer_before_consumer<direct{.chunks = 4, .ratio = halving}>>(2, 1, 2) == 2 * 15 + 1);
  CHECK(duration_of<producer_before_consumer<pipeline{.chunks = 4, .ratio = halving}>>(2, 1, 2) ==
        2 * 15 + 1);
  CHECK(duration_of<producer_before_consumer<ring{.chunks = 4}>>(2, 1, 2) == 2 * 4 + 1);
  // Four ranks, balanced alike: 3 messages of 4 for 4 GEMMs of 3. Weights 64, 48, 36, 27, together 175.
  constexpr chunk_ratio gentle{.earlier = 4, .later = 3};
  CHECK(duration_of<producer_before_consumer<ring{.chunks = 4, .ratio = gentle}>>(4, 3, 4) ==
        3 * 4 * 175 + 3 * 27);
  CHECK(duration_of<producer_before_consumer<direct{.chunks = 4, .ratio = gentle}>>(4, 3, 4) ==
        3 * 4 * 175 + 3 * 27);
  CHECK(duration_of<producer_before_consumer<pipeline{.chunks = 4, .ratio = gentle}>>(4, 3, 4) ==
        3 * 4 * 175 + 3 * 3 * 27);
  // Steeper, and the chunk before the last is late.
  CHECK(duration_of<producer_before_consumer<ring{.chunks = 2, .ratio = halving}>>(4, 3, 4) >
        3 * 4 * 3 + 3 * 1);
}

TEST_CASE("with the ratio of GEMM to wire, only the first chunk of a reduction is exposed", "[graded]") {
  CHECK(duration_of<consumer_before_reduction<ring{.chunks = 4, .ratio = doubling}>>(2, 1, 2) == 2 * 15 + 1);
  CHECK(duration_of<consumer_before_reduction<direct{.chunks = 4, .ratio = doubling}>>(2, 1, 2) ==
        2 * 15 + 1);
  CHECK(duration_of<consumer_before_reduction<ring{.chunks = 4}>>(2, 1, 2) == 2 * 4 + 1);
  constexpr chunk_ratio gentle{.earlier = 3, .later = 4};
  CHECK(duration_of<consumer_before_reduction<ring{.chunks = 4, .ratio = gentle}>>(4, 3, 4) ==
        3 * 4 * 175 + 3 * 27);
  CHECK(duration_of<consumer_before_reduction<direct{.chunks = 4, .ratio = gentle}>>(4, 3, 4) ==
        3 * 4 * 175 + 3 * 27);
  // A pipeline works on a chunk of both ranks' shards at once: 2 GEMMs of 1 to a message of 4, or 4 to one of 2.
  CHECK(duration_of<consumer_before_reduction<pipeline{.ratio = doubling}>>(2, 1, 4) == 4 * 15 + 2);
  CHECK(duration_of<consumer_before_reduction<pipeline{.ratio = halving}>>(2, 2, 2) == 4 * 15 + 2);
}
