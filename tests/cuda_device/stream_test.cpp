// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The software device's streams, events and memory behave as CUDA's documentation says.
#include "buffers.hpp"

#include <cerrno>
#include <unistd.h>

using namespace cuda_device_test;

TEST_CASE("a stream runs what it is given in order") {
  device::reset();
  device::delay_operations(7, std::chrono::microseconds{300});
  auto* const data = device_copy<int>({1});
  auto const stream = new_stream();
  device::memory_access const touched[] = {{data, sizeof(int), true}};
  for (int i = 0; i < 20; ++i)
    REQUIRE(device::launch(stream, "step", touched, [=] {
              auto& value = *device::on_device(data);
              value = value % 2 == i % 2 ? -1000 : value + 1;  // an odd step number wants an even value
            }) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(host_copy(data, 1).front() == 21);
  CHECK(device::findings().empty());
}

TEST_CASE("a stream waits for another's event, as it was last recorded when the wait was issued") {
  device::reset();
  auto const early = new_stream();
  auto const late = new_stream();
  auto const event = new_event();
  CHECK(cudaStreamWaitEvent(late, event, 0) == cudaSuccess);  // never recorded: nothing to wait for
  gate first{early};
  REQUIRE(cudaEventRecord(event, early) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(late, event, 0) == cudaSuccess);
  gate second{early};
  REQUIRE(cudaEventRecord(event, early) == cudaSuccess);  // does not change the wait that was issued
  CHECK(cudaStreamQuery(late) == cudaErrorNotReady);
  CHECK(cudaEventQuery(event) == cudaErrorNotReady);
  first.open();
  CHECK(cudaStreamSynchronize(late) == cudaSuccess);
  CHECK(cudaEventQuery(event) == cudaErrorNotReady);
  second.open();
  CHECK(cudaEventSynchronize(event) == cudaSuccess);
  CHECK(cudaStreamQuery(early) == cudaSuccess);
}

TEST_CASE("the legacy stream and blocking streams wait for each other, non-blocking streams for nobody") {
  device::reset();
  cudaStream_t blocking = nullptr;
  REQUIRE(cudaStreamCreate(&blocking) == cudaSuccess);
  auto const free = new_stream();
  auto* const data = device_copy<int>({0});
  {
    gate closed{blocking};
    REQUIRE(add_to(blocking, data, 1, 1) == cudaSuccess);
    REQUIRE(add_to(nullptr, data, 1, 1) == cudaSuccess);
    REQUIRE(add_to(free, device_array<int>(1), 1, 1) == cudaSuccess);
    CHECK(cudaStreamSynchronize(free) == cudaSuccess);
    CHECK(cudaStreamQuery(nullptr) == cudaErrorNotReady);
  }
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
  {
    gate closed{nullptr};
    REQUIRE(add_to(blocking, data, 1, 1) == cudaSuccess);
    CHECK(cudaStreamQuery(blocking) == cudaErrorNotReady);
  }
  CHECK(cudaStreamSynchronize(blocking) == cudaSuccess);
  CHECK(device::findings().empty());
}

TEST_CASE("streams remember device, flags and priority") {
  device::reset(2);
  int least = 1;
  int greatest = 1;
  REQUIRE(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
  CHECK(greatest < least);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest - 10) == cudaSuccess);
  int priority = 0;
  int where = 0;
  unsigned flags = 0;
  CHECK(cudaStreamGetPriority(stream, &priority) == cudaSuccess);
  CHECK(priority == greatest);  // clamped
  CHECK(cudaStreamGetDevice(stream, &where) == cudaSuccess);
  CHECK(where == 1);
  CHECK(cudaStreamGetFlags(stream, &flags) == cudaSuccess);
  CHECK(flags == cudaStreamNonBlocking);
  // An event belongs to the device that was current, and cannot be recorded elsewhere; waiting is possible anywhere.
  auto const event = new_event();
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  auto const other = new_stream();
  CHECK(cudaEventRecord(event, other) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(event, stream) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(other, event, 0) == cudaSuccess);
  CHECK(cudaStreamSynchronize(other) == cudaSuccess);
}

TEST_CASE("the current device and the last error belong to a thread") {
  device::reset(2);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  CHECK(cudaSetDevice(2) == cudaErrorInvalidDevice);
  std::thread{[] {
    int here = -1;
    CHECK(cudaGetDevice(&here) == cudaSuccess);
    CHECK(here == 0);
    CHECK(cudaGetLastError() == cudaSuccess);
  }}.join();
  int here = -1;
  CHECK(cudaGetDevice(&here) == cudaSuccess);
  CHECK(here == 1);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaSuccess);
  device::reset(0);
  int count = -1;
  CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice);
  CHECK(count == 0);
}

