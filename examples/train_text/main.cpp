// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Trains the same model with one rank and with several under each schedule, then compares.
//!
//! To read it from the inside out: passes.hpp is where the library is used, model.hpp says which pass comes when,
//! rank_trainer.hpp makes steps of it, and schedules.hpp is all that differs between the runs.

#include "corpus.hpp"
#include "input_error.hpp"
#include "options.hpp"
#include "report.hpp"
#include "schedules.hpp"
#include "training.hpp"

#include <tpoverlap/blas.hpp>
#include <tpoverlap/trace/chrome_trace.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using namespace train_text;

training_record train_with(std::string const& schedule, training_setup const& setup, corpus const& text,
                           progress_callback const& progress) {
  if (schedule == "ring") return train<ring_schedule>(setup, text, progress);
  if (schedule == "direct") return train<direct_schedule>(setup, text, progress);
  if (schedule == "pipeline") return train<pipeline_schedule>(setup, text, progress);
  return train<blocking_schedule>(setup, text, progress);
}

int compare_schedules(options const& chosen) {
  auto const text = read_files(chosen.texts);
  require_enough(text, chosen.shape.context, chosen.shape.rows);
  // Better to learn now than after the training that this file cannot be written.
  if (!chosen.trace.empty()) tpoverlap::trace::write_chrome_trace(chosen.trace, {});
  print_heading(chosen, text.size());

  std::vector<run> runs;
  auto const add_run = [&](std::string const& name, std::string const& schedule, int ranks) {
    bool const last = ranks == chosen.ranks && schedule == chosen.schedules.back();
    training_setup const setup{.shape = chosen.shape,
                               .ranks = ranks,
                               .steps = chosen.steps,
                               .seed = chosen.seed,
                               .link = chosen.link,
                               .traced = last && !chosen.trace.empty()};
    runs.push_back({name, ranks, train_with(schedule, setup, text, progress_printer(name, chosen.steps))});
  };
  add_run("one rank", "blocking", 1);
  for (auto const& schedule : chosen.schedules) add_run(schedule, schedule, chosen.ranks);

  if (!chosen.trace.empty()) {
    tpoverlap::trace::write_chrome_trace(chosen.trace, runs.back().record.events);
    print_trace_notice(runs.back(), chosen);
  }
  print_table(runs, chosen.link);
  return print_verdict(runs) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  // Ranks are threads already; a threaded BLAS beneath each would only crowd the machine.
  tpoverlap::host::set_blas_threads(1);
  try {
    auto const chosen = parse_options(argc, argv);
    return chosen ? compare_schedules(*chosen) : 0;
  } catch (input_error const& error) {
    std::fprintf(stderr, "train_text: %s\n", error.what());
    return 2;
  } catch (tpoverlap::trace::file_error const& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "train_text: %s\n", error.what());
    return 1;
  }
}
