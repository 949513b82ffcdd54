// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "options.hpp"

#include "strategies.hpp"
#include "worlds.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

namespace {

constexpr char const* description = R"(Measures what overlap gains, in one run against what it has to beat.

Started alone, ranks are threads of this process and messages travel over an emulated link: each rank has one
full-duplex link of the given bandwidth to a switch. Started by mpirun, ranks are its processes, and messages
travel as MPI lets them. Results are checked once; then everything is measured in turn, round by round, in an
order that rotates: the GEMM alone, in one piece and in the pieces of each strategy; the communication of
each strategy alone; the two baselines, which do one after the other:
  library   with the MPI library's own collective, on the calling thread (MPI only)
  blocking  with the transport of the overlapped calls
and the overlapped calls themselves. Times are medians, from the barrier to the slowest rank.

The bound is max(GEMM alone, wire) + fill; of an MLP, summed over its passes.
  GEMM alone  all ranks at the same time, in one piece, measured
  wire        bytes that a rank receives, at the rate of the emulated link, at --mbit, or else at the rate of
              the fastest communication alone in this run
  fill        what cannot be hidden by construction. A gather: the GEMM of the tile that arrives last. A
              reduction: the GEMM of the tile that leaves first. One message instead, where that is shorter.
              A tile is one chunk of one shard, also for strategies that cut more coarsely. Side work depends
              on nothing and has no fill. Baselines are held against the smallest fill of the table.
Hidden is the share of the wire's time that does not show: 1 - (time - GEMM alone) / wire.)";

constexpr std::pair<char const*, job> jobs[] = {
    {"ag", job::gather}, {"rs", job::reduction}, {"bulk", job::side_work}, {"mlp", job::mlp}};

/// What can be named on the command line, in order of appearance.
struct known {
  std::vector<std::string> names;
  std::vector<int> chunks;

  void add(char const* name, int count) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
    if (count > 0 && std::find(chunks.begin(), chunks.end(), count) == chunks.end()) chunks.push_back(count);
  }
};

/// Calls `look(name, chunks)` for every strategy of the class.
template <class Look>
void for_each_of(job what, Look look) {
  auto const by_first = [&]<auto Strategy, auto... Others>(char const* name) {
    look(name, what == job::side_work ? 0 : tpoverlap::chunks_of(Strategy));
  };
  switch (what) {
    case job::gather: for_each_gather<2>(by_first); break;
    case job::reduction: for_each_reduction<2>(by_first); break;
    case job::side_work: for_each_collective<2>(by_first); break;
    case job::mlp: for_each_mlp<2>(by_first); break;
  }
}

template <class List>
std::string listed(List const& list) {
  std::string text;
  for (auto const& each : list) {
    if (!text.empty()) text += ", ";
    if constexpr (std::is_same_v<std::decay_t<decltype(each)>, std::string>) {
      text += each;
    } else {
      text += std::to_string(each);
    }
  }
  return text;
}

/// Throws unless all of `wanted` is in `list`.
template <class List>
void require_known(char const* option, List const& wanted, List const& list, char const* what) {
  for (auto const& each : wanted) {
    if (std::find(list.begin(), list.end(), each) != list.end()) continue;
    List const one{each};
    throw input_error{std::string{option} + ": " + listed(one) + " is not compiled in for --class " + what +
                      (list.empty() ? "; leave it out" : "; choose from " + listed(list))};
  }
}

/// Options that mean something in one process only, or under MPI only.
void refuse_misplaced(CLI::App const& app, bool under_mpi) {
  for (char const* name : {"--ranks", "--balance", "--link-gbps", "--latency-us"}) {
    if (under_mpi && app.count(name) > 0)
      throw input_error{std::string{name} +
                        ": is for ranks that are threads of one process; under MPI the launcher "
                        "sets the ranks, and the network is what it is"};
  }
  if (!under_mpi && app.count("--mbit") > 0)
    throw input_error{
        "--mbit: is what a real line carries, for runs under MPI; --link-gbps sets the emulated one"};
}

}  // namespace

void require_compiled(int ranks) {
  std::vector<int> const known(std::begin(worlds), std::end(worlds));
  if (std::find(known.begin(), known.end(), ranks) != known.end()) return;
  throw input_error{"this program is not compiled for " + std::to_string(ranks) + " ranks; choose from " +
                    listed(known) + ", or configure with -DBENCH_OVERLAP_WORLDS=\"" + std::to_string(ranks) +
                    "\""};
}

char const* name_of(job what) {
  for (auto const& each : jobs)
    if (each.second == what) return each.first;
  return "";
}

