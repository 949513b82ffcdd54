// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "measurement.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>

namespace bench {

namespace {

using steady = std::chrono::steady_clock;

std::uint64_t nanoseconds(steady::time_point moment) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(moment.time_since_epoch()).count());
}

double slowest(transport& comm, steady::time_point began, steady::time_point ended) {
  std::uint64_t const mine[]{nanoseconds(began), nanoseconds(ended)};
  std::vector<std::uint64_t> all(2 * static_cast<std::size_t>(comm.size()));
  comm.host_all_gather(mine, all);
  std::uint64_t first = all[0];
  std::uint64_t last = all[1];
  std::uint64_t longest = 0;
  for (std::size_t r = 0; r < all.size(); r += 2) {
    first = (std::min)(first, all[r]);
    last = (std::max)(last, all[r + 1]);
    longest = (std::max)(longest, all[r + 1] - all[r]);
  }
  return static_cast<double>(comm.in_one_process() ? last - first : longest) * 1e-9;
}

}  // namespace

std::vector<std::vector<double>> measure(transport& comm, stream& in, std::span<contender const> contenders,
                                         int rounds, round_listener const& listener) {
  std::size_t const count = contenders.size();
  std::vector<std::vector<double>> times(count);
  for (int round = 0; round <= rounds; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t const index = (i + static_cast<std::size_t>(round)) % count;
      comm.barrier();
      auto const began = steady::now();
      contenders[index].issue(in);
      comm.wait(in);
      auto const ended = steady::now();
      double const seconds = slowest(comm, began, ended);
      if (round > 0) times[index].push_back(seconds);
    }
    if (listener && comm.rank() == 0) listener(round);
  }
  return times;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  std::size_t const middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double largest(transport& comm, double mine) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(comm.size()));
  std::uint64_t const word[]{std::bit_cast<std::uint64_t>(mine)};
  comm.host_all_gather(word, all);
  double most = 0;
  for (auto each : all) most = (std::max)(most, std::bit_cast<double>(each));
  return most;
}

}  // namespace bench
