// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! How rows are cut: a matrix into shards, one for each rank, and a shard into chunks.
#pragma once

#include <cstdint>

namespace tpoverlap::inline v0 {

/// Rows `first` to `first + count`.
struct row_range {
  std::int64_t first = 0;
  std::int64_t count = 0;

  [[nodiscard]] constexpr std::int64_t end() const { return first + count; }
  friend constexpr bool operator==(row_range const&, row_range const&) = default;
};

/// Part `index` of `rows` rows cut into `parts` as evenly as possible, the larger parts first; parts may be empty.
[[nodiscard]] constexpr row_range even_part(std::int64_t rows, int parts, int index) {
  std::int64_t const least = rows / parts;
  std::int64_t const larger_parts = rows % parts;
  std::int64_t const first = index * least + (index < larger_parts ? index : larger_parts);
  return {first, least + (index < larger_parts ? 1 : 0)};
}

/// Cuts `rows` rows into one part for each of `parts` weights, in proportion to them: part `p` begins at row `first[p]`,
/// and `first[parts]` is `rows`. Rows that do not divide go one by one to the part that has the fewest for its weight,
/// counting the one it would get (d'Hondt's rule), the earlier of two alike; equal weights give `even_part`.
///
/// What the rest of the library builds on:
/// - Each row lies in exactly one part, parts follow each other, and may be empty.
/// - Of two parts, the heavier one is at least as large.
/// - One row more makes one part larger by one and none smaller. A chunk of a small shard therefore fits where the same
///   chunk of the largest shard lies, so that one landing slot can take shards of any size. Cutting at the nearest row,
///   or by largest remainders, does not have this property.
/// - Whole numbers only: every rank finds the same rows.
///
/// Nothing that is proven of a schedule depends on how many rows a chunk has: proofs speak of tiles.
///
/// **Units**: rows, 0 to 2^63 - 1; weights of 1 or more, 2^31 - 1 together at most.
constexpr void cut_in_proportion(std::int64_t rows, int const* weights, int parts, std::int64_t* first) {
  std::int64_t all = 0;
  for (int p = 0; p < parts; ++p) all += weights[p];
  // Each part has as many rows as its weight for every `all` rows, so that only the rest has to be thought about.
  std::int64_t const whole = rows / all;
  std::int64_t const rest = rows % all;
  std::int64_t given = 0;
  for (int p = 0; p < parts; ++p) {
    first[p + 1] = rest * weights[p] / all;
    given += first[p + 1];
  }
  for (; given < rest; ++given) {
    int next = 0;
    for (int p = 1; p < parts; ++p) {
      if (weights[p] * (first[next + 1] + 1) > weights[next] * (first[p + 1] + 1)) next = p;
    }
    ++first[next + 1];
  }
  first[0] = 0;
  for (int p = 0; p < parts; ++p) first[p + 1] += first[p] + whole * weights[p];
}

}  // namespace tpoverlap::inline v0
