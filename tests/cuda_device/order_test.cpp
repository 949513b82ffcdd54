// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The software device finds operations that nothing orders, whether or not they met this time.
#include "buffers.hpp"

#include <algorithm>

using namespace cuda_device_test;

namespace {

void wait_for(cudaStream_t later, cudaStream_t earlier) {
  auto const event = new_event();
  REQUIRE(cudaEventRecord(event, earlier) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(later, event, 0) == cudaSuccess);
}

std::size_t findings_at_the_end() {
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  return device::findings().size();
}

cudaError_t touch(cudaStream_t stream, device::memory_access const& what) {
  return device::launch(stream, what.writes ? "writer" : "reader", std::span{&what, 1}, [] {});
}

}  // namespace

TEST_CASE("two streams on one memory need an event between them") {
  device::reset();
  auto* const data = device_copy<int>({0, 0});
  auto const a = new_stream();
  auto const b = new_stream();
  REQUIRE(add_to(a, data, 2, 1) == cudaSuccess);

  SECTION("ordered") {
    wait_for(b, a);
    REQUIRE(add_to(b, data, 2, 1) == cudaSuccess);
    CHECK(findings_at_the_end() == 0);
  }
  SECTION("ordered through a third stream") {
    auto const c = new_stream();
    wait_for(c, a);
    wait_for(b, c);
    REQUIRE(add_to(b, data, 2, 1) == cudaSuccess);
    CHECK(findings_at_the_end() == 0);
  }
  SECTION("ordered by the host") {
    REQUIRE(cudaStreamSynchronize(a) == cudaSuccess);
    REQUIRE(add_to(b, data, 2, 1) == cudaSuccess);
    CHECK(findings_at_the_end() == 0);
  }
  SECTION("not ordered, though the first has long run") {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    REQUIRE(add_to(b, data, 2, 1) == cudaSuccess);
    CHECK(findings_at_the_end() == 1);
    CHECK(device::findings().front().find("nothing orders") != std::string::npos);
  }
  SECTION("the event was recorded before the writer") {
    auto const event = new_event();
    REQUIRE(cudaEventRecord(event, b) == cudaSuccess);
    REQUIRE(add_to(b, data, 2, 1) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(a, event, 0) == cudaSuccess);
    REQUIRE(add_to(a, data, 2, 1) == cudaSuccess);
    CHECK(findings_at_the_end() >= 1);
  }
  SECTION("the wait comes after the reader") {
    REQUIRE(touch(b, {data, 8, false}) == cudaSuccess);
    wait_for(b, a);
    CHECK(findings_at_the_end() == 1);
  }
}

TEST_CASE("a writer is ordered after every reader, not only the last") {
  device::reset();
  auto* const data = device_copy<int>({0});
  auto const a = new_stream();
  auto const b = new_stream();
  auto const writer = new_stream();
  REQUIRE(touch(a, {data, 4, false}) == cudaSuccess);
  REQUIRE(touch(b, {data, 4, false}) == cudaSuccess);
  wait_for(writer, b);
  SECTION("one is missed") {
    REQUIRE(touch(writer, {data, 4, true}) == cudaSuccess);
    CHECK(findings_at_the_end() == 1);
  }
  SECTION("none is missed") {
    wait_for(writer, a);
    REQUIRE(touch(writer, {data, 4, true}) == cudaSuccess);
    CHECK(findings_at_the_end() == 0);
  }
}

TEST_CASE("a reader is ordered after the writer, whatever other readers are") {
  device::reset();
  auto* const data = device_copy<int>({0});
  auto const writer = new_stream();
  auto const good = new_stream();
  auto const bad = new_stream();
  REQUIRE(touch(writer, {data, 4, true}) == cudaSuccess);
  wait_for(good, writer);
  REQUIRE(touch(good, {data, 4, false}) == cudaSuccess);
  while (cudaStreamQuery(good) == cudaErrorNotReady) std::this_thread::yield();
  REQUIRE(touch(bad, {data, 4, false}) == cudaSuccess);
  CHECK(findings_at_the_end() == 0);  // the host has seen the writer's end through its reader
  REQUIRE(touch(writer, {data, 4, true}) == cudaSuccess);
  wait_for(good, writer);
  REQUIRE(touch(good, {data, 4, false}) == cudaSuccess);
  gate late{bad};  // most likely after the good reader
  REQUIRE(touch(bad, {data, 4, false}) == cudaSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  late.open();
  CHECK(findings_at_the_end() == 1);
}

TEST_CASE("reads do not disturb each other, nor do accesses of other bytes") {
  device::reset();
  auto* const data = device_array<char>(4096);
  auto const a = new_stream();
  auto const b = new_stream();
  // Columns 0..31 and 32..63 of a matrix with rows of 64 bytes interleave, and share nothing.
  REQUIRE(touch(a, {data, 32, true, 64, 64}) == cudaSuccess);
  REQUIRE(touch(b, {data + 32, 32, true, 64, 64}) == cudaSuccess);
  CHECK(findings_at_the_end() == 0);
  REQUIRE(touch(a, {data, 4096, false}) == cudaSuccess);
  REQUIRE(touch(b, {data, 4096, false}) == cudaSuccess);
  CHECK(findings_at_the_end() == 0);
  REQUIRE(touch(a, {data, 33, true, 64, 64}) == cudaSuccess);
  REQUIRE(touch(b, {data + 32, 32, true, 64, 64}) == cudaSuccess);
  CHECK(findings_at_the_end() == 1);
}

TEST_CASE("memory is not used after its free, nor past its end") {
  device::reset();
  auto* const data = device_copy<int>({0, 0});
  auto const stream = new_stream();
  SECTION("past its end") {
    REQUIRE(add_to(stream, data, 3, 1) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
  }
  SECTION("after its free") {
    REQUIRE(cudaFree(data) == cudaSuccess);
    REQUIRE(add_to(stream, data, 1, 1) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
  }
  CHECK(device::findings().size() == 1);
}
