// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The figures of a table, by hand; and the check that comes before them.

#include "bound.hpp"
#include "measurement.hpp"
#include "strategies.hpp"
#include "values.hpp"

#include "support/catch.hpp"

#include <cmath>
#include <limits>
#include <string>

namespace {

using namespace bench;

TEST_CASE("the bound is the longer of computing and the wire, and what cannot lie beside the other") {
  makeup const one;
  // In balance, half a shard of two: a quarter of the GEMM comes after the last message.
  CHECK(bound(one, 2, 8, 0, 8, 0.5) == Approx(10));
  CHECK(bound(one, 4, 8, 0, 8, 1) == Approx(10));
  // The wire is the longer: the same fill on top of it.
  CHECK(bound(one, 2, 8, 0, 20, 0.5) == Approx(22));
  // Computing is the longer: one message is shorter than one tile's GEMM.
  CHECK(bound(one, 2, 8, 0, 1, 0.5) == Approx(8.5));
  CHECK(bound(one, 4, 8, 0, 3, 0.5) == Approx(8.5));
}

TEST_CASE("side work has no fill") {
  CHECK(bound({.filled_passes = 0}, 2, 8, 0, 5, 1) == Approx(8));
  CHECK(bound({.filled_passes = 0}, 2, 8, 0, 9, 1) == Approx(9));
}

TEST_CASE("an MLP is bounded pass by pass") {
  makeup const mlp{.has_elementwise = true, .gemms = 6, .passes = 5, .filled_passes = 3};
  // GEMMs of 2, messages of 1, one second between the GEMMs; three passes end with a quarter of their shard's message.
  CHECK(bound(mlp, 2, 13, 1, 5, 0.25) == Approx(13 + 3 * 0.25));
  // GEMMs of 2, messages of 3: a GEMM has no message beside it; three tiles of an eighth of a GEMM are exposed.
  CHECK(bound(mlp, 2, 13, 1, 15, 0.25) == Approx(1 + 2 + 5 * 3 + 3 * 0.25));
}

TEST_CASE("the tile that a strategy exposes") {
  using namespace tpoverlap;
  CHECK(share_of_chunk(ring{.chunks = 4}, true) == Approx(0.25));
  CHECK(share_of_chunk(ring{.chunks = 4, .ratio = {2, 1}}, true) == Approx(1.0 / 15));
  CHECK(share_of_chunk(direct{.chunks = 4, .ratio = {1, 2}}, false) == Approx(1.0 / 15));
  CHECK(share_of_chunk(pipeline{.chunks = 4, .ratio = {3, 4}}, false) == Approx(27.0 / 175));
}

TEST_CASE(
    "every graded strategy has the fewest rows where they are exposed, and even ones to be compared with") {
  auto const every = [](auto const& look) {
    for_each_gather<4>([&]<auto Strategy>(char const* name) { look(name, Strategy, true); });
    for_each_reduction<4>([&]<auto Strategy, auto Options>(char const* name) {
      look(name, Strategy, false);
    });
  };
  int graded = 0;
  every([&](std::string const& name, auto const& strategy, bool gathers) {
    if (name.find("-graded") == std::string::npos) return;
    ++graded;
    CHECK(share_of_chunk(strategy, gathers) < share_of_chunk(strategy, !gathers));
    bool found = false;
    every([&](std::string const& other, auto const& even, bool other_gathers) {
      found = found || (other + "-graded" == name && other_gathers == gathers &&
                        tpoverlap::chunks_of(even) == tpoverlap::chunks_of(strategy));
    });
    CHECK(found);
  });
  CHECK(graded == 6);
}

TEST_CASE("medians") {
  CHECK(median({}) == 0);
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 3, 2}) == 2.5);
}

TEST_CASE("a rank makes the rows of another as that rank does") {
  matrix const all = numbers({'x'}, 6, 5);
  matrix const part = numbers({'x'}, 2, 5, 4);
  CHECK(difference("x", part.view(), all.view().row_range(4, 2)).empty());
  CHECK_FALSE(difference("x", part.view(), all.view().row_range(3, 2)).empty());
  matrix const mine = numbers({'w', 0}, 6, 5);
  matrix const theirs = numbers({'w', 1}, 6, 5);
  CHECK_FALSE(difference("w", mine.view(), theirs.view()).empty());
}

TEST_CASE("a difference is found wherever it is, and a NaN is one") {
  matrix const expected = numbers({'x'}, 3, 4);
  matrix got = numbers({'x'}, 3, 4);
  CHECK(difference("y", got.view(), expected.view()).empty());
  got.view()(2, 3) += 1;
  CHECK(difference("y", got.view(), expected.view()).find("y(2, 3) is ") == 0);
  got.view()(0, 1) = std::numeric_limits<float>::quiet_NaN();
  auto const text = difference("y", got.view(), expected.view());
  CHECK(text.find("y(0, 1) is nan") == 0);
  CHECK(text.find("2 of 12 elements") != std::string::npos);
  fill_with_nan(got.view());
  CHECK(difference("y", got.view(), got.view()).find("12 of 12 elements") != std::string::npos);
}

}  // namespace
