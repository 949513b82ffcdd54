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

}  // namespace tpoverlap::inline v0
