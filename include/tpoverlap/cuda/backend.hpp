// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The CUDA backend: streams, events, and the element-wise work of a schedule.
#pragma once

#include <tpoverlap/concepts/backend.hpp>
#include <tpoverlap/core/element.hpp>
#include <tpoverlap/cuda/bucket_addition.hpp>
#include <tpoverlap/cuda/device_guard.hpp>
#include <tpoverlap/cuda/element.hpp>
#include <tpoverlap/cuda/error.hpp>
#include <tpoverlap/cuda/event.hpp>
#include <tpoverlap/cuda/stream.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tpoverlap::inline v0::cu {

/// Models the concept `tpoverlap::backend` with CUDA streams. `Kernels` has the static functions of `cub_kernels`.
///
/// **Units** `count` is in elements; arrays are contiguous memory of the stream's device.
/// **Ordering** every function returns at once; the work runs in the order of the stream. Nothing synchronizes.
/// **Errors** `cuda_error` where a call cannot be issued.
template <class Kernels>
struct basic_backend {
  using stream = stream_ref;
  using event = cu::event;

  static void prepare(event& mark, stream_ref in) { mark.prepare(in); }
  static void record(event& mark, stream_ref in) { mark.record(in); }
  static void wait(stream_ref in, event const& mark) { mark.wait(in); }

  template <class To, class From>
  static void copy(stream_ref in, To* to, From const* from, std::int64_t count) {
    if (count <= 0) return;
    if constexpr (std::is_same_v<To, From>) {
      if (to == from) return;
      device_guard const on{in.device()};
      detail::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(To),
                                    cudaMemcpyDeviceToDevice, in.handle()),
                    "cudaMemcpyAsync");
    } else {
      Kernels::convert(in, {to, element_of<To>}, {from, element_of<From>}, count);
    }
  }

  template <class To, class A, class B>
  static void add(stream_ref in, To* to, A const* a, B const* b, std::int64_t count) {
    if (count <= 0) return;
    Kernels::add(in, {to, element_of<To>}, {a, element_of<A>}, {b, element_of<B>}, count);
  }
};

using backend = basic_backend<cub_kernels>;

static_assert(tpoverlap::backend<backend>);

/// A communicator whose buckets are added by `Kernels`, a type with the static functions of `cub_kernels`:
///
///     struct my_kernels {
///       static void add(cu::stream_ref, cu::device_array to, cu::const_device_array a, cu::const_device_array b,
///                       std::int64_t count);
///       static void convert(cu::stream_ref, cu::device_array to, cu::const_device_array from, std::int64_t count);
///     };
///     cu::adding_with<my_kernels, cu::nccl_communicator> comm{...};
template <class Kernels, class Communicator>
class adding_with : public Communicator {
 public:
  using backend = basic_backend<Kernels>;
  using Communicator::Communicator;
};

}  // namespace tpoverlap::inline v0::cu
