// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "options.hpp"

#include "corpus.hpp"
#include "input_error.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <string>

namespace train_text {

std::optional<options> parse_options(int argc, char const* const* argv) {
  options chosen;
  std::string schedule = "all";
  double gigabits = 1;

  CLI::App app{
      "Trains a byte-level language model with tensor and sequence parallelism over ranks that are threads\n"
      "of this process, once with each schedule, and compares their step times and losses."};
  app.add_option("--ranks", chosen.ranks, "ranks of the tensor-parallel group")
      ->check(CLI::IsMember({1, 2, 3, 4, 8}))
      ->capture_default_str();
  app.add_option("--schedule", schedule, "how collectives hide; one of them is compared with blocking")
      ->check(CLI::IsMember({"blocking", "ring", "direct", "pipeline", "all"}))
      ->capture_default_str();
  app.add_option("--steps", chosen.steps, "training steps of each run")
      ->check(CLI::Range(2, 1'000'000))
      ->capture_default_str();
  app.add_option("--text", chosen.texts, "text to learn (default: the documents of this repository)");
  app.add_option("--link-gbps", gigabits,
                 "bandwidth of the emulated link of each rank in Gbit/s, 0 for no emulation")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--trace", chosen.trace, "file for a Chrome trace of the last schedule's last step");
  app.add_option("--seed", chosen.seed, "same seed, same numbers")->capture_default_str();
  app.add_option("--rows", chosen.shape.rows, "positions in a batch")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--context", chosen.shape.context, "bytes that a prediction sees")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--embedding", chosen.shape.embedding,
                 "numbers for each of them; the model is context x embedding wide")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--blocks", chosen.shape.blocks, "residual blocks")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();

  try {
    app.parse(argc, argv);
  } catch (CLI::CallForHelp const&) {
    std::cout << app.help();
    return std::nullopt;
  } catch (CLI::ParseError const& error) {
    throw input_error{std::string{error.what()} + " (--help lists the options)"};
  }

  if (gigabits > 0) chosen.link = {.gigabits_per_second = gigabits, .latency_seconds = 20e-6};
  chosen.schedules = {"blocking"};
  for (auto const* each : {"ring", "direct", "pipeline"}) {
    if (schedule == each || schedule == "all") chosen.schedules.emplace_back(each);
  }
  if (chosen.texts.empty()) chosen.texts = texts_of_repository(TRAIN_TEXT_REPOSITORY);
  if (chosen.texts.empty()) throw input_error{"there is no text to learn here; name a file with --text"};
  return chosen;
}

}  // namespace train_text
