// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Measures several things in turn, on all ranks at once, so that whatever slows the machine down slows all of them.
#pragma once

#include "transport.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// Something whose time is of interest. `issue` puts it into a stream; it may block.
struct contender {
  std::string name;
  std::function<void(stream&)> issue;
};

/// Told after each round, on rank 0 only. Round 0 is the warm-up.
using round_listener = std::function<void(int round)>;

/// Runs all contenders once to warm up and then `rounds` times, in an order that rotates. Collective.
///
/// A time runs from the barrier to the slowest rank: on one clock, from the first rank that leaves the barrier to the
/// last that has everything done; between processes, whose clocks differ, it is the longest of the ranks' own times.
/// Returns seconds by contender and round, the same on all ranks.
[[nodiscard]] std::vector<std::vector<double>> measure(transport& comm, stream& in,
                                                       std::span<contender const> contenders, int rounds,
                                                       round_listener const& listener = {});

/// 0 of nothing.
[[nodiscard]] double median(std::vector<double> values);

/// The largest of the ranks' values, on every rank. Not negative.
[[nodiscard]] double largest(transport& comm, double mine);

}  // namespace bench
