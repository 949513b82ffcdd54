// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "values.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <limits>

namespace bench {

namespace {

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): every bit of `key` changes half of the bits of the result.
std::uint64_t scattered(std::uint64_t key) {
  key += 0x9e3779b97f4a7c15;
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;
  key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
  return key ^ (key >> 31);
}

}  // namespace

matrix numbers(matrix_name name, std::int64_t rows, std::int64_t columns, std::int64_t first_row) {
  constexpr float values[] = {-2, -1, 1, 2};
  matrix made{rows, columns};
  output const m = made.view();
  auto const seed =
      scattered(static_cast<std::uint64_t>(name.letter) << 32 | static_cast<std::uint32_t>(name.rank));
  for (std::int64_t i = 0; i < rows; ++i) {
    auto const row = scattered(seed + static_cast<std::uint64_t>(first_row + i));
    for (std::int64_t j = 0; j < columns; ++j)
      m(i, j) = values[scattered(row + static_cast<std::uint64_t>(j)) >> 62];
  }
  return made;
}

void fill_with_nan(output m) { std::fill_n(m.data, m.size(), std::numeric_limits<float>::quiet_NaN()); }

std::string difference(char const* name, input got, input expected) {
  std::int64_t wrong = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
  for (std::int64_t i = 0; i < expected.rows; ++i) {
    for (std::int64_t j = 0; j < expected.columns; ++j) {
      if (got(i, j) == expected(i, j)) continue;
      if (wrong++ > 0) continue;
      row = i;
      column = j;
    }
  }
  if (wrong == 0) return {};
  char text[200];
  std::snprintf(text, sizeof text, "%s(%lld, %lld) is %g and should be %g; %lld of %lld elements are wrong",
                name, static_cast<long long>(row), static_cast<long long>(column),
                static_cast<double>(got(row, column)), static_cast<double>(expected(row, column)),
                static_cast<long long>(wrong), static_cast<long long>(expected.size()));
  return text;
}

void multiply(input a, input b, output c, float beta) {
  stream in;
  tpoverlap::host::blas_gemm<float>{}(in, a, b, c, beta);
  in.synchronize();
}

void add_to(output c, input a) {
  for (std::int64_t i = 0; i < c.size(); ++i) c.data[i] += a.data[i];
}

}  // namespace bench
