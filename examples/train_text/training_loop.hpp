// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Defines `train`: ranks as threads, each taking the same steps.
#pragma once

#include "rank_trainer.hpp"
#include "training.hpp"

#include <tpoverlap/tpoverlap.hpp>
#include <tpoverlap/trace/event.hpp>

#include <chrono>
#include <cstddef>
#include <vector>

namespace train_text {

template <class Schedule>
training_record train(training_setup const& setup, corpus const& text, progress_callback const& progress) {
  namespace host = tpoverlap::host;
  using clock = std::chrono::steady_clock;

  training_record record;  // losses and times are rank 0's
  std::vector<std::vector<tpoverlap::trace::event>> events(static_cast<std::size_t>(setup.ranks));
  tpoverlap::dispatch_world<1, 2, 3, 4, 8>(setup.ranks, [&](auto world) {
    auto const train_one_rank = [&](host::communicator& comm) {
      recorder trace{{.calls = setup.shape.blocks}};  // of each pass: what one step makes
      rank_trainer<float, Schedule, decltype(world)> trainer{comm, setup.shape, text, setup.seed,
                                                             setup.traced ? &trace : nullptr};
      for (int step = 0; step < setup.steps; ++step) {
        if (setup.traced && step + 1 == setup.steps) trace.clear();  // keep the last step, not the first
        auto const start = clock::now();
        auto const loss = trainer.step(step);
        if (comm.rank() != 0) continue;
        record.losses.push_back(loss);
        record.seconds.push_back(std::chrono::duration<double>(clock::now() - start).count());
        progress(record);
      }
      if (setup.traced) events[static_cast<std::size_t>(comm.rank())] = trace.events();
    };
    // A slow link may be asked for; a rank that does not come at all is still noticed.
    host::run_ranks(setup.ranks, train_one_rank, {.link = setup.link, .time_limit = std::chrono::minutes{1}});
  });
  for (auto const& each : events) record.events.insert(record.events.end(), each.begin(), each.end());
  return record;
}

}  // namespace train_text
