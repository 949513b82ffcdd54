// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The arithmetic of a reduction: adds the ranks' contributions in ring order, from where they lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <tpoverlap/core/element.hpp>
#include <tpoverlap/host/detail/add_arrays.hpp>

namespace tpoverlap::inline v0::host::detail {

[[nodiscard]] constexpr bool can_sum(element type) noexcept {
  return type == element::float64 || type == element::float32 || type == element::int32 ||
         type == element::int64;
}

/// `result = ((source(0) + source(1)) + ...) + own`, with `count` sources of `elements` elements each.
/// `result` may be `own`: a block is summed on the stack before it is written.
template <class T, class Source>
void sum_pieces(int count, Source source, T const* own, T* result, std::int64_t elements) {
  constexpr std::int64_t block = 1024;
  T sum[block];
  for (std::int64_t first = 0; first < elements; first += block) {
    auto const length = elements - first < block ? elements - first : block;
    auto const bytes = static_cast<std::size_t>(length) * sizeof(T);
    for (int i = 0; i < count; ++i) {
      auto const* const from = static_cast<T const*>(source(i)) + first;
      if (i == 0) {
        std::memcpy(sum, from, bytes);
      } else {
        accumulate_apart<T>(sum, from, length);
      }
    }
    if (count == 0) {
      std::memcpy(sum, own + first, bytes);
    } else {
      accumulate_apart<T>(sum, own + first, length);
    }
    std::memcpy(result + first, sum, bytes);
  }
}

/// As above, for a type known at run time that `can_sum`. `source(i)` returns `void const*`.
template <class Source>
void sum_pieces(int count, Source source, void const* own, void* result, std::int64_t elements,
                element type) {
  auto const as = [&]<class T>(T const*) {
    sum_pieces(count, source, static_cast<T const*>(own), static_cast<T*>(result), elements);
  };
  switch (type) {
    case element::float64: return as(static_cast<double const*>(nullptr));
    case element::float32: return as(static_cast<float const*>(nullptr));
    case element::int32: return as(static_cast<std::int32_t const*>(nullptr));
    case element::int64: return as(static_cast<std::int64_t const*>(nullptr));
    default: return;
  }
}

}  // namespace tpoverlap::inline v0::host::detail
