// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What a test may ask of the software device beyond the CUDA, NCCL and cuBLASLt symbols that it exports: how many
//! devices there are, what was called, what shall go wrong, and what was found to be wrong.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace software_device {

inline constexpr int most_devices = 16;

/// Forgets everything: ends what still waits, destroys streams, memory, communicators, counts, faults, delays and
/// findings. Call it before each test, while no other thread uses the device. `devices` are there afterwards.
void reset(int devices = 8);

// --- What was called ------------------------------------------------------------------------------------------

/// Calls of the C function `name` since the last reset, by all threads or with `device` current.
[[nodiscard]] std::uint64_t calls(std::string_view name, int device = -1);

/// Every function that was called, with its count, in the order of names.
[[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> all_calls(int device = -1);

/// Times that a host thread was made to wait for a device: synchronizations, blocking copies, copies from and to
/// pageable memory that cannot be asynchronous, and frees.
[[nodiscard]] std::uint64_t host_synchronizations();

/// Allocations of device or pinned memory, creations of streams, events, graphs and communicators.
[[nodiscard]] std::uint64_t resource_creations();

/// Whether the calling thread is inside a function of the device, so that a counting operator new can tell
/// the device's own allocations from those of the code under test.
[[nodiscard]] bool inside_call() noexcept;

/// While one lives, its thread counts as inside: for kernels of the test's own.
class inside {
 public:
  inside() noexcept;
  inside(inside const&) = delete;
  inside& operator=(inside const&) = delete;
  ~inside();
};

// --- What shall go wrong --------------------------------------------------------------------------------------

/// The `kth` call of `name` from now on (1 is the next), with `device` current or any, does nothing and returns
/// `code`, whatever the function's result type is.
void fail_call(std::string_view name, std::uint64_t kth, int code, int device = -1);

/// The `kth` call of `name` from now on, with `device` current or any, does nothing and returns success: a mutation, to
/// see that its absence is noticed.
void skip_call(std::string_view name, std::uint64_t kth, int device = -1);

/// The `kth` operation from now on that runs on `device` fails as an illegal address does: what follows on the device
/// does not run, and every call on it returns `code`.
void fail_operation(int device, std::uint64_t kth, cudaError_t code);

/// The `kth` operation from now on of any communicator of `device` never ends; the communicator's asynchronous
/// error becomes `code` (with ncclSuccess the operation just hangs).
void fail_communicator(int device, std::uint64_t kth, ncclResult_t code);

/// What ncclGetVersion returns; 0 is the version of the header.
void report_nccl_version(int version);

/// What a device says of itself in cudaDeviceGetAttribute; all devices alike.
void report_attribute(cudaDeviceAttr attribute, int value);

// --- Delays ---------------------------------------------------------------------------------------------------

/// Every operation waits for a time in [0, longest) before it runs, drawn from `seed`, its stream and its number.
void delay_operations(std::uint64_t seed, std::chrono::microseconds longest);

/// Every operation of `device` waits this much longer.
void slow_device(int device, std::chrono::microseconds each);

// --- What was found -------------------------------------------------------------------------------------------

/// Sentences on what a real device would have let pass or turned into wrong numbers: two operations on the same
/// memory of which nothing orders one before the other, memory used after its free, messages that do not match,
/// handles used after their end. In a correct program there are none.
[[nodiscard]] std::vector<std::string> findings();

// --- Kernels and memory ---------------------------------------------------------------------------------------

/// What an operation touches: `rows` runs of `bytes`, `pitch` bytes apart.
struct memory_access {
  void const* data;
  std::size_t bytes;
  bool writes;
  std::size_t rows = 1;
  std::size_t pitch = 0;
};

/// The software device's kernel launch: `kernel` runs in the order of `stream` on a thread of the device. It is counted as
/// "launch" and captured as a kernel node. `touched` is checked for ownership and order.
cudaError_t launch(cudaStream_t stream, char const* name, std::span<memory_access const> touched,
                   std::function<void()> kernel);

/// Where device memory lies for the threads of the device. The host cannot read what cudaMalloc returns.
[[nodiscard]] void* on_device(void const* pointer);

template <class T>
[[nodiscard]] T* on_device(T* pointer) {
  return static_cast<T*>(on_device(static_cast<void const*>(pointer)));
}

// --- NCCL -----------------------------------------------------------------------------------------------------

/// The configuration that a communicator was made with.
[[nodiscard]] ncclConfig_t configuration(ncclComm_t comm);

/// Buffers of operations on `comm` that lay in no registered memory.
[[nodiscard]] std::uint64_t unregistered_buffers(ncclComm_t comm);

// --- cuBLASLt -------------------------------------------------------------------------------------------------

/// The multiprocessor targets of the products since the last reset, in the order of issue.
[[nodiscard]] std::vector<int> multiprocessor_targets();

}  // namespace software_device
