// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What goes wrong between ranks: sizes that differ, ranks that do not come, aborts. Nobody is left waiting.

#include "../support/catch.hpp"
#include "rank_check.hpp"

#include <tpoverlap/host.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace tpoverlap;
using namespace std::chrono_literals;

namespace {

// Runs f on every rank of one world and returns what each of them threw. Unlike run_ranks it aborts nothing.
template <class F>
std::vector<std::exception_ptr> failures_of(int ranks, host::communicator_options const& options, F f) {
  host::world world{ranks, options};
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(ranks));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      host::communicator comm{world, rank};
      try {
        f(comm);
      } catch (...) {
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  threads.clear();
  return failures;
}

template <class Error>
std::string text_of(std::exception_ptr const& failure) {
  if (!failure) return "nothing";
  return text_thrown<Error>([&] { std::rethrow_exception(failure); });
}

void exchange_one(host::communicator& comm, message const& half, call_site where = {}) {
  comm.exchange(1, {&half, 1}, where);
  comm.wait(comm.lane(1));
}

}  // namespace

TEST_CASE("sizes that differ fail both ranks, naming both and both sizes", "[failure]") {
  for (int repeat = 0; repeat < 20; ++repeat) {
    auto const failures = failures_of(3, {}, [](host::communicator& comm) {
      std::array<char, 64> data{};
      call_site const where{"exchange", 5, 2, 1};
      if (comm.rank() == 0) exchange_one(comm, send_to(1, data.data(), 48), where);
      if (comm.rank() == 1) exchange_one(comm, receive_from(0, data.data(), 32), where);
      if (comm.rank() == 2) exchange_one(comm, receive_from(0, data.data(), 1), where);
    });
    for (std::size_t rank = 0; rank < 2; ++rank) {
      auto const text = text_of<communication_error>(failures[rank]);
      CAPTURE(rank, text);
      REQUIRE(has(text, "rank 0 sends 48 bytes, but rank 1 receives 32 bytes"));
      REQUIRE(has(text, "exchange (operation 5) of shard 2 chunk 1"));
      REQUIRE_FALSE(has(text, "aborted"));
    }
    auto const bystander = text_of<aborted_error>(failures[2]);
    CAPTURE(bystander);
    REQUIRE(has(bystander, "aborted by rank"));
    REQUIRE(has(bystander, "rank 0 sends 48 bytes, but rank 1 receives 32 bytes"));
  }
}

TEST_CASE("sizes of collectives that differ fail both ranks", "[failure]") {
  auto const failures = failures_of(2, {}, [](host::communicator& comm) {
    std::vector<float> data(8);
    piece const pieces[] = {{data.data(), 2}, {data.data() + 4, comm.rank() == 0 ? 3 : 4}};
    std::vector<float> result(4);
    comm.reduce_scatter(1, pieces, result.data(), element::float32);
    comm.wait(comm.lane(1));
  });
  for (auto const& each : failures) {
    auto const text = text_of<communication_error>(each);
    CAPTURE(text);
    CHECK(has(text, "rank 0 sends 12 bytes, but rank 1 receives 16 bytes"));
  }
}

TEST_CASE("a zero-byte message must be matched, too", "[failure]") {
  auto const sound = failures_of(2, {}, [](host::communicator& comm) {
    exchange_one(comm, comm.rank() == 0 ? send_to(1, static_cast<int*>(nullptr), 0)
                                        : receive_from(0, static_cast<int*>(nullptr), 0));
  });
  CHECK((!sound[0] && !sound[1]));
  auto const lonely = failures_of(2, {.time_limit = 30ms}, [](host::communicator& comm) {
    if (comm.rank() == 0) exchange_one(comm, send_to(1, static_cast<int*>(nullptr), 0));
  });
  CHECK(has(text_of<timeout_error>(lonely[0]), "to receive 0 bytes"));
}

