// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// How rows are cut by weights, against handing them out one by one.

#include "../support/catch.hpp"

#include <tpoverlap/core/partition.hpp>
#include <tpoverlap/policy/strategy.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace tpoverlap;

namespace {

using counts = std::vector<std::int64_t>;

__extension__ typedef __int128 wide;

/// Sizes of the parts; requires that they follow each other and hold every row.
counts cut(std::int64_t rows, std::vector<int> const& weights) {
  std::vector<std::int64_t> first(weights.size() + 1, -1);
  cut_in_proportion(rows, weights.data(), static_cast<int>(weights.size()), first.data());
  REQUIRE(first.front() == 0);
  REQUIRE(first.back() == rows);
  counts sizes;
  for (std::size_t p = 0; p < weights.size(); ++p) {
    REQUIRE(first[p] <= first[p + 1]);
    sizes.push_back(first[p + 1] - first[p]);
  }
  return sizes;
}

/// Whom the next row goes to: the most weight for each row it would have.
std::size_t neediest(counts const& sizes, std::vector<int> const& weights) {
  std::size_t next = 0;
  for (std::size_t p = 1; p < weights.size(); ++p) {
    if (static_cast<wide>(weights[p]) * (sizes[next] + 1) > static_cast<wide>(weights[next]) * (sizes[p] + 1))
      next = p;
  }
  return next;
}

std::vector<int> weights_of(chunk_ratio ratio, int chunks) {
  std::vector<int> weights;
  for (int c = 0; c < chunks; ++c) weights.push_back(ratio.weight(c, chunks));
  return weights;
}

std::vector<std::vector<int>> const& samples() {
  static std::vector<std::vector<int>> const all = {
      {1},          {7},       {2, 1},    {1, 2},       {8, 4, 2, 1},   {1, 2, 4, 8}, {64, 48, 36, 27},
      {1, 2, 1, 2}, {5, 5, 5}, {3, 1, 2}, {1, 1, 1000}, {1000, 1, 1, 1}};
  return all;
}

constexpr int largest_sum = std::numeric_limits<int>::max();

}  // namespace

TEST_CASE("each row goes to the part that needs it most", "[partition]") {
  for (auto const& weights : samples()) {
    CAPTURE(weights);
    counts sizes(weights.size(), 0);
    for (std::int64_t rows = 0; rows <= 2500; ++rows) {
      CAPTURE(rows);
      REQUIRE(cut(rows, weights) == sizes);
      ++sizes[neediest(sizes, weights)];
    }
  }
}

TEST_CASE("random weights are cut as row by row", "[partition]") {
  std::mt19937 generator{4711};
  for (int round = 0; round < 300; ++round) {
    std::vector<int> weights(1 + generator() % 9);
    for (int& weight : weights) weight = 1 + static_cast<int>(generator() % (round % 3 == 0 ? 3 : 60));
    CAPTURE(weights);
    counts sizes(weights.size(), 0);
    for (std::int64_t rows = 0; rows <= 400; ++rows) {
      REQUIRE(cut(rows, weights) == sizes);
      ++sizes[neediest(sizes, weights)];
    }
  }
}

TEST_CASE("equal weights are the even cut", "[partition]") {
  for (int weight : {1, 3, largest_sum / 9}) {
    for (int parts = 1; parts <= 9; ++parts) {
      std::vector<int> const weights(static_cast<std::size_t>(parts), weight);
      for (std::int64_t rows : {std::int64_t{0}, std::int64_t{1}, std::int64_t{8}, std::int64_t{35},
                                std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::max()}) {
        CAPTURE(weight, parts, rows);
        counts const sizes = cut(rows, weights);
        for (int p = 0; p < parts; ++p)
          REQUIRE(sizes[static_cast<std::size_t>(p)] == even_part(rows, parts, p).count);
      }
    }
  }
}

