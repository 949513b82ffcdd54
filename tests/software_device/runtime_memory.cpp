// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Exported: memory, copies and sets of the CUDA runtime.
#include "api_call.hpp"
#include "capture.hpp"
#include "memory.hpp"

#include <cuda_runtime_api.h>

#include <cstring>

using namespace software_device;

namespace {

constexpr std::size_t malloc_alignment = 256;

/// A rectangle of bytes; `rows` = 1 for a run.
struct rectangle {
  std::byte* data;
  std::size_t pitch;
};

struct copy_plan {
  rectangle to;
  rectangle from;
  std::size_t bytes;  // of a row
  std::size_t rows;
};

bool is_pageable(void const* pointer) { return find_allocation(pointer) == nullptr; }

bool fits(rectangle const& which, std::size_t bytes, std::size_t rows) {
  return which.data != nullptr && inside_one_allocation(which.data, (rows - 1) * which.pitch + bytes);
}

bool kind_is_true(cudaMemcpyKind kind, bool to_device, bool from_device) {
  switch (kind) {
    case cudaMemcpyHostToHost: return !to_device && !from_device;
    case cudaMemcpyHostToDevice: return to_device && !from_device;
    case cudaMemcpyDeviceToHost: return !to_device && from_device;
    case cudaMemcpyDeviceToDevice: return to_device && from_device;
    default: return true;
  }
}

void copy_rows(rectangle to, rectangle from, std::size_t bytes, std::size_t rows) {
  auto* const target = static_cast<std::byte*>(alias_of(to.data));
  auto const* const source = static_cast<std::byte const*>(alias_of(from.data));
  for (std::size_t r = 0; r < rows; ++r) std::memmove(target + r * to.pitch, source + r * from.pitch, bytes);
}

/// Accesses of memory that the device knows. Copies reach every device's memory, whatever peers are allowed.
std::vector<memory_access> touched_by(copy_plan const& plan) {
  std::vector<memory_access> result;
  if (!is_pageable(plan.from.data))
    result.push_back({plan.from.data, plan.bytes, false, plan.rows, plan.from.pitch});
  if (!is_pageable(plan.to.data))
    result.push_back({plan.to.data, plan.bytes, true, plan.rows, plan.to.pitch});
  return result;
}

cudaError_t copy(copy_plan const& plan, cudaMemcpyKind kind, cudaStream_t handle, bool blocking) {
  if (plan.bytes == 0 || plan.rows == 0) return cudaSuccess;
  if (plan.rows > 1 && (plan.to.pitch < plan.bytes || plan.from.pitch < plan.bytes))
    return cudaErrorInvalidValue;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (!fits(plan.to, plan.bytes, plan.rows) || !fits(plan.from, plan.bytes, plan.rows))
    return cudaErrorInvalidValue;
  if (!kind_is_true(kind, is_device_memory(plan.to.data), is_device_memory(plan.from.data)))
    return cudaErrorInvalidValue;
  if (blocking)
    if (auto const error = refuse_unsafe_call(); error != cudaSuccess) return error;
  auto* const stream = stream_of(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  auto const captured = stream->captures.load();

  operation what{.name = "a copy",
                 .type = cudaGraphNodeTypeMemcpy,
                 .accesses = touched_by(plan),
                 .reaches_all_devices = true};
  if (is_pageable(plan.from.data) && !blocking && !captured) {
    // The host's memory may be reused when the call returns, so it is read now.
    auto staged = std::make_shared<std::vector<std::byte>>(plan.bytes * plan.rows);
    copy_rows({staged->data(), plan.bytes}, plan.from, plan.bytes, plan.rows);
    what.run = [plan, staged](run_context&) {
      copy_rows(plan.to, {staged->data(), plan.bytes}, plan.bytes, plan.rows);
    };
  } else {
    what.run = [plan](run_context&) { copy_rows(plan.to, plan.from, plan.bytes, plan.rows); };
  }
  if (auto const error = submit(*stream, std::move(what)); error != cudaSuccess) return error;
  if (captured) return cudaSuccess;
  // A copy to pageable memory is over when the call returns, asynchronous or not.
  if (blocking || is_pageable(plan.to.data)) {
    wait_idle(*stream);
    return device_error(stream->device);
  }
  return cudaSuccess;
}

copy_plan run_of_bytes(void* to, void const* from, std::size_t bytes) {
  return {{static_cast<std::byte*>(to), 0}, {static_cast<std::byte*>(const_cast<void*>(from)), 0}, bytes, 1};
}

copy_plan rows_of_bytes(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
                        std::size_t bytes, std::size_t rows) {
  auto plan = run_of_bytes(to, from, bytes);
  plan.to.pitch = to_pitch;
  plan.from.pitch = from_pitch;
  plan.rows = rows;
  return plan;
}

cudaError_t set(void* data, std::size_t pitch, int value, std::size_t bytes, std::size_t rows,
                cudaStream_t handle, bool blocking) {
  if (bytes == 0 || rows == 0) return cudaSuccess;
  if (rows > 1 && pitch < bytes) return cudaErrorInvalidValue;
  rectangle const target{static_cast<std::byte*>(data), pitch};
  if (is_pageable(data) || !fits(target, bytes, rows)) return cudaErrorInvalidValue;
  if (blocking)
    if (auto const error = refuse_unsafe_call(); error != cudaSuccess) return error;
  auto* const stream = stream_of(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  auto const error = submit(*stream, {.name = "a set",
                                      .type = cudaGraphNodeTypeMemset,
                                      .accesses = {{data, bytes, true, rows, pitch}},
                                      .run = [=](run_context&) {
                                        auto* const to = static_cast<std::byte*>(alias_of(data));
                                        for (std::size_t r = 0; r < rows; ++r)
                                          std::memset(to + r * pitch, value, bytes);
                                      }});
  if (error == cudaSuccess && blocking) wait_idle(*stream);
  return error;
}

cudaError_t free_memory(void* pointer, cudaMemoryType type) {
  if (pointer == nullptr) return cudaSuccess;
  if (auto const error = refuse_unsafe_call(); error != cudaSuccess) return error;
  auto const owner = find_allocation(pointer);
  if (!owner || owner->begin != reinterpret_cast<std::uintptr_t>(pointer) || owner->type != type ||
      owner->registered)
    return cudaErrorInvalidValue;
  if (type == cudaMemoryTypeDevice) wait_idle(owner->device);
  return release(pointer) ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return call<"cudaMalloc">([&] {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    if (auto const error = refuse_unsafe_call(); error != cudaSuccess) return error;
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    auto const made = allocate_device(this_thread().device, bytes, malloc_alignment);
    if (!made) return cudaErrorMemoryAllocation;
    count_resource();
    *pointer = reinterpret_cast<void*>(made->begin);
    return cudaSuccess;
  });
}

cudaError_t cudaFree(void* pointer) {
  return call<"cudaFree">([&] { return free_memory(pointer, cudaMemoryTypeDevice); });
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  return call<"cudaHostAlloc">([&] {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    if (auto const error = refuse_unsafe_call(); error != cudaSuccess) return error;
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    auto const made = allocate_pinned(this_thread().device, bytes);
    if (!made) return cudaErrorMemoryAllocation;
    count_resource();
    *pointer = reinterpret_cast<void*>(made->begin);
    return cudaSuccess;
  });
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) { return cudaHostAlloc(pointer, bytes, 0); }

cudaError_t cudaFreeHost(void* pointer) {
  return call<"cudaFreeHost">([&] { return free_memory(pointer, cudaMemoryTypeHost); });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
  return call<"cudaHostRegister">([&] {
    if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
    if (find_allocation(pointer) != nullptr) return cudaErrorHostMemoryAlreadyRegistered;
    return register_pinned(this_thread().device, pointer, bytes) ? cudaSuccess
                                                                 : cudaErrorHostMemoryAlreadyRegistered;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return call<"cudaHostUnregister">([&] {
    auto const owner = find_allocation(pointer);
    if (!owner || !owner->registered) return cudaErrorHostMemoryNotRegistered;
    return release(pointer) ? cudaSuccess : cudaErrorHostMemoryNotRegistered;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  return call<"cudaMemGetInfo">([&] {
    *available = free_bytes(this_thread().device);
    *total = capacity_of_a_device();
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, void const* pointer) {
  return call<"cudaPointerGetAttributes">([&] {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    *attributes = {};
    auto const owner = find_allocation(pointer);
    attributes->type = owner ? owner->type : cudaMemoryTypeUnregistered;
    attributes->device = owner ? owner->device : cudaInvalidDeviceId;
    attributes->devicePointer = owner ? const_cast<void*>(pointer) : nullptr;
    attributes->hostPointer =
        owner && owner->type == cudaMemoryTypeDevice ? nullptr : const_cast<void*>(pointer);
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) {
  return call<"cudaMemcpy">([&] { return copy(run_of_bytes(to, from, bytes), kind, nullptr, true); });
}

cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call<"cudaMemcpyAsync">([&] { return copy(run_of_bytes(to, from, bytes), kind, stream, false); });
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return call<"cudaMemcpy2D">([&] {
    return copy(rows_of_bytes(to, to_pitch, from, from_pitch, width, height), kind, nullptr, true);
  });
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return call<"cudaMemcpy2DAsync">([&] {
    return copy(rows_of_bytes(to, to_pitch, from, from_pitch, width, height), kind, stream, false);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int, void const* from, int, std::size_t bytes,
                                cudaStream_t stream) {
  return call<"cudaMemcpyPeerAsync">(
      [&] { return copy(run_of_bytes(to, from, bytes), cudaMemcpyDeviceToDevice, stream, false); });
}

cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
  return call<"cudaMemset">([&] { return set(data, 0, value, bytes, 1, nullptr, true); });
}

cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream) {
  return call<"cudaMemsetAsync">([&] { return set(data, 0, value, bytes, 1, stream, false); });
}

cudaError_t cudaMemset2DAsync(void* data, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream) {
  return call<"cudaMemset2DAsync">([&] { return set(data, pitch, value, width, height, stream, false); });
}
