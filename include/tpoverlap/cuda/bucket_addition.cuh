// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Defines `cub_kernels`. Include it in one `.cu` file of a program, or in several: the definitions are weak.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/cuda/bucket_addition.hpp>
#include <tpoverlap/cuda/device_guard.hpp>
#include <tpoverlap/cuda/element.hpp>
#include <tpoverlap/cuda/error.hpp>

#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>

#include <cstdint>

namespace tpoverlap::inline v0::cu {

namespace detail {

/// Conversions that round once. Between a 16-bit type and float64 there is none in CUDA's headers but this.
template <class To, class From>
__host__ __device__ To converted(From value) {
  if constexpr (sizeof(From) == 2 && sizeof(To) == 8) {
    return static_cast<To>(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <class To, class Wide>
struct add_in {
  template <class A, class B>
  __host__ __device__ To operator()(A a, B b) const {
    return converted<To>(converted<Wide>(a) + converted<Wide>(b));
  }
};

template <class To>
struct convert_to {
  template <class From>
  __host__ __device__ To operator()(From value) const {
    return converted<To>(value);
  }
};

/// One launch on `count` elements; each element is read before it is written, so `to` may be an operand.
template <class Operation, class To, class... From>
void transform(stream_ref in, std::int64_t count, Operation operation, To* to, From const*... from) {
  device_guard const on{in.device()};
  check(cub::DeviceTransform::Transform(::cuda::std::make_tuple(from...), to, count, operation, in.handle()),
        "cub::DeviceTransform::Transform");
}

/// `Narrow` and `Wide` are one type, or a pair that may be mixed; additions are exact in `Sum`.
template <class Narrow, class Wide, class Sum>
struct kernels_of {
  static constexpr element narrow = element_of<Narrow>;
  static constexpr element wide = element_of<Wide>;

  static bool serves(element type) { return type == narrow || type == wide; }

  static bool add(stream_ref in, device_array to, const_device_array a, const_device_array b,
                  std::int64_t count) {
    if (!serves(to.type) || !serves(a.type) || !serves(b.type)) return false;
    if (a.type == narrow && b.type != narrow)
      return add(in, to, b, a, count);  // a sum of two is the same either way
    return to.type == narrow ? add_to<Narrow>(in, to, a, b, count) : add_to<Wide>(in, to, a, b, count);
  }

  static bool convert(stream_ref in, device_array to, const_device_array from, std::int64_t count) {
    if (to.type == narrow && from.type == wide) {
      transform(in, count, convert_to<Narrow>{}, static_cast<Narrow*>(to.data),
                static_cast<Wide const*>(from.data));
    } else if (to.type == wide && from.type == narrow) {
      transform(in, count, convert_to<Wide>{}, static_cast<Wide*>(to.data),
                static_cast<Narrow const*>(from.data));
    } else {
      return false;
    }
    return true;
  }

 private:
  template <class To>
  static bool add_to(stream_ref in, device_array to, const_device_array a, const_device_array b,
                     std::int64_t count) {
    auto const launch = [&](auto const* left, auto const* right) {
      transform(in, count, add_in<To, Sum>{}, static_cast<To*>(to.data), left, right);
    };
    if (b.type == wide) {
      launch(static_cast<Wide const*>(a.data), static_cast<Wide const*>(b.data));
    } else if (a.type == wide) {
      launch(static_cast<Wide const*>(a.data), static_cast<Narrow const*>(b.data));
    } else {
      launch(static_cast<Narrow const*>(a.data), static_cast<Narrow const*>(b.data));
    }
    return true;
  }
};

/// Tries `f` on each family of types until one takes the operands.
template <class F>
bool any_kernels(F f) {
  return f(kernels_of<__nv_bfloat16, float, float>{}) || f(kernels_of<__half, float, float>{}) ||
         f(kernels_of<float, double, double>{}) || f(kernels_of<__nv_bfloat16, double, double>{}) ||
         f(kernels_of<__half, double, double>{}) ||
         f(kernels_of<std::int32_t, std::int32_t, std::int32_t>{}) ||
         f(kernels_of<std::int64_t, std::int64_t, std::int64_t>{});
}

}  // namespace detail

[[gnu::weak]] void cub_kernels::add(stream_ref in, device_array to, const_device_array a,
                                    const_device_array b, std::int64_t count) {
  if (detail::any_kernels([&](auto family) { return family.add(in, to, a, b, count); })) return;
  bounded_text<200> what;
  what << "no kernel adds " << name_of(a.type) << " and " << name_of(b.type) << " into " << name_of(to.type)
       << "; reduce in float32 (reduction_type::float32), or bring a kernel of your own (adding_with)";
  raise(usage_error{what.view()});
}

[[gnu::weak]] void cub_kernels::convert(stream_ref in, device_array to, const_device_array from,
                                        std::int64_t count) {
  if (detail::any_kernels([&](auto family) { return family.convert(in, to, from, count); })) return;
  bounded_text<200> what;
  what << "no kernel converts " << name_of(from.type) << " to " << name_of(to.type)
       << "; bring one of your own (adding_with)";
  raise(usage_error{what.view()});
}

}  // namespace tpoverlap::inline v0::cu