// What was handed out last was needed most, and the next row makes one part larger: so it is the cut row by row, too,
// where nobody can count up to the rows.
TEST_CASE("the largest row counts and weights are cut without overflow", "[partition]") {
  std::vector<std::vector<int>> all = samples();
  all.push_back(weights_of({2, 1}, 31));
  all.push_back(weights_of({1, 2}, 31));
  all.push_back(weights_of({8, 7}, 10));
  all.push_back({largest_sum - 2, 1, 1});
  all.push_back({1, largest_sum - 1});
  all.push_back({largest_sum});
  std::int64_t const most = std::numeric_limits<std::int64_t>::max();
  for (auto const& weights : all) {
    for (std::int64_t near :
         {std::int64_t{1} << 31, std::int64_t{1} << 32, std::int64_t{1} << 62, most - 40}) {
      for (std::int64_t rows = near - 40; rows < near + 40; ++rows) {
        CAPTURE(weights, rows);
        counts const sizes = cut(rows, weights);
        for (std::size_t p = 0; p < weights.size(); ++p) {
          for (std::size_t q = 0; q < weights.size(); ++q) {
            // Nobody would rather have had the last row of another.
            wide const mine = static_cast<wide>(weights[p]) * sizes[q];
            wide const theirs = static_cast<wide>(weights[q]) * (sizes[p] + 1);
            REQUIRE((p < q ? mine < theirs : mine <= theirs));
            if (weights[p] > weights[q]) REQUIRE(sizes[p] >= sizes[q]);
          }
        }
        counts more = sizes;
        ++more[neediest(sizes, weights)];
        REQUIRE(cut(rows + 1, weights) == more);
      }
    }
  }
}

TEST_CASE("a larger shard has no smaller chunk", "[partition]") {
  for (auto const& weights : samples()) {
    for (std::int64_t largest : {0, 1, 5, 16, 47, 1000}) {
      counts const room = cut(largest, weights);
      for (std::int64_t rows = 0; rows <= largest; ++rows) {
        counts const sizes = cut(rows, weights);
        for (std::size_t p = 0; p < weights.size(); ++p) REQUIRE(sizes[p] <= room[p]);
      }
    }
  }
}

TEST_CASE("a ratio's powers are the sizes of chunks, in lowest terms", "[partition]") {
  CHECK(weights_of({}, 3) == std::vector<int>{1, 1, 1});
  CHECK(weights_of({2, 1}, 4) == std::vector<int>{8, 4, 2, 1});
  CHECK(weights_of({1, 2}, 4) == std::vector<int>{1, 2, 4, 8});
  CHECK(weights_of({4, 3}, 4) == std::vector<int>{64, 48, 36, 27});
  CHECK(weights_of({30, 20}, 3) == std::vector<int>{9, 6, 4});
  CHECK(weights_of({largest_sum, largest_sum}, 3) == std::vector<int>{1, 1, 1});
  CHECK(weights_of({5, 1}, 1) == std::vector<int>{1});
}

TEST_CASE("a ratio cuts as many chunks as whole numbers can tell", "[partition]") {
  CHECK(chunk_ratio{1, 1}.cuts(100000));
  CHECK(chunk_ratio{2, 1}.cuts(31));
  CHECK_FALSE(chunk_ratio{2, 1}.cuts(32));
  CHECK(chunk_ratio{1, 2}.cuts(31));
  CHECK_FALSE(chunk_ratio{1, 2}.cuts(32));
  CHECK(chunk_ratio{4, 3}.cuts(15));
  CHECK_FALSE(chunk_ratio{4, 3}.cuts(16));
  CHECK(chunk_ratio{largest_sum - 1, 1}.cuts(2));
  CHECK_FALSE(chunk_ratio{largest_sum, 1}.cuts(2));
  CHECK_FALSE(chunk_ratio{largest_sum, largest_sum - 1}.cuts(100000));
  for (chunk_ratio const bad :
       {chunk_ratio{0, 1}, chunk_ratio{1, 0}, chunk_ratio{-1, -1}, chunk_ratio{0, 0}}) {
    CHECK_FALSE(bad.cuts(1));
    CHECK(bad.weight(0, 1) == 0);
  }
}
