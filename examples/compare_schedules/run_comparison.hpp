// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The measurement that the three classes share: balance the link, measure everything in turn, relate the medians.
#pragma once

#include "comparison.hpp"
#include "problems.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace compare {

/// One strategy with and without its GEMM, and which entry of the list is its baseline.
struct entry {
  contender whole;
  contender communication;
  std::size_t baseline = 0;
};

/// Gigabits a second at which the shards that a rank receives take as long as the GEMM of all ranks.
template <class Problem>
[[nodiscard]] double balanced_bandwidth(request const& asked, double& gemm_seconds) {
  double bandwidth = 0;
  host::run_ranks(asked.ranks, [&](host::communicator& comm) {
    host::stream stream;
    Problem problem{comm, asked.shape};
    contender const product = problem.alone("GEMM", 1);
    auto const times = measure(comm, stream, std::span{&product, 1}, 5);
    if (comm.rank() != 0) return;
    gemm_seconds = median(times[0]);
    double const received = problem.bytes() * (asked.ranks - 1) / asked.ranks;
    bandwidth = received * 8 / gemm_seconds / 1e9;
  });
  return bandwidth;
}

/// `list(problem)` returns the entries; `bare` says whether the class has no fill.
template <class Problem, class List>
[[nodiscard]] comparison run_comparison(request const& asked, progress const& tell, bool bare, List list) {
  comparison result;
  result.link = asked.link;
  char text[160];
  if (asked.balanced) {
    double seconds = 0;
    result.link.gigabits_per_second = balanced_bandwidth<Problem>(asked, seconds);
    std::snprintf(text, sizeof text, "GEMM alone: %.1f ms; the link gets %.3g Gbit/s to take as long",
                  seconds * 1e3, result.link.gigabits_per_second);
    tell(text);
  }
  result.pieces = bare ? 1 : asked.ranks * asked.chunks;
  host::run_ranks(asked.ranks,
                  [&](host::communicator& comm) {
                    host::stream stream;
                    Problem problem{comm, asked.shape};
                    std::vector<contender> contenders{problem.alone("GEMM alone", 1),
                                                      problem.alone("GEMM alone, in pieces", result.pieces)};
                    std::vector<std::size_t> baselines;
                    for (entry& each : list(problem)) {
                      contenders.push_back(std::move(each.whole));
                      contenders.push_back(std::move(each.communication));
                      baselines.push_back(each.baseline);
                    }
                    auto const times = measure(
                        comm, stream, contenders, asked.repeat, [&](int round, std::span<double const>) {
                          if (round == 0) return tell("warmed up");
                          std::snprintf(text, sizeof text, "round %d of %d", round, asked.repeat);
                          tell(text);
                        });
                    if (comm.rank() != 0) return;

                    result.gemm = median(times[0]);
                    result.gemm_in_pieces = median(times[1]);
                    // Every strategy is held against the shortest fill, whatever size its own tiles have.
                    double const link =
                        result.link.seconds_on_wire(1) * problem.bytes() * (asked.ranks - 1) / asked.ranks;
                    result.fill = bare ? 0 : fill_seconds(result.gemm, link, asked.ranks, asked.chunks);
                    for (std::size_t i = 0; i < baselines.size(); ++i) {
                      row made;
                      made.strategy = contenders[2 + 2 * i].name;
                      made.time = median(times[2 + 2 * i]);
                      made.communication = median(times[3 + 2 * i]);
                      made.link = contenders[2 + 2 * i].link_seconds;
                      made.bound = (std::max)(result.gemm, made.link) + result.fill;
                      made.to_blocking = made.time / median(times[2 + 2 * baselines[i]]);
                      made.to_bound = made.time / made.bound;
                      double const exposed = (std::max)(0.0, made.time - result.gemm);
                      made.hidden = made.link > 0 ? (std::max)(0.0, 1 - exposed / made.link) : 0;
                      result.rows.push_back(std::move(made));
                    }
                  },
                  {.link = result.link});
  return result;
}

}  // namespace compare
