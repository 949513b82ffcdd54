// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The kernels that <tpoverlap/cuda/bucket_addition.cuh> defines with CUB, as loops on the software device.

#include "../software_device/control.hpp"

#include <tpoverlap/cuda/bucket_addition.hpp>
#include <tpoverlap/cuda/device_guard.hpp>
#include <tpoverlap/cuda/element.hpp>
#include <tpoverlap/cuda/error.hpp>

#include <cstring>
#include <stdexcept>

namespace {

namespace device = software_device;
using namespace tpoverlap;

template <class T>
double load(std::byte const* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (std::is_same_v<T, double>) {
    return value;
  } else {
    return static_cast<double>(static_cast<float>(value));
  }
}

double element_at(void const* data, element type, std::int64_t i) {
  auto const* const at = static_cast<std::byte const*>(data) + static_cast<std::size_t>(i) * size_of(type);
  switch (type) {
    case element::float64: return load<double>(at);
    case element::float32: return load<float>(at);
    case element::float16: return load<__half>(at);
    case element::bfloat16: return load<__nv_bfloat16>(at);
    default: throw std::logic_error{"the tests add floating-point types only"};
  }
}

template <class T>
void store(std::byte* to, double value) {
  auto rounded = [&] {
    if constexpr (std::is_same_v<T, double>) {
      return value;
    } else {
      return static_cast<T>(static_cast<float>(value));
    }
  }();
  std::memcpy(to, &rounded, sizeof rounded);
}

void put(void* data, element type, std::int64_t i, double value) {
  auto* const at = static_cast<std::byte*>(data) + static_cast<std::size_t>(i) * size_of(type);
  switch (type) {
    case element::float64: return store<double>(at, value);
    case element::float32: return store<float>(at, value);
    case element::float16: return store<__half>(at, value);
    case element::bfloat16: return store<__nv_bfloat16>(at, value);
    default: throw std::logic_error{"the tests add floating-point types only"};
  }
}

std::size_t bytes(element type, std::int64_t count) {
  return size_of(type) * static_cast<std::size_t>(count);
}

void launch(cu::stream_ref in, char const* name, std::span<device::memory_access const> touched,
            auto kernel) {
  device::inside const not_the_librarys;  // the allocation of a std::function
  cu::device_guard const on{in.device()};
  cu::detail::check(device::launch(in.handle(), name, touched, std::move(kernel)), name);
}

}  // namespace

namespace tpoverlap::inline v0::cu {

void cub_kernels::add(stream_ref in, device_array to, const_device_array a, const_device_array b,
                      std::int64_t count) {
  device::memory_access const touched[] = {{a.data, bytes(a.type, count), false},
                                           {b.data, bytes(b.type, count), false},
                                           {to.data, bytes(to.type, count), true}};
  launch(in, "an addition", touched, [=] {
    for (std::int64_t i = 0; i < count; ++i)
      put(device::on_device(to.data), to.type, i,
          element_at(device::on_device(a.data), a.type, i) +
              element_at(device::on_device(b.data), b.type, i));
  });
}

void cub_kernels::convert(stream_ref in, device_array to, const_device_array from, std::int64_t count) {
  device::memory_access const touched[] = {{from.data, bytes(from.type, count), false},
                                           {to.data, bytes(to.type, count), true}};
  launch(in, "a conversion", touched, [=] {
    for (std::int64_t i = 0; i < count; ++i)
      put(device::on_device(to.data), to.type, i, element_at(device::on_device(from.data), from.type, i));
  });
}

}  // namespace tpoverlap::inline v0::cu
