// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The element-wise kernels of a schedule, as calls that any compiler can make.
#pragma once

#include <tpoverlap/core/element.hpp>
#include <tpoverlap/cuda/stream.hpp>

#include <cstdint>

namespace tpoverlap::inline v0::cu {

/// Contiguous elements in device memory whose type is a value.
struct device_array {
  void* data = nullptr;
  element type = element::float32;
};
struct const_device_array {
  void const* data = nullptr;
  element type = element::float32;
};

/// Kernels made with CUB. They are defined in <tpoverlap/cuda/bucket_addition.cuh>, which one or more `.cu` files of a
/// program include; a program that never adds buckets (an AllGather's rings) needs none. A program with kernels of its
/// own gives a communicator another type with these two functions: `adding_with` in backend.hpp.
struct cub_kernels {
  /// `to[i] = a[i] + b[i]`, added in float32 for 16-bit operands and otherwise in the widest type of the three, rounded
  /// once. `to` is one of the operands or overlaps neither.
  ///
  /// **Units** `count` elements; the types are float64, float32, float16, bfloat16, int32 or int64. Types may be mixed
  /// if they are a 16-bit type and one of float32 and float64, or those two.
  /// **Ordering** returns at once; runs in the order of the stream, on its device.
  /// **Errors** `usage_error` for other types; nothing is launched then.
  static void add(stream_ref in, device_array to, const_device_array a, const_device_array b,
                  std::int64_t count);

  /// `to[i] = from[i]`, converted, for the same pairs of types.
  static void convert(stream_ref in, device_array to, const_device_array from, std::int64_t count);
};

}  // namespace tpoverlap::inline v0::cu
