// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Measures several things in turn, on all ranks at once, so that whatever slows the machine down slows all of them.
#pragma once

#include <tpoverlap/host.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace compare {

namespace host = tpoverlap::host;

[[nodiscard]] inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  std::size_t const middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Something whose time is of interest: `issue` puts it into a stream and returns.
struct contender {
  std::string name;
  std::function<void(host::stream&)> issue;
  double link_seconds = 0;  ///< what its messages take on the emulated link, one after another
};

/// Told after each round, on rank 0 only. Round 0 is the warm-up.
using round_listener = std::function<void(int round, std::span<double const> seconds)>;

/// Runs all contenders once to warm up and then `rounds` times, in an order that rotates. Collective.
///
/// A time runs from the first rank that leaves the barrier to the last that has everything done. Returns them by
/// contender, the same on all ranks.
[[nodiscard]] inline std::vector<std::vector<double>> measure(host::communicator& comm, host::stream& stream,
                                                              std::span<contender const> contenders,
                                                              int rounds,
                                                              round_listener const& listener = {}) {
  using clock = std::chrono::steady_clock;
  auto const nanoseconds = [](clock::time_point moment) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(moment.time_since_epoch()).count());
  };
  std::size_t const count = contenders.size();
  std::vector<std::uint64_t> all(2 * static_cast<std::size_t>(comm.size()));
  std::vector<std::vector<double>> times(count);
  std::vector<double> latest(count);
  for (int round = 0; round <= rounds; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t const index = (i + static_cast<std::size_t>(round)) % count;
      std::uint64_t span[2]{};
      comm.host_all_gather(span, all);
      span[0] = nanoseconds(clock::now());
      contenders[index].issue(stream);
      comm.wait(stream);
      span[1] = nanoseconds(clock::now());
      comm.host_all_gather(span, all);
      std::uint64_t first = all[0];
      std::uint64_t last = all[1];
      for (std::size_t r = 2; r < all.size(); r += 2) {
        first = (std::min)(first, all[r]);
        last = (std::max)(last, all[r + 1]);
      }
      latest[index] = static_cast<double>(last - first) * 1e-9;
      if (round > 0) times[index].push_back(latest[index]);
    }
    if (listener && comm.rank() == 0) listener(round, latest);
  }
  return times;
}

}  // namespace compare