TEST_CASE("a rank that does not come ends in a timeout that names rank, operation, tile and peer",
          "[failure]") {
  std::atomic<std::int64_t> waited_ms{-1};
  std::atomic<bool> issued{false};
  auto const failures = failures_of(3, {.time_limit = 200ms}, [&](host::communicator& comm) {
    if (comm.rank() == 2) return;
    int value = 0;
    if (comm.rank() == 1) {
      issued.wait(false);
      std::this_thread::sleep_for(50ms);
      exchange_one(comm, receive_from(0, &value, 1));
      return;
    }
    auto const start = std::chrono::steady_clock::now();
    try {
      message const half = receive_from(2, &value, 1);
      comm.exchange(1, {&half, 1}, {"exchange", 9, 2, 0});
      issued = true;
      issued.notify_all();
      comm.wait(comm.lane(1));
    } catch (timeout_error const& failure) {
      waited_ms = (std::chrono::steady_clock::now() - start) / 1ms;
      rank_check(failure.rank() == 0 && failure.peer() == 2, "rank and peer are told");
      rank_check(failure.where() == call_site{"exchange", 9, 2, 0}, "the place is told");
      throw;
    }
  });
  auto const text = text_of<timeout_error>(failures[0]);
  CAPTURE(text);
  CHECK(has(text,
            "rank 0: exchange (operation 9) of shard 2 chunk 0: waited 200 ms for rank 2 to send 4 bytes"));
  CHECK(has(text, "communicator_options::time_limit"));
  CHECK(waited_ms >= 200);
  auto const woken = text_of<aborted_error>(failures[1]);
  CAPTURE(woken);
  CHECK(has(woken, "rank 1: exchange: aborted by rank 0: rank 0: exchange (operation 9) of shard 2"));
}

TEST_CASE("host_all_gather is bounded", "[failure]") {
  auto const failures = failures_of(2, {.time_limit = 30ms}, [&](host::communicator& comm) {
    std::uint64_t const mine = 1;
    std::uint64_t all[2];
    if (comm.rank() == 0) comm.host_all_gather({&mine, 1}, all);
  });
  CHECK(has(text_of<timeout_error>(failures[0]), "rank 0: host_all_gather: waited 30 ms for rank 1"));
}

TEST_CASE("an abort wakes every rank, and new work is refused", "[failure]") {
  // The limit is far beyond the test's own: only the abort can end this.
  auto const failures = failures_of(4, {.time_limit = 10min}, [&](host::communicator& comm) {
    std::vector<float> data(4);
    piece const pieces[] = {{&data[0], 1}, {&data[1], 1}, {&data[2], 1}, {&data[3], 1}};
    if (comm.rank() == 3) {
      std::this_thread::sleep_for(20ms);
      comm.abort("the loss is not finite");
    } else if (comm.rank() == 0) {
      comm.reduce_scatter(1, pieces, &data[0], element::float32);
      comm.all_gather(1, &data[0], pieces, element::float32);
    } else if (comm.rank() == 1) {
      comm.all_reduce(2, pieces, element::float32);
    }
    if (comm.rank() == 2) {
      std::uint64_t const mine = 1;
      std::uint64_t all[4];
      comm.host_all_gather({&mine, 1}, all);
    }
    std::string const refused = text_thrown<aborted_error>([&] {
      for (;;) comm.exchange(1, {});
    });
    rank_check(has(refused, "aborted by rank 3: the loss is not finite"),
               "new work is refused with the reason");
    comm.wait(comm.lane(comm.rank() == 1 ? 2 : 1));
  });
  for (auto const& each : failures) {
    auto const text = text_of<aborted_error>(each);
    CAPTURE(text);
    CHECK(has(text, "aborted by rank 3: the loss is not finite"));
  }
}

