// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! From measured times to a choice, in whole numbers only, so that every rank comes to the same one.
#pragma once

#include <tpoverlap/schedule/scratch.hpp>

#include <cstdint>
#include <span>

namespace tpoverlap::inline v0 {

/// What was measured of one candidate.
struct candidate_time {
  std::int64_t nanoseconds = 0;  ///< a call takes: the median of the rounds, each as long as its slowest rank
  int rounds_won = 0;  ///< rounds in which it was at least 2 % faster than blocking in the same round

  friend constexpr bool operator==(candidate_time const&, candidate_time const&) = default;
};

/// The middle of `values`; of an even number, the smaller of the two in the middle.
[[nodiscard]] constexpr std::int64_t median_of(std::span<std::int64_t const> values) {
  int const count = static_cast<int>(values.size());
  scratch<std::int64_t> sorted(count);
  for (int i = 0; i < count; ++i) {
    int at = i;
    for (; at > 0 && sorted[at - 1] > values[static_cast<std::size_t>(i)]; --at) sorted[at] = sorted[at - 1];
    sorted[at] = values[static_cast<std::size_t>(i)];
  }
  return count == 0 ? 0 : sorted[(count - 1) / 2];
}

/// Summarizes `times`: candidate after candidate, `rounds` each, blocking first.
///
/// Rounds are interleaved, so a candidate is compared with blocking round by round: what disturbs the whole machine for
/// a while disturbs both.
constexpr void summarize(std::span<std::int64_t const> times, int rounds, std::span<candidate_time> results) {
  auto const length = static_cast<std::size_t>(rounds);
  for (std::size_t c = 0; c < results.size(); ++c) {
    auto const own = times.subspan(c * length, length);
    results[c] = {median_of(own), 0};
    for (std::size_t r = 0; r < length; ++r) {
      // In this order nothing overflows below a century.
      if (own[r] < times[r] - times[r] / 50) ++results[c].rounds_won;
    }
  }
}

/// The candidate to use. One that is not blocking has to have been at least 2 % faster than blocking in three rounds of
/// four: by chance alone, of 15 rounds one as slow as blocking wins as many once in 57 times, even without the 2 %. Among
/// those, the smallest median wins, and of equal ones the first. Otherwise blocking stays.
[[nodiscard]] constexpr int choose(std::span<candidate_time const> results, int rounds) {
  std::size_t best = 0;
  for (std::size_t c = 1; c < results.size(); ++c) {
    bool const sure = rounds > 0 && 4 * results[c].rounds_won >= 3 * rounds;
    if (sure && results[c].nanoseconds < results[best].nanoseconds) best = c;
  }
  return static_cast<int>(best);
}

}  // namespace tpoverlap::inline v0
