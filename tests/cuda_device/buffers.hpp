// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Short ways to say what the tests of the software device say often.
#pragma once

#include "software_device/control.hpp"
#include "support/catch.hpp"

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace cuda_device_test {

namespace device = software_device;

/// Device memory; freed only by reset(), so that no test frees by accident what it wants to look at.
template <class T>
T* device_array(std::size_t count) {
  void* data = nullptr;
  REQUIRE(cudaMalloc(&data, count * sizeof(T)) == cudaSuccess);
  return static_cast<T*>(data);
}

template <class T>
T* device_copy(std::vector<T> const& values) {
  auto* const data = device_array<T>(values.size());
  REQUIRE(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
  return data;
}

template <class T>
std::vector<T> host_copy(T const* data, std::size_t count) {
  std::vector<T> values(count);
  REQUIRE(cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
  return values;
}

inline cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  return stream;
}

inline cudaEvent_t new_event() {
  cudaEvent_t event = nullptr;
  REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
  return event;
}

/// A kernel of the test: adds `value` to `count` elements.
inline cudaError_t add_to(cudaStream_t stream, int* data, std::size_t count, int value) {
  device::memory_access const touched[] = {{data, count * sizeof(int), true}};
  return device::launch(stream, "add_to", touched, [=] {
    for (std::size_t i = 0; i < count; ++i) device::on_device(data)[i] += value;
  });
}

/// Keeps a stream from going on until it is opened.
class gate {
 public:
  explicit gate(cudaStream_t stream) {
    REQUIRE(device::launch(stream, "gate", {}, [open = open_] {
              while (!*open) std::this_thread::yield();
            }) == cudaSuccess);
  }
  gate(gate const&) = delete;
  gate& operator=(gate const&) = delete;
  ~gate() { open(); }
  void open() { *open_ = true; }

 private:
  std::shared_ptr<std::atomic<bool>> open_ = std::make_shared<std::atomic<bool>>(false);
};

/// Runs `body(rank)` on a thread a rank, with the rank's device current. Catch2's assertions are not for threads, so
/// bodies return whether all went well.
template <class Body>
std::vector<bool> on_ranks(int ranks, Body body) {
  std::vector<char> good(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back(
        [&, r] { good[static_cast<std::size_t>(r)] = cudaSetDevice(r) == cudaSuccess && body(r) ? 1 : 0; });
  for (auto& each : threads) each.join();
  return {good.begin(), good.end()};
}

inline std::vector<bool> all_good(int ranks) {
  return std::vector<bool>(static_cast<std::size_t>(ranks), true);
}

}  // namespace cuda_device_test
