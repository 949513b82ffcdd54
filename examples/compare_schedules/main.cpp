// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Runs every strategy of a dependency class on one GEMM shape and an emulated link, and prints what each hides.

#include "comparison.hpp"
#include "report.hpp"

#include <tpoverlap/blas.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

namespace {

constexpr char const* description = R"(Compares all strategies of one dependency class.

Ranks are threads of this process, messages travel over an emulated link: each rank has one full-duplex
link of the given bandwidth to a switch. Everything is measured in turn, round by round; times are medians.

The bound is max(GEMM alone, link) + fill.
  GEMM alone  all ranks at the same time, in one piece, measured
  link        bytes that a rank receives / bandwidth + latency of each exchange or collective, computed
  fill        what cannot be hidden by construction. A gather: the GEMM of the tile that arrives last.
              A reduction: the GEMM of the tile that leaves first. One message instead, where that is
              shorter. A tile is one chunk of one shard, also for strategies that cut more coarsely.
              Side work depends on nothing and has no fill.
Hidden is the share of the link time that does not show: 1 - (time - GEMM alone) / link.)";

void tell(std::string_view line) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

}  // namespace

int main(int argc, char** argv) {
  compare::request asked;
  std::string dependency = "ag";
  bool json = false;
  double microseconds = 20;

  CLI::App app{description};
  app.get_formatter()->column_width(36);
  app.add_option("--class", dependency,
                 "ag: AllGather feeds GEMM; rs: GEMM feeds ReduceScatter; bulk: side by side")
      ->check(CLI::IsMember({"ag", "rs", "bulk"}))
      ->capture_default_str();
  app.add_option("--ranks", asked.ranks)->check(CLI::IsMember({2, 4}))->capture_default_str();
  app.add_option("--rows", asked.shape.rows, "of all ranks together")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--inner", asked.shape.inner, "contraction dimension on each rank")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--columns", asked.shape.columns, "of the result on each rank")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--chunks", asked.chunks, "tiles that a shard is cut into")
      ->check(CLI::IsMember({1, 2, 4}))
      ->capture_default_str();
  CLI::Option const* const rate =
      app.add_option("--link-gbps", asked.link.gigabits_per_second,
                     "bandwidth in Gbit/s; by default the link takes as long as the GEMM")
          ->check(CLI::PositiveNumber);
  app.add_option("--latency-us", microseconds)->check(CLI::NonNegativeNumber)->capture_default_str();
  app.add_option("--repeat", asked.repeat, "rounds after the warm-up")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--json", json, "print JSON instead of a table; progress goes to stderr either way");
  CLI11_PARSE(app, argc, argv);

  asked.balanced = rate->count() == 0;
  asked.link.latency_seconds = microseconds * 1e-6;
  if (!tpoverlap::host::set_blas_threads(1)) tell("note: this BLAS may use several threads for each rank");
  try {
    compare::comparison const result = dependency == "ag"   ? compare::compare_gathers(asked, tell)
                                       : dependency == "rs" ? compare::compare_reductions(asked, tell)
                                                            : compare::compare_side_work(asked, tell);
    std::string const text =
        json ? compare::as_json(dependency, asked, result) : compare::as_table(dependency, asked, result);
    std::fputs(text.c_str(), stdout);
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
  return 0;
}