TEST_CASE("the host can neither read nor write device memory, and knows whose it is") {
  device::reset(2);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  auto* const data = device_array<char>(100);
  int ends[2] = {};
  REQUIRE(pipe(ends) == 0);
  CHECK(write(ends[1], data, 1) == -1);
  CHECK(errno == EFAULT);
  (void)close(ends[0]);
  (void)close(ends[1]);

  cudaPointerAttributes attributes{};
  REQUIRE(cudaPointerGetAttributes(&attributes, data + 99) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeDevice);
  CHECK(attributes.device == 1);
  CHECK(attributes.hostPointer == nullptr);
  REQUIRE(cudaPointerGetAttributes(&attributes, data + 100) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
  REQUIRE(cudaPointerGetAttributes(&attributes, ends) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
  void* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, 64) == cudaSuccess);
  REQUIRE(cudaPointerGetAttributes(&attributes, pinned) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeHost);
  CHECK(cudaFree(pinned) == cudaErrorInvalidValue);
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
  CHECK(cudaFree(data + 1) == cudaErrorInvalidValue);
  CHECK(cudaFree(data) == cudaSuccess);
  CHECK(cudaFree(data) == cudaErrorInvalidValue);
}

TEST_CASE("fresh device memory holds NaN, so that what is read before it is written shows") {
  device::reset();
  auto* const data = device_array<float>(3);
  for (auto const each : host_copy(data, 3)) CHECK_FALSE(each == each);
  void* too_much = nullptr;
  CHECK(cudaMalloc(&too_much, std::size_t{1} << 40) == cudaErrorMemoryAllocation);
}

