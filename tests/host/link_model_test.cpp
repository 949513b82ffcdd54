// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The emulated link. Machines may be slow, so only lower bounds on time are checked.

#include "../support/catch.hpp"
#include "rank_check.hpp"

#include <tpoverlap/host.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

using namespace tpoverlap;
using namespace std::chrono_literals;

namespace {

// Seconds that rank 0 needs for what f issues to lane 1, measured from when all ranks are there.
template <class F>
double seconds_for(int ranks, host::link_model const& link, F f) {
  double seconds = 0;
  host::run_ranks(ranks,
                  [&](host::communicator& comm) {
                    std::uint64_t const mine = 1;
                    std::vector<std::uint64_t> all(static_cast<std::size_t>(comm.size()));
                    comm.lane(1);
                    comm.host_all_gather({&mine, 1}, all);
                    auto const start = std::chrono::steady_clock::now();
                    f(comm);
                    comm.wait(comm.lane(1));
                    if (comm.rank() == 0)
                      seconds =
                          std::chrono::duration<double>{std::chrono::steady_clock::now() - start}.count();
                  },
                  {.link = link});
  return seconds;
}

constexpr host::link_model gigabit{.gigabits_per_second = 1, .latency_seconds = 20e-6};
constexpr std::size_t million = 1'000'000;  // bytes: 8 ms on a gigabit link

}  // namespace

TEST_CASE("figures are labelled as emulated", "[link]") {
  CHECK(host::describe(gigabit) == "emulated link, 1 Gbit/s, 20 us");
  CHECK(host::describe({.gigabits_per_second = 0.25}) == "emulated link, 0.25 Gbit/s, 0 us");
  CHECK(host::describe({.latency_seconds = 1e-3}) == "emulated link, unlimited, 1000 us");
  CHECK(host::describe({}) == "no emulated link");
  CHECK(gigabit.seconds_on_wire(million) == Approx(8e-3));
}

TEST_CASE("a message takes at least its time on the wire plus the latency", "[link]") {
  std::vector<std::vector<char>> buffers(4, std::vector<char>(million, 'a'));
  auto const seconds = seconds_for(2, gigabit, [&](host::communicator& comm) {
    auto const peer = 1 - comm.rank();
    auto const own = static_cast<std::size_t>(2 * comm.rank());
    message const group[] = {send_to(peer, buffers[own].data(), million),
                             receive_from(peer, buffers[own + 1].data(), million)};
    comm.exchange(1, group);
  });
  CHECK(seconds >= 8.02e-3 - 1e-4);  // both ranks start the clock a little apart
}

TEST_CASE("messages to one rank share its link", "[link]") {
  std::vector<std::vector<char>> buffers(4, std::vector<char>(million, 'a'));
  auto const seconds = seconds_for(3, gigabit, [&](host::communicator& comm) {
    if (comm.rank() == 0) {
      message const group[] = {receive_from(1, buffers[0].data(), million),
                               receive_from(2, buffers[1].data(), million)};
      comm.exchange(1, group);
    } else {
      message const half = send_to(0, buffers[static_cast<std::size_t>(1 + comm.rank())].data(), million);
      comm.exchange(1, {&half, 1});
    }
  });
  CHECK(seconds >= 16.02e-3 - 1e-4);
}

TEST_CASE("a reduction receives one piece from every other rank", "[link]") {
  std::vector<std::vector<float>> buffers(3, std::vector<float>(3 * 125'000, 1.0F));
  auto const seconds = seconds_for(3, gigabit, [&](host::communicator& comm) {
    auto* const data = buffers[static_cast<std::size_t>(comm.rank())].data();
    piece const pieces[] = {{data, 125'000}, {data + 125'000, 125'000}, {data + 250'000, 125'000}};
    comm.reduce_scatter(1, pieces, data + comm.rank() * 125'000, element::float32);
  });
  CHECK(seconds >= 8.02e-3 - 1e-4);  // two pieces of half a million bytes
  CHECK(buffers[1][125'000] == 3.0F);
}

TEST_CASE("a message that the emulated link cannot carry in time is a timeout", "[link]") {
  std::vector<char> out(million);
  std::vector<char> in(million);
  auto const text = text_thrown<timeout_error>([&] {
    host::run_ranks<2>(
        [&](host::communicator& comm) {
          message const half =
              comm.rank() == 0 ? send_to(1, out.data(), million) : receive_from(0, in.data(), million);
          comm.exchange(1, {&half, 1});
          comm.wait(comm.lane(1));
        },
        {.link = {.gigabits_per_second = 0.001}, .time_limit = 500ms});
  });
  CAPTURE(text);
  CHECK(has(text, "take longer than 500 ms on the emulated link"));
}
