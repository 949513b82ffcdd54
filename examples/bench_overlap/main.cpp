// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Measures what overlap gains: in one process on an emulated link, or under mpirun on a real one.

#include "launch.hpp"
#include "launcher.hpp"
#include "options.hpp"
#include "report.hpp"

#include <tpoverlap/host/blas_gemm.hpp>

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>

namespace {

void tell(std::string_view line) {
  std::fprintf(stderr, "bench_overlap: %.*s\n", static_cast<int>(line.size()), line.data());
}

void require_writable(std::string const& file) {
  if (file.empty() || file == "-") return;
  if (!std::ofstream{file, std::ios::app}.is_open())
    throw bench::input_error{"--json: cannot write " + file + "; name a file that can be written"};
}

void print(bench::options const& chosen, bench::request const& asked, bench::comparison const& found) {
  std::string const json = as_json(asked, found);
  if (chosen.json == "-") {
    std::fputs(json.c_str(), stdout);
    return;
  }
  std::fputs(as_table(asked, found).c_str(), stdout);
  if (chosen.json.empty()) return;
  std::ofstream file{chosen.json};
  file << json;
  file.close();
  if (!file) throw bench::input_error{"--json: writing " + chosen.json + " failed; is there room?"};
}

int run(int& argc, char**& argv, std::optional<bench::launcher> const& launched) {
  auto const chosen = bench::parse_options(argc, argv, launched);
  if (!chosen) return 0;
  bool const reports = !launched || launched->rank == 0;
  if (reports) require_writable(chosen->json);
  if (!tpoverlap::host::set_blas_threads(chosen->asked.blas_threads) && reports)
    tell("note: this BLAS takes no number of threads; set it as the library wants, usually by "
         "OMP_NUM_THREADS");
  bench::reporter const report = [&](bench::request const& asked, bench::comparison const& found) {
    print(*chosen, asked, found);
  };
  if (!chosen->under_mpi) return bench::run_in_process(chosen->asked, tell, report);
#if defined(BENCH_OVERLAP_MPI)
  return bench::run_under_mpi(argc, argv, chosen->asked, launched, tell, report);
#else
  throw bench::input_error{"started as one of several ranks, or with --mpi, but built without MPI; build it "
                           "where CMake finds one, or "
                           "start it alone"};
#endif
}

}  // namespace

int main(int argc, char** argv) {
  auto const launched = bench::find_launcher();
  // What is wrong with the command line is wrong on all ranks; one says so.
  bool const speaks = !launched || launched->rank == 0;
  try {
    return run(argc, argv, launched);
  } catch (bench::input_error const& wrong) {
    if (speaks) tell(wrong.what());
    return 2;
  } catch (std::exception const& failure) {
    tell(failure.what());
    return 1;
  }
}
