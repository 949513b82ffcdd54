// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! From times to a choice: medians, and what blocking has to lose by.

#include "../support/catch.hpp"

#include <tpoverlap/tuner/choose.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace tpoverlap;

namespace {

using series = std::vector<std::int64_t>;

int chosen(std::vector<series> const& times) {
  series flat;
  for (auto const& each : times) flat.insert(flat.end(), each.begin(), each.end());
  auto const rounds = static_cast<int>(times[0].size());
  std::vector<candidate_time> results(times.size());
  summarize(flat, rounds, results);
  return choose(results, rounds);
}

series constant(std::int64_t value) { return series(15, value); }

// Of 15 rounds, the candidate is at `faster` in `won` of them, and at 1000 otherwise.
series winning(int won, std::int64_t faster) {
  series times = constant(1000);
  for (int i = 0; i < won; ++i) times[static_cast<std::size_t>(i)] = faster;
  return times;
}

}  // namespace

TEST_CASE("the median does not care about order or outliers", "[choose]") {
  series values{5, 1, 4, 2, 3};
  std::sort(values.begin(), values.end());
  do CHECK(median_of(values) == 3);
  while (std::next_permutation(values.begin(), values.end()));
  CHECK(median_of(series{7}) == 7);
  CHECK(median_of(series{1, 2, 3, 1'000'000'000'000}) == 2);
  CHECK(median_of(series{}) == 0);
}

TEST_CASE("the fastest candidate that surely beats blocking is chosen", "[choose]") {
  CHECK(chosen({constant(1000), constant(900), constant(800), constant(850)}) == 2);
  CHECK(chosen({constant(1000), constant(800), constant(800)}) == 1);
  CHECK(chosen({constant(1000), constant(1500), constant(900)}) == 2);
}

TEST_CASE("blocking wins ties, and what is not 2 % faster", "[choose]") {
  CHECK(chosen({constant(1000), constant(1000)}) == 0);
  CHECK(chosen({constant(1000), constant(1001)}) == 0);
  CHECK(chosen({constant(1000), constant(980)}) == 0);
  CHECK(chosen({constant(1000), constant(979)}) == 1);
}

TEST_CASE("a candidate has to be faster in three rounds of four", "[choose]") {
  // 11 of 15 rounds are less than three quarters, though its median is half of blocking's.
  CHECK(chosen({constant(1000), winning(11, 500)}) == 0);
  CHECK(chosen({constant(1000), winning(12, 500)}) == 1);
  // A noisy fast candidate does not stand in the way of a sure one.
  CHECK(chosen({constant(1000), winning(11, 400), constant(900)}) == 2);
}

TEST_CASE("rounds are compared one by one, so a drift of the machine decides nothing", "[choose]") {
  series blocking, equal, faster;
  for (std::int64_t r = 0; r < 15; ++r) {
    std::int64_t const machine = 1000 + 400 * r;
    blocking.push_back(machine);
    equal.push_back(machine + (r % 2 == 0 ? 5 : -5));
    faster.push_back(machine * 9 / 10);
  }
  CHECK(chosen({blocking, equal}) == 0);
  CHECK(chosen({blocking, faster}) == 1);
}

TEST_CASE("times of zero or of centuries are times, too", "[choose]") {
  CHECK(chosen({constant(0), constant(0)}) == 0);
  CHECK(chosen({constant(INT64_MAX), constant(INT64_MAX / 2)}) == 1);
  CHECK(chosen({constant(10), constant(0)}) == 1);
}
