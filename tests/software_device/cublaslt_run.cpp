// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The product itself: plain loops.
#include "cublaslt_types.hpp"
#include "memory.hpp"
#include "numeric.hpp"

#include <bit>
#include <cmath>
#include <cstring>

namespace software_device {
namespace {

/// Rounds to the ten bits of mantissa that a TF32 operand keeps.
float to_tf32(float value) {
  if (!std::isfinite(value)) return value;
  auto bits = std::bit_cast<std::uint32_t>(value);
  constexpr std::uint32_t dropped = 13;
  bits += (std::uint32_t{1} << (dropped - 1)) - 1 + ((bits >> dropped) & 1U);
  return std::bit_cast<float>(bits & ~((std::uint32_t{1} << dropped) - 1));
}

template <class Sum, class T>
Sum element_of(layout_fields const& layout, void const* data, std::uint64_t r, std::uint64_t c,
               std::int32_t batch) {
  T value;
  std::memcpy(&value,
              static_cast<std::byte const*>(alias_of(data)) + layout.offset(r, c, batch) * sizeof value,
              sizeof value);
  return static_cast<Sum>(widened(value));
}

/// op(m), row by row, in the type of the sums.
template <class Sum>
std::vector<Sum> operand(layout_fields const& layout, void const* data, bool transposed, bool tf32,
                         std::int32_t batch) {
  auto const rows = transposed ? layout.columns : layout.rows;
  auto const columns = transposed ? layout.rows : layout.columns;
  std::vector<Sum> result(rows * columns);
  with_type(layout.type, [&](auto any) {
    for (std::uint64_t r = 0; r < rows; ++r)
      for (std::uint64_t c = 0; c < columns; ++c) {
        auto value =
            element_of<Sum, decltype(any)>(layout, data, transposed ? c : r, transposed ? r : c, batch);
        if (tf32) value = static_cast<Sum>(to_tf32(static_cast<float>(value)));
        result[r * columns + c] = value;
      }
  });
  return result;
}

float scale_at(void const* pointer) {
  float value = 1;
  if (pointer != nullptr) std::memcpy(&value, alias_of(pointer), sizeof value);
  return value;
}

template <class Sum>
void multiply_in(product const& what) {
  auto const& how = what.how;
  auto const tf32 = how.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  auto const scale = static_cast<Sum>(scale_at(how.scale_a)) * static_cast<Sum>(scale_at(how.scale_b));
  auto const out_scale = static_cast<Sum>(scale_at(how.scale_d));
  for (std::int32_t batch = 0; batch < what.d.batches; ++batch) {
    auto const a = operand<Sum>(what.a, what.a_data, how.transpose_a != CUBLAS_OP_N, tf32, batch);
    auto const b = operand<Sum>(what.b, what.b_data, how.transpose_b != CUBLAS_OP_N, tf32, batch);
    auto const rows = what.d.rows;
    auto const columns = what.d.columns;
    auto const inner = a.size() / rows;
    std::vector<Sum> sums(columns);
    for (std::uint64_t r = 0; r < rows; ++r) {
      std::fill(sums.begin(), sums.end(), Sum{});
      for (std::uint64_t k = 0; k < inner; ++k) {
        auto const left = a[r * inner + k];
        for (std::uint64_t c = 0; c < columns; ++c) sums[c] += left * b[k * columns + c];
      }
      for (std::uint64_t c = 0; c < columns; ++c) {
        auto value = static_cast<Sum>(what.alpha) * scale * sums[c];
        if (what.beta != 0)
          with_type(what.c.type, [&](auto any) {
            value += static_cast<Sum>(what.beta) *
                     element_of<Sum, decltype(any)>(what.c, what.c_data, r, c, batch);
          });
        with_type(what.d.type, [&](auto any) {
          using element = decltype(any);
          auto const stored = narrowed<element>(static_cast<wide<element>>(value * out_scale));
          std::memcpy(static_cast<std::byte*>(alias_of(what.d_data)) +
                          what.d.offset(r, c, batch) * sizeof stored,
                      &stored, sizeof stored);
        });
      }
    }
  }
}

}  // namespace

void multiply(product const& what) {
  if (what.how.compute == CUBLAS_COMPUTE_64F)
    multiply_in<double>(what);
  else
    multiply_in<float>(what);
}

void add_accesses(std::vector<memory_access>& to, layout_fields const& layout, void const* data,
                  bool writes) {
  auto const bytes = bytes_of(layout.type);
  auto const by_column = layout.order == CUBLASLT_ORDER_COL;
  for (std::int32_t batch = 0; batch < layout.batches; ++batch)
    to.push_back({static_cast<std::byte const*>(data) + layout.offset(0, 0, batch) * bytes,
                  (by_column ? layout.rows : layout.columns) * bytes, writes,
                  by_column ? layout.columns : layout.rows, static_cast<std::size_t>(layout.ld) * bytes});
}

}  // namespace software_device
