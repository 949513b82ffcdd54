// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! How a strided view looks to a BLAS, which knows row-major and column-major matrices with a leading dimension.
#pragma once

#include <tpoverlap/core/matrix_view.hpp>

#include <cstdint>

namespace tpoverlap::inline v0 {

enum class storage_order : std::uint8_t { neither, by_rows, by_columns };

/// Strides along a dimension of size 0 or 1 mean nothing and may be anything, but a BLAS wants a leading dimension no
/// smaller than a row even if there is only one. What could be either is taken as by rows.
struct blas_storage {
  template <class T>
  explicit constexpr blas_storage(matrix_view<T> const& view) {
    auto const at_least_one = [](std::int64_t value) { return value > 1 ? value : std::int64_t{1}; };
    auto const row = at_least_one(view.columns);
    auto const column = at_least_one(view.rows);
    if (view.rows == 0 || view.columns == 0) {
      order = storage_order::by_rows;
      leading = row;
    } else if ((view.columns <= 1 || view.column_stride == 1) && (view.rows <= 1 || view.row_stride >= row)) {
      order = storage_order::by_rows;
      leading = view.rows <= 1 ? row : view.row_stride;
    } else if ((view.rows <= 1 || view.row_stride == 1) &&
               (view.columns <= 1 || view.column_stride >= column)) {
      order = storage_order::by_columns;
      leading = view.columns <= 1 ? column : view.column_stride;
    }
  }

  storage_order order = storage_order::neither;
  std::int64_t leading = 1;
};

}  // namespace tpoverlap::inline v0
