// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What the cases of all classes share: row counts that change from call to call, operands, and the collected results.
#pragma once

#include "../overlap/chosen_gemm.hpp"
#include "../overlap/policy_facts.hpp"
#include "policy_cases.hpp"

#include <tpoverlap/overlap/overlap.hpp>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace tpoverlap_test {

/// Wide enough for several segments of the smallest size in each shard.
inline constexpr std::int64_t inner = 67;
inline constexpr std::int64_t columns = 45;

[[nodiscard]] constexpr std::int64_t most_rows(int ranks) { return 9 * ranks + 4; }

/// Row counts of the calls: even with a remainder, with gaps, all rows on one rank, none at all, ascending.
[[nodiscard]] inline std::vector<std::vector<std::int64_t>> row_counts(int ranks) {
  std::vector<std::vector<std::int64_t>> calls(6);
  for (int s = 0; s < ranks; ++s) {
    calls[1].push_back(s % 2 == 0 ? 9 : 0);
    calls[2].push_back(s == ranks - 1 ? most_rows(ranks) : 0);
    calls[3].push_back(0);
    calls[4].push_back((s * 5 + 2) % 9);
  }
  return calls;  // 0 and 5: the even split
}

/// Fails on what nobody has written.
inline void collect(std::vector<float>& results, matrix_view<float> const& from, std::string const& what) {
  for (std::int64_t i = 0; i < from.rows; ++i) {
    for (std::int64_t j = 0; j < from.columns; ++j) {
      if (!std::isfinite(from(i, j)))
        throw std::runtime_error{what + ": (" + std::to_string(i) + ", " + std::to_string(j) +
                                 ") has not been written"};
      results.push_back(from(i, j));
    }
  }
}

}  // namespace tpoverlap_test