TEST_CASE("a copy's kind must be true, and its ends inside one allocation") {
  device::reset();
  auto* const data = device_copy<int>({1, 2, 3});
  auto* const other = device_array<int>(3);
  int host[3] = {4, 5, 6};
  auto const stream = new_stream();
  CHECK(cudaMemcpyAsync(data, host, 12, cudaMemcpyDeviceToDevice, stream) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyAsync(data, other, 12, cudaMemcpyHostToDevice, stream) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyAsync(data, other, 16, cudaMemcpyDeviceToDevice, stream) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyAsync(data, nullptr, 4, cudaMemcpyDefault, stream) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyAsync(other, data, 12, cudaMemcpyDefault, stream) == cudaSuccess);
  CHECK(cudaMemcpyAsync(data, host, 8, cudaMemcpyHostToDevice, stream) == cudaSuccess);
  CHECK(cudaMemsetAsync(other + 2, 0, 4, stream) == cudaSuccess);
  CHECK(cudaMemsetAsync(host, 0, 4, stream) == cudaErrorInvalidValue);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(host_copy(data, 3) == std::vector<int>{4, 5, 3});
  CHECK(host_copy(other, 3) == std::vector<int>{1, 2, 0});
  CHECK(cudaMemset2DAsync(data, 8, 0, 4, 2, stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(host_copy(data, 3) == std::vector<int>{0, 5, 0});
}

TEST_CASE(
    "copies with pageable memory: staged on the way in, blocking on the way out; pinned ones are neither") {
  device::reset();
  auto* const data = device_copy<int>({0});
  void* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, sizeof(int)) == cudaSuccess);
  auto* const host = static_cast<int*>(pinned);
  auto const stream = new_stream();
  int value = 5;
  auto const before = device::host_synchronizations();
  {
    gate closed{stream};
    REQUIRE(cudaMemcpyAsync(data, &value, sizeof value, cudaMemcpyHostToDevice, stream) == cudaSuccess);
    value = 6;  // too late to be copied
    REQUIRE(cudaMemcpyAsync(host, data, sizeof value, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
    CHECK(device::host_synchronizations() == before);
  }
  REQUIRE(cudaMemcpyAsync(&value, data, sizeof value, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  CHECK(device::host_synchronizations() == before + 1);
  CHECK(value == 5);
  CHECK(*host == 5);
}

TEST_CASE("what is called is counted, by name and by device") {
  device::reset(2);
  auto const stream = new_stream();
  auto const event = new_event();
  for (int i = 0; i < 3; ++i) CHECK(cudaEventRecord(event, stream) == cudaSuccess);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  CHECK(cudaEventRecord(event, stream) == cudaSuccess);
  CHECK(device::calls("cudaEventRecord") == 4);
  CHECK(device::calls("cudaEventRecord", 1) == 1);
  CHECK(device::calls("cudaStreamWaitEvent") == 0);
  CHECK(device::resource_creations() == 2);
  CHECK(device::host_synchronizations() == 0);
  CHECK(cudaEventSynchronize(event) == cudaSuccess);
  CHECK(device::host_synchronizations() == 1);
  CHECK_FALSE(device::inside_call());
}

TEST_CASE("a call can be told to fail") {
  device::reset(2);
  auto const stream = new_stream();
  auto const event = new_event();
  device::fail_call("cudaEventRecord", 2, cudaErrorLaunchFailure);
  CHECK(cudaEventRecord(event, stream) == cudaSuccess);
  CHECK(cudaEventRecord(event, stream) == cudaErrorLaunchFailure);
  CHECK(cudaEventRecord(event, stream) == cudaSuccess);
  device::fail_call("cudaStreamQuery", 1, cudaErrorLaunchFailure, 1);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(cudaStreamQuery(stream) == cudaSuccess);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  CHECK(cudaStreamQuery(stream) == cudaErrorLaunchFailure);
}

TEST_CASE("a call can be left out, and then says that all is well") {
  device::reset();
  auto* const data = device_copy<int>({0});
  auto const stream = new_stream();
  device::skip_call("cudaMemsetAsync", 2);
  CHECK(cudaMemsetAsync(data, 1, 4, stream) == cudaSuccess);
  CHECK(cudaMemsetAsync(data, 2, 4, stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(host_copy(data, 1).front() == 0x01010101);
  CHECK(device::calls("cudaMemsetAsync") == 2);
}

TEST_CASE("an operation that fails spoils its device, and no other") {
  device::reset(2);
  auto* const data = device_copy<int>({0});
  auto const stream = new_stream();
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  device::fail_operation(0, 3, cudaErrorIllegalAddress);
  {
    gate first{stream};  // a call after the failure would say so
    for (int i = 0; i < 3; ++i) REQUIRE(add_to(stream, data, 1, 1) == cudaSuccess);
  }
  CHECK(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
  CHECK(cudaStreamQuery(stream) == cudaErrorIllegalAddress);
  void* more = nullptr;
  CHECK(cudaMalloc(&more, 4) == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);  // it stays
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  CHECK(cudaMalloc(&more, 4) == cudaSuccess);
  CHECK(*device::on_device(data) == 1);  // the operation before the failure, and none after it
}

TEST_CASE("a kernel goes to a stream of the current device, and reaches a peer's memory only if allowed") {
  device::reset(2);
  auto* const data = device_copy<int>({0});
  auto const stream = new_stream();
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  CHECK(add_to(stream, data, 1, 1) == cudaErrorInvalidResourceHandle);
  auto* const own = device_copy<int>({0});
  auto const here = new_stream();
  CHECK(cudaMemcpyAsync(own, data, sizeof(int), cudaMemcpyDeviceToDevice, here) == cudaSuccess);
  REQUIRE(cudaDeviceEnablePeerAccess(0, 0) == cudaSuccess);
  CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessAlreadyEnabled);
  CHECK(add_to(here, data, 1, 1) == cudaSuccess);
  CHECK(cudaStreamSynchronize(here) == cudaSuccess);
  CHECK(device::findings().empty());
  REQUIRE(cudaDeviceDisablePeerAccess(0) == cudaSuccess);
  CHECK(add_to(here, data, 1, 1) == cudaSuccess);
  CHECK(cudaStreamSynchronize(here) == cudaErrorIllegalAddress);
  CHECK(device::findings().size() == 1);
}

TEST_CASE("a host function runs in order and may call nothing") {
  device::reset();
  auto const stream = new_stream();
  cudaError_t inside = cudaSuccess;
  REQUIRE(cudaLaunchHostFunc(
              stream,
              [](void* at) {
                int here = 0;
                *static_cast<cudaError_t*>(at) = cudaDeviceGetAttribute(&here, cudaDevAttrWarpSize, 0);
              },
              &inside) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(inside == cudaErrorNotPermitted);
}

TEST_CASE("handles that do not exist are refused and reported") {
  device::reset();
  auto const stream = new_stream();
  auto const event = new_event();
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaStreamQuery(stream) == cudaErrorInvalidResourceHandle);
  REQUIRE(cudaEventDestroy(event) == cudaSuccess);
  CHECK(cudaEventQuery(event) == cudaErrorInvalidResourceHandle);
  CHECK(device::findings().size() == 2);
}
