// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Events: order between streams, generations, failures that travel, lifetime.

#include "../support/catch.hpp"
#include "rank_check.hpp"

#include <tpoverlap/host/event.hpp>
#include <tpoverlap/host/stream.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

using namespace tpoverlap;
using namespace std::chrono_literals;

TEST_CASE("what follows a wait runs after what precedes the record", "[event]") {
  host::stream producer;
  host::stream consumer;
  host::event full;
  host::event empty;
  int slot = 0;  // written and read without a lock: the events order it
  bool right = true;
  for (int i = 1; i <= 500; ++i) {
    if (i > 1) empty.wait(producer);
    producer.enqueue([&slot, i] { slot = i; });
    full.record(producer);
    full.wait(consumer);
    consumer.enqueue([&slot, &right, i] { right = right && slot == i; });
    empty.record(consumer);
  }
  consumer.synchronize();
  CHECK(right);
}

TEST_CASE("a wait refers to the latest record at the time it is issued", "[event]") {
  host::stream slow;
  host::stream other;
  host::event event;
  std::atomic<int> opened{0};
  std::atomic<int> seen{0};
  auto const gate = [&](int number) {
    slow.enqueue([&opened, number] {
      for (int now = opened; now < number; now = opened) opened.wait(now);
    });
  };
  gate(1);
  event.record(slow);
  event.wait(other);
  other.enqueue([&] { seen = 1; });
  gate(2);
  event.record(slow);  // the wait above does not refer to this one
  opened = 1;
  opened.notify_all();
  other.synchronize();
  CHECK(seen == 1);
  CHECK_FALSE(event.ready());
  event.wait(other);
  other.enqueue([&] { seen = 2; });
  CHECK_FALSE(other.synchronize_until(std::chrono::steady_clock::now() + 5ms));
  CHECK(seen == 1);
  opened = 2;
  opened.notify_all();
  other.synchronize();
  CHECK(seen == 2);
  CHECK(event.ready());
}

TEST_CASE("a record in another stream does not overtake an earlier one", "[event]") {
  host::stream slow;
  host::stream fast;
  host::stream waiting;
  host::event event;
  std::atomic<bool> open{false};
  bool done = false;
  bool right = false;
  slow.enqueue([&] {
    open.wait(false);
    done = true;
  });
  event.record(slow);
  event.wait(waiting);
  waiting.enqueue([&] { right = done; });
  event.record(fast);
  CHECK_FALSE(event.ready());
  open = true;
  open.notify_all();
  waiting.synchronize();
  CHECK(right);
  fast.synchronize();
}

TEST_CASE("waiting for an event that was never recorded is refused", "[event]") {
  host::stream stream;
  host::event const event;
  CHECK_THROWS_AS(event.wait(stream), usage_error);
}

TEST_CASE("a failure travels along events and leaves nobody waiting", "[event]") {
  host::stream first;
  host::stream second;
  host::stream third;
  host::stream sound;
  host::event a;
  host::event b;
  host::event c;
  int ran = 0;
  first.enqueue([] {
    std::this_thread::sleep_for(2ms);
    throw std::runtime_error{"cause"};
  });
  c.record(sound);
  a.record(first);
  a.wait(second);
  second.enqueue([&] { ++ran; });
  b.record(second);
  b.wait(third);
  c.wait(third);
  third.enqueue([&] { ++ran; });
  CHECK(text_thrown<std::runtime_error>([&] { third.synchronize(); }) == "cause");
  CHECK(second.failed());
  CHECK(ran == 0);
  CHECK(a.ready());
  a.wait(sound);  // the failed record is complete by now and still fails who waits for it
  CHECK_THROWS_AS(sound.synchronize(), std::runtime_error);
}

TEST_CASE("records before a failure are sound", "[event]") {
  host::stream stream;
  host::stream other;
  host::event event;
  std::atomic<bool> open{false};
  stream.enqueue([] {});
  event.record(stream);
  other.enqueue([&] { open.wait(false); });
  event.wait(other);
  stream.enqueue([] { throw 1; });
  event.record(stream);
  CHECK_THROWS_AS(stream.synchronize(), int);
  open = true;
  open.notify_all();
  other.synchronize();  // waited for the first record only
  CHECK_FALSE(other.failed());
}

TEST_CASE("a failed stream still waits, so that its dependencies are done when it has drained", "[event]") {
  host::stream slow;
  host::stream failed;
  host::event event;
  bool done = false;
  slow.enqueue([&] {
    std::this_thread::sleep_for(10ms);
    done = true;
  });
  event.record(slow);
  failed.enqueue([] { throw 1; });
  event.wait(failed);
  CHECK_THROWS_AS(failed.synchronize(), int);
  CHECK(done);
}

TEST_CASE("an event may be destroyed while it is queued", "[event]") {
  host::stream first;
  host::stream second;
  std::atomic<bool> open{false};
  int value = 0;
  bool right = false;
  first.enqueue([&] {
    open.wait(false);
    value = 7;
  });
  {
    auto const event = std::make_unique<host::event>();
    event->record(first);
    event->wait(second);
  }
  second.enqueue([&] { right = value == 7; });
  open = true;
  open.notify_all();
  second.synchronize();
  CHECK(right);
}
