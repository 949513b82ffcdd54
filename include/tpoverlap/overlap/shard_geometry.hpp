// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Where the rows of every shard and chunk lie, for row counts that are known only at run time.
#pragma once

#include <tpoverlap/core/partition.hpp>

#include <cstdint>
#include <span>

namespace tpoverlap::inline v0 {

/// Row counts of `Ranks` shards, each cut into `Chunks` as a program's weights say. Setting the counts it already has
/// costs a comparison.
template <int Ranks, int Chunks>
class shard_geometry {
 public:
  /// `weights` has to outlive this object, as a schedule's does.
  explicit shard_geometry(int const* weights) : weights_{weights} {}

  void set_even(std::int64_t rows) {
    if (version_ > 0 && rows == even_rows_) return;
    std::int64_t counts[Ranks];
    for (int s = 0; s < Ranks; ++s) counts[s] = even_part(rows, Ranks, s).count;
    set(counts);
    even_rows_ = rows;
  }

  void set(std::span<std::int64_t const, Ranks> rows) {
    bool same = version_ > 0;
    for (int s = 0; s < Ranks; ++s) same = same && rows_[s] == rows[static_cast<std::size_t>(s)];
    if (same) return;
    for (int s = 0; s < Ranks; ++s) rows_[s] = rows[static_cast<std::size_t>(s)];
    tabulate();
    even_rows_ = -1;
  }

  /// Changes whenever the row counts do; 0 before the first are set.
  [[nodiscard]] std::uint64_t version() const { return version_; }

  [[nodiscard]] std::int64_t total() const { return first_[Ranks]; }
  [[nodiscard]] row_range shard(int s) const { return {first_[s], rows_[s]}; }

  /// Rows of chunks `chunk` to `chunk + count`, counted from the shard's first row.
  [[nodiscard]] row_range within_shard(int s, int chunk, int count = 1) const {
    return {chunk_first_[s][chunk], chunk_first_[s][chunk + count] - chunk_first_[s][chunk]};
  }

  /// The row at which (shard, chunk) begins when all shards' chunk 0 come first, then all their chunks 1, ...
  [[nodiscard]] std::int64_t by_chunk(int s, int chunk) const { return by_chunk_[chunk][s]; }

 private:
  void tabulate() {
    first_[0] = 0;
    for (int s = 0; s < Ranks; ++s) {
      first_[s + 1] = first_[s] + rows_[s];
      cut_in_proportion(rows_[s], weights_, Chunks, chunk_first_[s]);
    }
    std::int64_t row = 0;
    for (int c = 0; c < Chunks; ++c) {
      for (int s = 0; s < Ranks; ++s) {
        by_chunk_[c][s] = row;
        row += chunk_first_[s][c + 1] - chunk_first_[s][c];
      }
    }
    ++version_;
  }

  int const* weights_;
  std::uint64_t version_ = 0;
  std::int64_t even_rows_ = -1;  ///< the total if the counts are its even split
  std::int64_t rows_[Ranks]{};
  std::int64_t first_[Ranks + 1]{};
  std::int64_t chunk_first_[Ranks][Chunks + 1]{};
  std::int64_t by_chunk_[Chunks][Ranks]{};
};

}  // namespace tpoverlap::inline v0