TEST_CASE("after an abort, a wait for a task that does not end is bounded", "[failure]") {
  std::atomic<bool> open{false};
  host::world world{1, {.time_limit = 30ms}};
  host::communicator comm{world, 0};
  host::stream stream;
  stream.enqueue([&] { open.wait(false); });
  comm.abort("enough");
  CHECK(has(text_thrown<aborted_error>([&] { comm.wait(stream); }), "wait: aborted by rank 0: enough"));
  open = true;
  open.notify_all();
}

TEST_CASE("a task's own failure fails its stream and what waits for it, not the world", "[failure]") {
  auto const failures = failures_of(2, {.time_limit = 50ms}, [](host::communicator& comm) {
    host::stream compute;
    host::event done;
    int value = 0;
    compute.enqueue([&] {
      if (comm.rank() == 0) throw usage_error{"a GEMM that cannot run", 0};
    });
    done.record(compute);
    done.wait(comm.lane(1));
    message const half = comm.rank() == 0 ? send_to(1, &value, 1) : receive_from(0, &value, 1);
    comm.exchange(1, {&half, 1});
    if (comm.rank() == 0) {
      rank_check(text_thrown<usage_error>([&] { comm.wait(comm.lane(1)); }) != "", "the lane fails, too");
      rank_check(!comm.shared().aborted() || comm.lane(1).failed(), "the failure itself aborts nothing");
    }
    comm.wait(comm.rank() == 0 ? compute : comm.lane(1));
  });
  CHECK(has(text_of<usage_error>(failures[0]), "a GEMM that cannot run"));
  CHECK(has(text_of<timeout_error>(failures[1]), "for rank 0 to send"));
}

TEST_CASE("run_ranks rethrows the cause, not its consequences", "[failure]") {
  auto const text = text_thrown<std::runtime_error>([] {
    host::run_ranks<4>(
        [](host::communicator& comm) {
          if (comm.rank() == 2) {
            std::this_thread::sleep_for(10ms);
            throw std::runtime_error{"cause"};
          }
          int value = 0;
          exchange_one(comm, receive_from(2, &value, 1));
        },
        {.time_limit = 10min});
  });
  CHECK(text == "cause");
}

TEST_CASE("a receiver's memory is left alone after its operation has ended", "[failure]") {
  for (int repeat = 0; repeat < 30; ++repeat) {
    // Aborts race with copies: buffers are freed as soon as a rank's call has ended, which the
    // address and thread sanitizers watch.
    host::world world{2};
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < 2; ++rank)
      threads.emplace_back([&, rank] {
        host::communicator comm{world, rank};
        try {
          for (int i = 0; i < 1000; ++i) {
            std::vector<char> out(20'000, 'x');
            std::vector<char> in(20'000);
            message const group[] = {send_to(1 - rank, out.data(), out.size()),
                                     receive_from(1 - rank, in.data(), in.size())};
            comm.exchange(1, group);
            comm.lane(1).synchronize();
            rank_check(in == out, "data arrives");
          }
        } catch (aborted_error const&) {
        }
      });
    std::this_thread::sleep_for(std::chrono::microseconds{100 * repeat});
    world.abort(0, "race");
  }
}

TEST_CASE("reductions that are aborted leave nobody holding memory", "[failure]") {
  for (int repeat = 0; repeat < 30; ++repeat) {
    host::world world{3};
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < 3; ++rank)
      threads.emplace_back([&, rank] {
        host::communicator comm{world, rank};
        try {
          for (int i = 0; i < 1000; ++i) {
            std::vector<float> data(9'000, 1.0F);
            piece const pieces[] = {
                {data.data(), 3000}, {data.data() + 3000, 3000}, {data.data() + 6000, 3000}};
            comm.all_reduce(1, pieces, element::float32);
            comm.lane(1).synchronize();
            for (float each : data) rank_check(each == 3.0F, "sums");
          }
        } catch (aborted_error const&) {
        }
      });
    std::this_thread::sleep_for(std::chrono::microseconds{100 * repeat});
    world.abort(0, "race");
  }
}
