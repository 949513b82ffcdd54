// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Inputs that every rank can make for every other one, memory that is NaN until somebody writes it, and comparisons
//! that NaN cannot pass.
#pragma once

#include <tpoverlap/core/matrix_view.hpp>
#include <tpoverlap/core/partition.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace tpoverlap_test {

using namespace tpoverlap;

/// Fails the rank or stream that calls it; `comm.wait` and `run_ranks` hand the failure to the test. Catch's macros
/// are for one thread only.
inline void require(bool holds, std::string const& what) {
  if (!holds) throw std::runtime_error{what};
}

/// What a matrix is filled with: integers from -3 to 3, whose sums are exact in any order, or fractions.
enum class filling { integers, fractions };

/// Element (row, column) of the matrix `seed`, the same on every rank.
inline double value(filling with, std::uint64_t seed, std::int64_t row, std::int64_t column) {
  std::uint64_t bits = seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(row) * 0xbf58476d1ce4e5b9u +
                       static_cast<std::uint64_t>(column) * 0x94d049bb133111ebu;
  bits = (bits ^ (bits >> 31)) * 0xd6e8feb86659fd93u;
  bits ^= bits >> 32;
  if (with == filling::integers) return static_cast<double>(bits % 7) - 3;
  return static_cast<double>(bits % 20011) / 10007 - 1;
}

/// Row-major memory that starts as NaN and may be larger than a call needs.
template <class T>
class matrix {
 public:
  matrix() = default;
  matrix(std::int64_t rows, std::int64_t columns) { resize(rows, columns); }

  void resize(std::int64_t rows, std::int64_t columns) {
    rows_ = rows;
    columns_ = columns;
    elements_.assign(static_cast<std::size_t>(rows * columns), std::numeric_limits<T>::quiet_NaN());
  }

  [[nodiscard]] matrix_view<T> view() { return {elements_.data(), rows_, columns_}; }
  [[nodiscard]] matrix_view<T const> view() const { return {elements_.data(), rows_, columns_}; }
  /// The first `rows` rows, as if the matrix had no more.
  [[nodiscard]] matrix_view<T> top(std::int64_t rows) { return {elements_.data(), rows, columns_}; }

 private:
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::vector<T> elements_;
};

/// Bytes that are NaN in every floating-point type, at a multiple of `alignment`.
class nan_bytes {
 public:
  explicit nan_bytes(std::size_t bytes = 0, std::size_t alignment = 64)
      : memory_(bytes + alignment), bytes_{bytes} {
    auto const past = reinterpret_cast<std::uintptr_t>(memory_.data()) % alignment;
    first_ = memory_.data() + (alignment - past) % alignment;
    fill();
  }
  void fill() {
    if (bytes_ > 0) std::memset(first_, 0xff, bytes_);
  }
  [[nodiscard]] std::span<std::byte> span() const { return {first_, bytes_}; }

 private:
  std::vector<std::byte> memory_;
  std::size_t bytes_;
  std::byte* first_ = nullptr;
};

template <class T>
void fill(matrix_view<T> const& to, filling with, std::uint64_t seed, std::int64_t first_row = 0) {
  for (std::int64_t i = 0; i < to.rows; ++i)
    for (std::int64_t j = 0; j < to.columns; ++j)
      to(i, j) = static_cast<T>(value(with, seed, first_row + i, j));
}

template <class T>
void fill_nan(matrix_view<T> const& to) {
  for (std::int64_t i = 0; i < to.rows; ++i)
    for (std::int64_t j = 0; j < to.columns; ++j) to(i, j) = std::numeric_limits<T>::quiet_NaN();
}

[[noreturn]] inline void fail_at(std::string const& what, std::int64_t row, std::int64_t column, double is,
                                 double should) {
  throw std::runtime_error{what + ": (" + std::to_string(row) + ", " + std::to_string(column) + ") is " +
                           std::to_string(is) + ", should be " + std::to_string(should)};
}

/// Every element of `is` is finite and equal to `should(row, column)`.
template <class T, class Should>
void require_equal(std::string const& what, matrix_view<T> const& is, Should should) {
  for (std::int64_t i = 0; i < is.rows; ++i) {
    for (std::int64_t j = 0; j < is.columns; ++j) {
      double const expected = static_cast<double>(should(i, j));
      if (!std::isfinite(is(i, j)) || static_cast<double>(is(i, j)) != expected)
        fail_at(what, i, j, static_cast<double>(is(i, j)), expected);
    }
  }
}

/// Every element of `is` is finite and has the bits of `should`'s.
template <class T, class U>
void require_same_bits(std::string const& what, matrix_view<T> const& is, matrix_view<U> const& should) {
  require(is.rows == should.rows && is.columns == should.columns, what + ": other shape");
  for (std::int64_t i = 0; i < is.rows; ++i) {
    for (std::int64_t j = 0; j < is.columns; ++j) {
      T const left = is(i, j);
      T const right = should(i, j);
      if (!std::isfinite(left) || std::memcmp(&left, &right, sizeof(T)) != 0)
        fail_at(what, i, j, static_cast<double>(left), static_cast<double>(right));
    }
  }
}

/// The rows of every shard: those of the call, or the even split.
inline std::vector<row_range> shards_of(std::vector<std::int64_t> const& rows, std::int64_t total,
                                        int ranks) {
  std::vector<row_range> shards;
  std::int64_t first = 0;
  for (int s = 0; s < ranks; ++s) {
    // The even split is written out here once more: what the library computes is under test.
    std::int64_t const count =
        rows.empty() ? total / ranks + (s < total % ranks ? 1 : 0) : rows[static_cast<std::size_t>(s)];
    shards.push_back({first, count});
    first += count;
  }
  return shards;
}

/// Chunk `chunk` of a shard whose chunks have the relative sizes `weights`, in the rows of the whole matrix: row after row
/// goes to the chunk that has least of what its weight asks for.
inline row_range chunk_of(row_range shard, int chunk, std::vector<int> const& weights) {
  std::vector<std::int64_t> counts(weights.size(), 0);
  for (std::int64_t row = 0; row < shard.count; ++row) {
    std::size_t next = 0;
    for (std::size_t c = 1; c < weights.size(); ++c) {
      if (weights[c] * (counts[next] + 1) > weights[next] * (counts[c] + 1)) next = c;
    }
    ++counts[next];
  }
  std::int64_t first = shard.first;
  for (int c = 0; c < chunk; ++c) first += counts[static_cast<std::size_t>(c)];
  return {first, counts[static_cast<std::size_t>(chunk)]};
}

}  // namespace tpoverlap_test
