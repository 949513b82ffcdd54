// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Operands of small whole numbers, which every rank can make for any other, and whose sums are exact in any order.
#pragma once

#include "switched_gemm.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// A matrix that owns its elements.
class matrix {
 public:
  matrix(std::int64_t rows, std::int64_t columns)
      : elements_(static_cast<std::size_t>(rows * columns)), rows_{rows}, columns_{columns} {}

  [[nodiscard]] output view() { return {elements_.data(), rows_, columns_}; }
  [[nodiscard]] input view() const { return {elements_.data(), rows_, columns_}; }

 private:
  std::vector<float> elements_;
  std::int64_t rows_;
  std::int64_t columns_;
};

/// Names a matrix of the whole world (`rank` -1), or one rank's own.
struct matrix_name {
  char letter = 'x';
  int rank = -1;
};

/// Rows `first_row` on of a matrix of -2, -1, 1 and 2, without pattern. Sums of products grow with the square root of
/// their length, so that those of an MLP stay far below 2^24, where float stops being exact.
[[nodiscard]] matrix numbers(matrix_name name, std::int64_t rows, std::int64_t columns,
                             std::int64_t first_row = 0);

void fill_with_nan(output m);

/// Empty if the two are the same to the last bit, or where they differ. A NaN is the same as nothing.
[[nodiscard]] std::string difference(char const* name, input got, input expected);

/// `c = a · b + beta · c` on this rank alone; done on return.
void multiply(input a, input b, output c, float beta = 0);

/// `c += a` for contiguous matrices of one shape.
void add_to(output c, input a);

}  // namespace bench
