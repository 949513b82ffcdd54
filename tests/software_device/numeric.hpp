// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Element types of NCCL and cuBLASLt as C++ types, with the conversions of the toolkit's own headers.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <library_types.h>
#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace software_device {

/// The type that values of `T` are added and multiplied in.
template <class T>
using wide = std::conditional_t<std::is_arithmetic_v<T>, T, float>;

template <class T>
wide<T> widened(T value) {
  return static_cast<wide<T>>(value);
}

template <class T>
T narrowed(wide<T> value) {
  return static_cast<T>(value);
}

/// Calls `body` with a value of the type that `type` names; false if there is none.
template <class Body>
bool with_type(ncclDataType_t type, Body&& body) {
  switch (type) {
    case ncclInt8: body(std::int8_t{}); return true;
    case ncclUint8: body(std::uint8_t{}); return true;
    case ncclInt32: body(std::int32_t{}); return true;
    case ncclUint32: body(std::uint32_t{}); return true;
    case ncclInt64: body(std::int64_t{}); return true;
    case ncclUint64: body(std::uint64_t{}); return true;
    case ncclFloat16: body(__half{}); return true;
    case ncclBfloat16: body(__nv_bfloat16{}); return true;
    case ncclFloat32: body(float{}); return true;
    case ncclFloat64: body(double{}); return true;
    case ncclFloat8e4m3: body(__nv_fp8_e4m3{}); return true;
    case ncclFloat8e5m2: body(__nv_fp8_e5m2{}); return true;
    default: return false;
  }
}

template <class Body>
bool with_type(cudaDataType type, Body&& body) {
  switch (type) {
    case CUDA_R_32F: body(float{}); return true;
    case CUDA_R_64F: body(double{}); return true;
    case CUDA_R_16F: body(__half{}); return true;
    case CUDA_R_16BF: body(__nv_bfloat16{}); return true;
    case CUDA_R_8F_E4M3: body(__nv_fp8_e4m3{}); return true;
    case CUDA_R_8F_E5M2: body(__nv_fp8_e5m2{}); return true;
    default: return false;
  }
}

template <class Type>
std::size_t bytes_of(Type type) {
  std::size_t bytes = 0;
  with_type(type, [&](auto value) { bytes = sizeof value; });
  return bytes;
}

}  // namespace software_device
