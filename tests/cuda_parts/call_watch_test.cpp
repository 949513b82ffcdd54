// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The time limit of calls that block: it ends one that takes too long, and no other.

#include "../support/catch.hpp"

#include <tpoverlap/cuda/detail/call_watch.hpp>

#include <atomic>
#include <chrono>
#include <thread>

using tpoverlap::cu::detail::call_watch;
using namespace std::chrono_literals;

TEST_CASE("A call that never returns by itself is ended, once") {
  std::atomic<int> ended{0};
  {
    call_watch watch{20ms, [&] { ++ended; }};
    int const result = watch.guard([&] {
      while (ended.load() == 0) std::this_thread::yield();
      return 7;
    });
    CHECK(result == 7);
    watch.guard([] {
      std::this_thread::sleep_for(60ms);
      return 0;
    });
  }
  CHECK(ended.load() == 1);
}

TEST_CASE("Calls that return are not ended, however many there are, nor is the time between them") {
  std::atomic<int> ended{0};
  {
    // A limit that other processes cannot use up for a call that does nothing, and a pause that is longer.
    call_watch watch{1s, [&] { ++ended; }};
    for (int i = 0; i < 1000; ++i) watch.guard([] { return 0; });
    std::this_thread::sleep_for(1600ms);
    watch.guard([] { return 0; });
  }
  CHECK(ended.load() == 0);
}

TEST_CASE("A watch that has nothing to do goes away at once, also in the middle of a long limit") {
  auto const begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) call_watch{10min, [] {}};
  CHECK(std::chrono::steady_clock::now() - begin < 5min);
}
