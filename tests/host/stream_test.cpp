// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Streams: order, the finite queue, failures, destruction.

#include "../support/catch.hpp"
#include "rank_check.hpp"

#include <tpoverlap/host/stream.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

using namespace tpoverlap;
using namespace std::chrono_literals;

static_assert(!std::is_copy_constructible_v<host::stream> && !std::is_move_constructible_v<host::stream>);

TEST_CASE("tasks run in issue order, whatever their sizes", "[stream]") {
  host::stream stream{{.queue_bytes = 1024, .name = "order"}};
  std::vector<int> ran;
  for (int i = 0; i < 2000; ++i) {
    if (i % 3 == 0) {
      std::array<int, 37> large{};
      large[36] = i;
      stream.enqueue([&ran, large] { ran.push_back(large[36]); });
    } else if (i % 3 == 1) {
      stream.enqueue([&ran, i] { ran.push_back(i); });
    } else {
      std::vector<int> const trailing(static_cast<std::size_t>(i % 50), i);
      stream.enqueue_with(std::span{trailing}, [&ran, i](std::span<int const> copy) {
        auto const expected = static_cast<std::size_t>(i % 50);
        bool intact = copy.size() == expected;
        for (int value : copy) intact = intact && value == i;
        ran.push_back(intact ? i : -1);
      });
    }
  }
  stream.synchronize();
  std::vector<int> expected(2000);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(ran == expected);
  CHECK(stream.idle());
}

TEST_CASE("trailing elements are aligned for their type", "[stream]") {
  struct alignas(16) wide {
    std::uintptr_t words[2];
  };
  host::stream stream;
  bool aligned = true;
  for (int i = 0; i < 3; ++i) {
    stream.enqueue([] {});
    stream.enqueue_filled<wide>(
        3,
        [](std::size_t index) {
          return wide{{index, index}};
        },
        [&aligned, odd = 'x'](std::span<wide const> copy) {
          (void)odd;
          for (auto const& each : copy)
            aligned = aligned && reinterpret_cast<std::uintptr_t>(&each) % 16 == 0;
          aligned = aligned && copy[2].words[1] == 2;
        });
  }
  stream.synchronize();
  CHECK(aligned);
}

TEST_CASE("a full queue blocks the caller until there is room", "[stream]") {
  host::stream stream{{.queue_bytes = 256}};
  std::atomic<bool> open{false};
  std::atomic<int> issued{0};
  std::atomic<int> ran{0};
  stream.enqueue([&] { open.wait(false); });
  std::thread producer{[&] {
    for (int i = 0; i < 100; ++i) {
      stream.enqueue([&] { ++ran; });
      ++issued;
    }
  }};
  std::this_thread::sleep_for(20ms);
  CHECK(issued < 100);  // 256 bytes never hold 100 tasks
  CHECK(ran == 0);
  open = true;
  open.notify_all();
  producer.join();
  stream.synchronize();
  CHECK(ran == 100);
}

TEST_CASE("a task larger than the queue is refused and names the option", "[stream]") {
  host::stream stream{{.queue_bytes = 256}};
  std::vector<int> const large(1000);
  auto const text = text_thrown<usage_error>([&] { stream.enqueue_with(std::span{large}, [](auto) {}); });
  CHECK(has(text, "stream_options::queue_bytes"));
  int ran = 0;
  std::array<int, 48> const fills_the_queue{};  // 192 bytes and a pointer
  for (int i = 0; i < 10; ++i) {
    stream.enqueue([&ran] { ++ran; });
    stream.enqueue_with(std::span<int const>{fills_the_queue}, [&ran](auto) { ++ran; });
  }
  stream.synchronize();
  CHECK(ran == 20);
  CHECK_THROWS_AS(host::stream(host::stream_options{.queue_bytes = 16}), usage_error);
}

TEST_CASE("the first failure is kept, later tasks are destroyed without being run", "[stream]") {
  host::stream stream;
  auto const token = std::make_shared<int>(0);
  int ran = 0;
  std::vector<bool> saw_failure;
  stream.enqueue([&] { ++ran; });
  stream.enqueue_always(
      [&](std::exception_ptr const& failure) { saw_failure.push_back(failure != nullptr); });
  stream.enqueue([] { throw std::runtime_error{"first"}; });
  stream.enqueue([] { throw std::logic_error{"second"}; });
  stream.enqueue([&ran, token] { ++ran; });
  stream.enqueue_with(std::span<int const>{}, [&ran, token](auto) { ++ran; });
  stream.enqueue_always(
      [&](std::exception_ptr const& failure) { saw_failure.push_back(failure != nullptr); });
  CHECK(text_thrown<std::runtime_error>([&] { stream.synchronize(); }) == "first");
  CHECK(stream.failed());
  CHECK(stream.failure() != nullptr);
  CHECK(ran == 1);
  CHECK(token.use_count() == 1);
  CHECK(saw_failure == std::vector<bool>{false, true});
  stream.enqueue([&] { ++ran; });
  CHECK_THROWS_AS(stream.synchronize(), std::runtime_error);  // sticky
  CHECK_THROWS_AS((void)stream.synchronize_until(std::chrono::steady_clock::now() + 10s), std::runtime_error);
  CHECK(ran == 1);
}

TEST_CASE("synchronize_until gives up in time and can be called again", "[stream]") {
  host::stream stream;
  std::atomic<bool> open{false};
  stream.enqueue([&] { open.wait(false); });
  CHECK_FALSE(stream.synchronize_until(std::chrono::steady_clock::now() + 5ms));
  CHECK_FALSE(stream.idle());
  open = true;
  open.notify_all();
  CHECK(stream.synchronize_until(std::chrono::steady_clock::now() + 10s));
}

TEST_CASE("the destructor finishes the queue", "[stream]") {
  int ran = 0;
  {
    host::stream stream;
    stream.enqueue([] { std::this_thread::sleep_for(5ms); });
    for (int i = 0; i < 100; ++i) stream.enqueue([&] { ++ran; });
  }
  CHECK(ran == 100);
  {
    host::stream stream;
    stream.enqueue([] { throw 1; });
  }  // does not throw
}

TEST_CASE("a task can neither issue to its own stream nor wait for it", "[stream]") {
  host::stream issues;
  issues.enqueue([&] { issues.enqueue([] {}); });
  CHECK_THROWS_AS(issues.synchronize(), usage_error);
  host::stream waits;
  waits.enqueue([&] { waits.synchronize(); });
  CHECK_THROWS_AS(waits.synchronize(), usage_error);
}

TEST_CASE("several threads may issue to one stream", "[stream]") {
  host::stream stream{{.queue_bytes = 512}};
  int sum = 0;  // only the worker touches it
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) stream.enqueue([&sum] { ++sum; });
    });
  for (auto& each : threads) each.join();
  stream.synchronize();
  CHECK(sum == 2000);
}

TEST_CASE("high priority is asked for, and the answer can be read", "[stream]") {
  host::stream const normal;
  CHECK_FALSE(normal.priority_granted());
  host::stream high{{.priority = host::priority::high, .name = "a name that is too long for the system"}};
  int ran = 0;
  high.enqueue([&] { ++ran; });
  high.synchronize();
  CHECK(ran == 1);  // whether it was granted depends on the system
}