std::optional<options> parse_options(int argc, char const* const* argv,
                                     std::optional<launcher> const& launched) {
  options chosen;
  request& asked = chosen.asked;
  std::string what = "ag";
  double microseconds = 20;
  bool forced = false;

  CLI::App app{description};
  app.get_formatter()->column_width(34);
  app.add_option("--class", what,
                 "ag: AllGather feeds GEMM; rs: GEMM feeds ReduceScatter; bulk: side by side; mlp: an MLP, "
                 "forward and backward")
      ->check(CLI::IsMember({"ag", "rs", "bulk", "mlp"}))
      ->capture_default_str();
  app.add_option(
         "--rows", asked.rows,
         "rows of each rank's shard; the GEMM has ranks times as many (2048 under MPI, 512 in one process)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
  app.add_option("--inner", asked.inner,
                 "contraction dimension on each rank (1024; 4096 for rs); of an mlp, its width")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
  app.add_option("--columns", asked.columns,
                 "of the GEMM's result on each rank (4096; 1024 for rs); of an mlp, the hidden columns there")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
  app.add_option("--strategy", asked.strategies,
                 "only these, besides the baselines, separated by commas; for bulk, collectives")
      ->delimiter(',');
  app.add_option("--chunks", asked.chunks, "only strategies with so many, separated by commas")
      ->delimiter(',');
  app.add_option("--repeat", asked.repeat, "rounds after the warm-up")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--message-bytes", asked.message_bytes, "of the message whose processor time is measured")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40))
      ->capture_default_str();
  app.add_option("--blas-threads", asked.blas_threads, "threads that each rank's BLAS may use")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--json", chosen.json,
                 "write JSON to this file besides the table; - for JSON instead of the table");
  app.add_flag("--spoil", asked.spoils,
               "change one element of each result before it is checked: the run has to end with status 1");

  char const* const alone = "Ranks in one process";
  app.add_option("--ranks", asked.ranks, "ranks, each a thread")->capture_default_str()->group(alone);
  bool balances = false;
  auto* const balance =
      app.add_flag("--balance", balances,
                   "choose the bandwidth so that the wire takes as long as the GEMM; the default")
          ->group(alone);
  auto* const rate = app.add_option("--link-gbps", asked.link.gigabits_per_second,
                                    "bandwidth of each rank's emulated link in Gbit/s; 0 for no emulation")
                         ->check(CLI::Range(0.0, 1e6))
                         ->group(alone)
                         ->excludes(balance);
  app.add_option("--latency-us", microseconds, "latency of the emulated link")
      ->check(CLI::Range(0.0, 1e7))
      ->capture_default_str()
      ->group(alone);

  char const* const mpi = "Ranks under MPI";
  app.add_option("--mbit", asked.line_mbit, "what the line is known to carry, in Mbit/s, for the wire's time")
      ->check(CLI::PositiveNumber)
      ->group(mpi);
  app.add_flag("--mpi", forced, "start MPI although no launcher is recognized")->group(mpi);

  try {
    app.parse(argc, argv);
  } catch (CLI::CallForHelp const&) {
    std::cout << app.help();
    return std::nullopt;
  } catch (CLI::ParseError const& error) {
    throw input_error{std::string{error.what()} + " (--help lists the options)"};
  }

  chosen.under_mpi = forced || launched.has_value();
  for (auto const& each : jobs)
    if (what == each.first) asked.what = each.second;
  refuse_misplaced(app, chosen.under_mpi);
  known compiled;
  bool any = false;
  for_each_of(asked.what, [&](char const* name, int chunks) {
    compiled.add(name, chunks);
    any = any || is_wanted(asked, name, chunks);
  });
  require_known("--strategy", asked.strategies, compiled.names, what.c_str());
  require_known("--chunks", asked.chunks, compiled.chunks, what.c_str());
  if (!any)
    throw input_error{
        "--chunks: none of these strategies is compiled in with so many; add others, or leave out "
        "--chunks or --strategy"};
  if (!chosen.under_mpi) require_compiled(asked.ranks);

  bool const reduces = asked.what == job::reduction;
  if (asked.rows == 0) asked.rows = chosen.under_mpi ? 2048 : 512;
  if (asked.inner == 0) asked.inner = reduces ? 4096 : 1024;
  if (asked.columns == 0) asked.columns = reduces ? 1024 : 4096;
  asked.balanced = !chosen.under_mpi && rate->count() == 0;
  asked.link.latency_seconds = microseconds * 1e-6;
  if (rate->count() > 0 && asked.link.gigabits_per_second == 0) asked.link = {};
  return chosen;
}

}  // namespace bench
