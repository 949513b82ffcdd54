// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Whether two views share elements: the cheapest way to find the mistakes that cost the most.
#pragma once

#include <tpoverlap/core/matrix_view.hpp>

#include <cstddef>
#include <cstdint>

namespace tpoverlap::inline v0 {

/// Bytes `first` to `end` that a matrix with `row_bytes` used out of every `row_step` lies in; `row_step` is 0 if it
/// has no rows that repeat at one distance.
struct memory_extent {
  std::uintptr_t first = 0;
  std::uintptr_t end = 0;
  std::uintptr_t row_bytes = 0;
  std::uintptr_t row_step = 0;
};

template <class T>
[[nodiscard]] memory_extent extent_of(matrix_view<T> const& view) {
  if (view.data == nullptr || view.rows == 0 || view.columns == 0) return {};
  auto const first = reinterpret_cast<std::uintptr_t>(view.data);
  auto const bytes = [](std::int64_t elements) { return static_cast<std::uintptr_t>(elements) * sizeof(T); };
  std::uintptr_t const end =
      first + bytes((view.rows - 1) * view.row_stride + (view.columns - 1) * view.column_stride + 1);
  if (view.column_stride == 1) return {first, end, bytes(view.columns), bytes(view.row_stride)};
  if (view.row_stride == 1) return {first, end, bytes(view.rows), bytes(view.column_stride)};
  return {first, end};
}

[[nodiscard]] inline memory_extent extent_of(void const* data, std::size_t bytes) {
  auto const first = reinterpret_cast<std::uintptr_t>(data);
  return {first, first + bytes};
}

/// Exact for blocks of one larger matrix, such as two column ranges of it; otherwise by first and last byte.
[[nodiscard]] inline bool overlap_in_memory(memory_extent const& a, memory_extent const& b) {
  if (a.first == a.end || b.first == b.end || a.end <= b.first || b.end <= a.first) return false;
  bool const same_grid =
      a.row_step != 0 && a.row_step == b.row_step && a.row_bytes <= a.row_step && b.row_bytes <= b.row_step;
  if (!same_grid) return true;
  std::uintptr_t const step = a.row_step;
  std::uintptr_t const
      gap =  // from a column of a to the next column of b, within one row of the larger matrix
      b.first >= a.first ? (b.first - a.first) % step : (step - (a.first - b.first) % step) % step;
  return gap < a.row_bytes || gap + b.row_bytes > step;
}

}  // namespace tpoverlap::inline v0
