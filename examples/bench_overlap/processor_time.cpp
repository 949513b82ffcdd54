// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "processor_time.hpp"

#include "measurement.hpp"

#include <tpoverlap/core/message.hpp>
#include <tpoverlap/host/event.hpp>

#include <chrono>
#include <ctime>
#include <vector>

namespace bench {

namespace {

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

processor_time measure_processor_time(transport& comm, stream& in, std::size_t bytes, int rounds) {
  using tpoverlap::message;
  constexpr int lane = 1;
  int const next = (comm.rank() + 1) % comm.size();
  int const previous = (comm.rank() + comm.size() - 1) % comm.size();
  std::vector<std::byte> out(bytes);
  std::vector<std::byte> arriving(bytes);
  message const halves[]{{message::direction::send, next, out.data(), bytes},
                         {message::direction::receive, previous, arriving.data(), bytes}};
  tpoverlap::host::event done;
  std::vector<double> seconds;
  std::vector<double> process_shares;
  std::vector<double> lane_shares;
  for (int round = 0; round <= rounds; ++round) {
    double lane_began = 0;
    double lane_ended = 0;
    comm.barrier();
    double const process_began = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    auto const began = std::chrono::steady_clock::now();
    comm.lane(lane).enqueue([&] { lane_began = seconds_of(CLOCK_THREAD_CPUTIME_ID); });
    comm.exchange(lane, halves, {"comm_cpu"});
    comm.lane(lane).enqueue([&] { lane_ended = seconds_of(CLOCK_THREAD_CPUTIME_ID); });
    done.record(comm.lane(lane));
    done.wait(in);
    comm.wait(in);
    std::chrono::duration<double> const passed = std::chrono::steady_clock::now() - began;
    double const spent = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - process_began;
    int const ranks_here = comm.in_one_process() ? comm.size() : 1;
    // The first round touches the memory for the first time.
    if (round == 0) continue;
    seconds.push_back(passed.count());
    process_shares.push_back(spent / passed.count() / ranks_here);
    lane_shares.push_back((lane_ended - lane_began) / passed.count());
  }
  return {bytes, largest(comm, median(seconds)), largest(comm, median(process_shares)),
          largest(comm, median(lane_shares))};
}

}  // namespace bench
