// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Checks of operands before anything is launched, each with a sentence that names what is wrong.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/matrix_view.hpp>
#include <tpoverlap/core/memory_overlap.hpp>

#include <cstddef>
#include <cstdint>

namespace tpoverlap::inline v0::detail {

template <class T>
void check_operand(char const* name, matrix_view<T> const& view, std::int64_t rows, std::int64_t columns,
                   int rank) {
  if (view.rows != rows || view.columns != columns) {
    bounded_text<240> what;
    what << name << " is (" << view.rows << ", " << view.columns << "), but has to be (" << rows << ", "
         << columns
         << "); pass a view of that shape, or the row counts of this call in call_options::shard_rows";
    raise(usage_error{what.view(), rank});
  }
  if (view.data == nullptr && view.size() > 0) {
    bounded_text<160> what;
    what << name << " has no memory (null data) for its " << view.rows << " x " << view.columns
         << " elements; pass a view of allocated memory";
    raise(usage_error{what.view(), rank});
  }
}

/// Rows that travel in messages lie without gaps.
template <class T>
void check_contiguous(char const* name, matrix_view<T> const& view, int rank) {
  if (view.contiguous()) return;
  bounded_text<200> what;
  what << name << " has gaps between its rows (row stride " << view.row_stride << ", column stride "
       << view.column_stride << "), but is sent in one piece; pass a contiguous matrix";
  raise(usage_error{what.view(), rank});
}

inline void check_disjoint(char const* name, memory_extent const& a, char const* other,
                           memory_extent const& b, int rank) {
  if (!overlap_in_memory(a, b)) return;
  bounded_text<200> what;
  what << name << " and " << other
       << " overlap in memory, but one of them is written while the other is in use; "
       << "give them memory of their own";
  raise(usage_error{what.view(), rank});
}

}  // namespace tpoverlap::inline v0::detail
