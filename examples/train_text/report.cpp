// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "report.hpp"

#include <tpoverlap/host/link_model.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>

namespace train_text {
namespace {

constexpr double largest_difference_allowed = 1e-4;

double median_seconds(training_record const& record) {
  auto seconds = record.seconds;
  auto const middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

}  // namespace

void print_heading(options const& chosen, std::size_t text_bytes) {
  auto const& shape = chosen.shape;
  std::printf("Training on %zu bytes of text: %d blocks, %lld wide and %lld hidden, %lld positions a step, "
              "%d steps.\n"
              "%d ranks, %s.\n\n",
              text_bytes, shape.blocks, static_cast<long long>(shape.width()),
              static_cast<long long>(shape.hidden()), static_cast<long long>(shape.rows), chosen.steps,
              chosen.ranks, describe(chosen.link).c_str());
  std::fflush(stdout);
}

progress_callback progress_printer(std::string const& name, int steps) {
  return [name, steps](training_record const& record) {
    auto const step = static_cast<int>(record.losses.size());
    auto const every = std::max(1, steps / 8);
    if (step != 1 && step != steps && step % every != 0) return;
    std::printf("%-9s step %4d of %d   loss %.4f   %6.1f ms\n", name.c_str(), step, steps,
                record.losses.back(), record.seconds.back() * 1e3);
    std::fflush(stdout);
  };
}

void print_trace_notice(run const& traced, options const& chosen) {
  std::printf("\nTrace of the last step with %s (%s), for ui.perfetto.dev: %s\n", traced.name.c_str(),
              describe(chosen.link).c_str(), chosen.trace.c_str());
}

double loss_difference(training_record const& a, training_record const& b) {
  double largest = 0;
  if (a.losses.empty() || a.losses.size() != b.losses.size()) return std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < a.losses.size(); ++i) {
    auto const difference = std::abs(a.losses[i] - b.losses[i]) / std::abs(a.losses[i]);
    if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

void print_table(std::vector<run> const& runs, tpoverlap::host::link_model const& link) {
  auto const& reference = runs[0];
  auto const blocking = median_seconds(runs[1].record);
  std::printf("\n%-10s %5s   %11s   %11s   %10s   %s\n", "schedule", "ranks", "median step", "vs blocking",
              "final loss", "largest difference from one rank's loss");
  for (auto const& each : runs) {
    auto const seconds = median_seconds(each.record);
    std::printf("%-10s %5d   %8.1f ms   ", each.name.c_str(), each.ranks, seconds * 1e3);
    if (&each == &reference) {
      std::printf("%11s   %10.4f   %s\n", "-", each.record.losses.back(), "-");
    } else {
      std::printf("%10.2fx   %10.4f   %.1e\n", blocking / seconds, each.record.losses.back(),
                  loss_difference(reference.record, each.record));
    }
  }
  std::printf("Times of several ranks: %s. vs blocking: how many times as fast.\n", describe(link).c_str());
}

bool print_verdict(std::vector<run> const& runs) {
  bool well = true;
  for (auto const& each : runs) {
    if (auto const difference = loss_difference(runs[0].record, each.record);
        difference > largest_difference_allowed) {
      std::printf("FAILED: the loss of %s differs by %.1e from one rank's; %.0e is allowed.\n",
                  each.name.c_str(), difference, largest_difference_allowed);
      well = false;
      continue;
    }
    // Written so that a loss that is not a number fails, too.
    if (!(each.record.losses.back() < each.record.losses.front())) {
      std::printf("FAILED: the loss of %s did not fall: %.4f at first, %.4f at last.\n", each.name.c_str(),
                  each.record.losses.front(), each.record.losses.back());
      well = false;
    }
  }
  if (well)
    std::printf("Every loss fell and is one rank's (within %.0e at every step).\n",
                largest_difference_allowed);
  return well;
}

}  // namespace train_text
