// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! CUDA's own number types as elements, and what the runtime's libraries call each element.
#pragma once

#include <tpoverlap/core/element.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <library_types.h>

namespace tpoverlap::inline v0 {

template <>
struct element_traits<__half> {
  static constexpr element value = element::float16;
};
template <>
struct element_traits<__nv_bfloat16> {
  static constexpr element value = element::bfloat16;
};
template <>
struct element_traits<__nv_fp8_e4m3> {
  static constexpr element value = element::float8_e4m3;
};
template <>
struct element_traits<__nv_fp8_e5m2> {
  static constexpr element value = element::float8_e5m2;
};

namespace cu {

[[nodiscard]] constexpr bool is_float8(element type) noexcept {
  return type == element::float8_e4m3 || type == element::float8_e5m2;
}

/// The name of an element in cuBLAS and its relatives.
[[nodiscard]] constexpr cudaDataType_t data_type_of(element type) noexcept {
  switch (type) {
    case element::float64: return CUDA_R_64F;
    case element::float32: return CUDA_R_32F;
    case element::float16: return CUDA_R_16F;
    case element::bfloat16: return CUDA_R_16BF;
    case element::float8_e4m3: return CUDA_R_8F_E4M3;
    case element::float8_e5m2: return CUDA_R_8F_E5M2;
    case element::int32: return CUDA_R_32I;
    case element::int64: return CUDA_R_64I;
  }
  return CUDA_R_32F;
}

}  // namespace cu

}  // namespace tpoverlap::inline v0
