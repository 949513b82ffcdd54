// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Progress lines, the final table, and the verdict.
#pragma once

#include "options.hpp"
#include "training.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace train_text {

struct run {
  std::string name;
  int ranks = 1;
  training_record record;
};

/// What is about to be trained, on what.
void print_heading(options const& chosen, std::size_t text_bytes);

/// A callback that prints about ten lines a run, the first after one step.
[[nodiscard]] progress_callback progress_printer(std::string const& name, int steps);

/// Says what the trace file holds.
void print_trace_notice(run const& traced, options const& chosen);

/// Prints a line for each run. The first is one rank's, to which losses are compared; the second is the blocking
/// one, to which times are.
void print_table(std::vector<run> const& runs, tpoverlap::host::link_model const& link);

/// Prints what is wrong, if anything: a loss that differs from one rank's, or did not fall. Returns whether all is well.
[[nodiscard]] bool print_verdict(std::vector<run> const& runs);

/// The largest relative difference between two runs' losses at the same step.
[[nodiscard]] double loss_difference(training_record const& a, training_record const& b);

}  // namespace train_text
