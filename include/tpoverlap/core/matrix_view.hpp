// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A strided view of a matrix that somebody else owns. A transpose is a view, too.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tpoverlap::inline v0 {

/// **Shapes** `rows` × `columns`; element (i, j) lies at `data[i * row_stride + j * column_stride]`.
/// **Units** strides count elements.
template <class T>
struct matrix_view {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;

  constexpr matrix_view() = default;

  /// Row-major and without gaps.
  constexpr matrix_view(T* first, std::int64_t row_count, std::int64_t column_count)
      : data{first}, rows{row_count}, columns{column_count}, row_stride{column_count} {}

  constexpr matrix_view(T* first, std::int64_t row_count, std::int64_t column_count, std::int64_t row_step,
                        std::int64_t column_step = 1)
      : data{first},
        rows{row_count},
        columns{column_count},
        row_stride{row_step},
        column_stride{column_step} {}

  /// A view for reading converts from a view for writing.
  template <class U>
    requires(std::is_const_v<T>&& std::is_same_v<U const, T>)
  constexpr matrix_view(matrix_view<U> const& other)
      : data{other.data},
        rows{other.rows},
        columns{other.columns},
        row_stride{other.row_stride},
        column_stride{other.column_stride} {}

  constexpr T& operator()(std::int64_t row, std::int64_t column) const {
    return data[row * row_stride + column * column_stride];
  }

  /// Rows `first` to `first + count` of this view.                                          // (count, columns)
  [[nodiscard]] constexpr matrix_view row_range(std::int64_t first, std::int64_t count) const {
    return {data + first * row_stride, count, columns, row_stride, column_stride};
  }

  /// Columns `first` to `first + count` of this view.                                          // (rows, count)
  [[nodiscard]] constexpr matrix_view column_range(std::int64_t first, std::int64_t count) const {
    return {data + first * column_stride, rows, count, row_stride, column_stride};
  }

  [[nodiscard]] constexpr matrix_view transposed() const {  // (columns, rows)
    return {data, columns, rows, column_stride, row_stride};
  }

  /// Whether the elements follow each other row by row without gaps, as a message needs them.
  [[nodiscard]] constexpr bool contiguous() const {
    return (columns <= 1 || column_stride == 1) && (rows <= 1 || row_stride == columns);
  }

  [[nodiscard]] constexpr std::int64_t size() const { return rows * columns; }

  /// Whether two views are of the same elements in the same order; the elements are not looked at.
  friend constexpr bool operator==(matrix_view const&, matrix_view const&) = default;
};

}  // namespace tpoverlap::inline v0
