// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A whole training run, seen from outside.
#pragma once

#include "corpus.hpp"
#include "model_shape.hpp"

#include <tpoverlap/host/link_model.hpp>
#include <tpoverlap/trace/event.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace train_text {

struct training_setup {
  model_shape shape;
  int ranks = 1;
  int steps = 0;
  std::uint64_t seed = 0;
  tpoverlap::host::link_model link;
  bool traced = false;
};

struct training_record {
  std::vector<double> losses;                   ///< of each step's batch, before it is learnt from
  std::vector<double> seconds;                  ///< of each step
  std::vector<tpoverlap::trace::event> events;  ///< of the last step on every rank, if it was traced
};

/// Called by the first rank after each step with what is known so far.
using progress_callback = std::function<void(training_record const&)>;

/// Trains from scratch. `Schedule` is one of schedules.hpp; each is compiled in a file of its own, train_<schedule>.cpp,
/// so that a build can share the work.
template <class Schedule>
training_record train(training_setup const& setup, corpus const& text, progress_callback const& progress);

}  // namespace train_text
