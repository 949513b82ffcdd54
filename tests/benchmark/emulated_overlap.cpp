// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! How close ring and direct come to max(GEMM alone, link) + fill when an emulated link takes as long as the GEMM.
//! With --check, the exit status is 1 if the fastest number of chunks misses the target anywhere.

#include "../../examples/compare_schedules/problems.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

namespace {

using namespace compare;
using tpoverlap::direct;
using tpoverlap::ring;

constexpr double target = 1.10;
constexpr int chunk_counts[] = {1, 2, 4};

struct options {
  std::int64_t rows = 6144;
  std::int64_t hidden = 1024;
  int repeat = 7;
  double latency_microseconds = 20;
  bool check = false;
};

/// The bandwidth at which a rank's messages take as long as the GEMM of all ranks, in Gbit/s.
template <class Problem>
double balanced_bandwidth(int ranks, tpoverlap::gemm_shape shape) {
  double bandwidth = 0;
  host::run_ranks(ranks, [&](host::communicator& comm) {
    host::stream stream;
    Problem problem{comm, shape};
    contender const product = problem.alone("GEMM", 1);
    auto const times = measure(comm, stream, std::span{&product, 1}, 9);
    if (comm.rank() == 0) bandwidth = problem.bytes() * (ranks - 1) / ranks * 8 / median(times[0]) / 1e9;
  });
  return bandwidth;
}

/// One strategy at every number of chunks, each with and without its GEMM.
template <auto One, auto Two, auto Four, class Problem>
void add(std::vector<contender>& to, Problem& problem, char const* name) {
  to.push_back(problem.template strategy<One>(name));
  to.push_back(problem.template strategy<One>(name, no_gemm));
  to.push_back(problem.template strategy<Two>(name));
  to.push_back(problem.template strategy<Two>(name, no_gemm));
  to.push_back(problem.template strategy<Four>(name));
  to.push_back(problem.template strategy<Four>(name, no_gemm));
}

/// Measures and prints one class at one world size. Returns how many strategies miss the target.
template <class Problem>
int run(char const* title, int ranks, tpoverlap::gemm_shape shape, options const& chosen) {
  host::link_model const link{balanced_bandwidth<Problem>(ranks, shape), chosen.latency_microseconds * 1e-6};
  int missed = 0;
  host::run_ranks(
      ranks,
      [&](host::communicator& comm) {
        host::stream stream;
        Problem problem{comm, shape};
        std::vector<contender> contenders{problem.alone("GEMM alone", 1)};
        for (int chunks : chunk_counts) contenders.push_back(problem.alone("GEMM in pieces", ranks * chunks));
        std::size_t const first = contenders.size();
        add<ring{.chunks = 1}, ring{.chunks = 2}, ring{.chunks = 4}>(contenders, problem, "ring");
        add<direct{.chunks = 1}, direct{.chunks = 2}, direct{.chunks = 4}>(contenders, problem, "direct");
        auto const times = measure(comm, stream, contenders, chosen.repeat);
        if (comm.rank() != 0) return;

        double const gemm = median(times[0]);
        std::printf("\n%s, %d ranks, (%lld, %lld) x (%lld, %lld) on each\n", title, ranks,
                    static_cast<long long>(shape.rows), static_cast<long long>(shape.inner),
                    static_cast<long long>(shape.inner), static_cast<long long>(shape.columns));
        std::printf("%s; GEMM alone %.1f ms\n", describe(link).c_str(), gemm * 1e3);
        std::printf("%-8s %6s %9s %9s %9s %9s %9s %9s %9s\n", "strategy", "chunks", "time ms", "link ms",
                    "alone ms", "pieces", "fill ms", "/ bound", "in pieces");
        double fastest = 0;
        double ratio_of_fastest = 0;
        for (std::size_t i = first; i < contenders.size(); i += 2) {
          std::size_t const which = (i - first) / 2 % std::size(chunk_counts);
          int const chunks = chunk_counts[which];
          double const pieces = median(times[1 + which]);
          double const time = median(times[i]);
          double const wire = contenders[i].link_seconds;
          double const fill = fill_seconds(gemm, wire, ranks, chunks);
          double const ratio = time / ((std::max)(gemm, wire) + fill);
          double const ratio_in_pieces = time / ((std::max)(pieces, wire) + fill);
          std::printf("%-8s %6d %9.1f %9.1f %9.1f %9.3f %9.1f %9.3f %9.3f\n", contenders[i].name.c_str(),
                      chunks, time * 1e3, wire * 1e3, median(times[i + 1]) * 1e3, pieces / gemm, fill * 1e3,
                      ratio, ratio_in_pieces);
          if (which == 0 || time < fastest) {
            fastest = time;
            ratio_of_fastest = ratio;
          }
          if (which + 1 < std::size(chunk_counts)) continue;
          bool const met = ratio_of_fastest <= target;
          std::printf("%-8s fastest: %.1f ms, %.3f of the bound, target %.2f: %s\n",
                      contenders[i].name.c_str(), fastest * 1e3, ratio_of_fastest, target,
                      met ? "met" : "MISSED");
          if (!met) ++missed;
        }
        std::fflush(stdout);
      },
      {.link = link});
  return missed;
}

options parsed(int argc, char** argv) {
  options chosen;
  for (int i = 1; i < argc; ++i) {
    std::string_view const name = argv[i];
    if (name == "--check") {
      chosen.check = true;
    } else if (i + 1 < argc && name == "--rows") {
      chosen.rows = std::atoll(argv[++i]);
    } else if (i + 1 < argc && name == "--hidden") {
      chosen.hidden = std::atoll(argv[++i]);
    } else if (i + 1 < argc && name == "--repeat") {
      chosen.repeat = std::atoi(argv[++i]);
    } else if (i + 1 < argc && name == "--latency-us") {
      chosen.latency_microseconds = std::atof(argv[++i]);
    } else {
      std::fprintf(stderr, "usage: %s [--check] [--rows N] [--hidden N] [--repeat N] [--latency-us X]\n",
                   argv[0]);
      std::exit(2);
    }
  }
  return chosen;
}

}  // namespace

int main(int argc, char** argv) {
  options const chosen = parsed(argc, argv);
  host::set_blas_threads(1);
  std::printf(
      "Ranks are threads of one process. Medians of %d rounds in which everything is measured in turn.\n"
      "alone: the same messages without a GEMM; pieces: GEMM alone cut as the schedule cuts it, over GEMM\n"
      "alone; / bound: time over max(GEMM alone, link) + fill; in pieces: the same with the GEMM in "
      "pieces.\n",
      chosen.repeat);
  // The two halves of a feed-forward block: hidden -> 4 hidden, cut by columns, and back, cut by rows.
  std::int64_t const part2 = 4 * chosen.hidden / 2;
  std::int64_t const part4 = 4 * chosen.hidden / 4;
  char const* const gathers = "AllGather -> GEMM";
  char const* const reductions = "GEMM -> ReduceScatter";
  int const missed = run<gather_problem<2>>(gathers, 2, {chosen.rows, chosen.hidden, part2}, chosen) +
                     run<gather_problem<4>>(gathers, 4, {chosen.rows, chosen.hidden, part4}, chosen) +
                     run<reduction_problem<2>>(reductions, 2, {chosen.rows, part2, chosen.hidden}, chosen) +
                     run<reduction_problem<4>>(reductions, 4, {chosen.rows, part4, chosen.hidden}, chosen);
  return chosen.check && missed > 0 ? 1 : 0;
}
