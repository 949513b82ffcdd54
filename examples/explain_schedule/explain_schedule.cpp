// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Explains a schedule without running it: who works when, what waits for what, which memory it takes, how much
// communication it hides, and whether it is right. The program is built at run time, so any number of ranks will do.
//
// Exit status: 0, 1 for a schedule that the proof rejects, 2 for a command line that makes no sense.

#include "choices.hpp"

#include <tpoverlap/schedule/build.hpp>
#include <tpoverlap/schedule/critical_path.hpp>
#include <tpoverlap/schedule/print_dot.hpp>
#include <tpoverlap/schedule/print_grid.hpp>
#include <tpoverlap/schedule/print_memory.hpp>
#include <tpoverlap/schedule/print_text.hpp>
#include <tpoverlap/schedule/verify.hpp>
#include <tpoverlap/strategies/gather_strategies.hpp>
#include <tpoverlap/strategies/reduction_strategies.hpp>
#include <tpoverlap/strategies/side_strategies.hpp>

#include <iostream>

namespace {

namespace tpo = tpoverlap;

void print_length(char const* name, tpo::path_length const& length) {
  std::cout << name << length.total() << "  (GEMM tiles " << length.gemm_tiles << ", messages "
            << length.messages << ")\n";
}

void print_critical_path(tpo::critical_path const& path) {
  std::cout << "Critical path, counted in GEMM tiles and in messages of one tile\n";
  print_length("  longest chain  ", path.longest);
  print_length("  all in a row   ", path.serial);
  std::cout << "  hidden         " << path.hidden() << "\n";
  if (path.serial.messages == 0) {
    std::cout << "  There is no communication to hide.\n";
  } else if (path.hides_nothing()) {
    std::cout << "  This policy hides nothing: no message travels while a GEMM runs.\n";
  }
}

void print_everything(choices const& chosen, tpo::program_view const& program, bool right) {
  if (right) std::cout << "Grid\n" << tpo::to_grid(program) << "\n";
  std::cout << "Operations of rank " << chosen.rank << "\n" << tpo::to_text(program, chosen.rank) << "\n";
  if (right) {
    std::cout << "Memory of each rank\n" << tpo::to_memory(program) << "\n";
    print_critical_path(tpo::critical_path_of(program));
    std::cout << "\n";
  }
}

int explain(choices const& chosen, tpo::program_view const& program) {
  tpo::violation const verdict = tpo::verify(program);
  switch (chosen.format) {
    case output_format::all: print_everything(chosen, program, verdict.verified()); break;
    case output_format::text: std::cout << tpo::to_text(program, chosen.rank); break;
    case output_format::dot: std::cout << tpo::to_dot(program, chosen.rank); break;
    case output_format::grid: std::cout << tpo::to_grid(program); break;
  }
  if (chosen.format == output_format::all) {
    std::cout << "Verdict\n  " << tpo::to_text(verdict, program) << "\n";
  } else if (!verdict.verified()) {
    std::cerr << tpo::to_text(verdict, program) << "\n";
  }
  return verdict.verified() ? 0 : 1;
}

/// `emit` finds the strategy's function, whether it is one of the library's or your own.
template <class Strategy>
int explain_gather(choices const& chosen, Strategy const& strategy) {
  tpo::gather_builder builder{tpo::group_of(strategy, chosen.ranks), chosen.chunks, chosen.gather,
                              chosen.depth, tpo::ratio_of(strategy)};
  emit(builder, strategy);
  builder.program().finish();
  synchronize(builder.program());
  return explain(chosen, builder.program().view());
}

template <class Strategy>
int explain_reduction(choices const& chosen, Strategy const& strategy) {
  tpo::reduction_builder builder{tpo::group_of(strategy, chosen.ranks), chosen.chunks, chosen.reduction,
                                 tpo::ratio_of(strategy)};
  emit(builder, strategy);
  builder.program().finish();
  synchronize(builder.program());
  return explain(chosen, builder.program().view());
}

template <class Strategy>
int explain_side_work(choices const& chosen, Strategy const& strategy) {
  tpo::program_builder builder{tpo::group_of(strategy, chosen.ranks), 1};
  emit(builder, strategy);
  builder.finish();
  synchronize(builder);
  return explain(chosen, builder.view());
}

template <class Strategy>
int explain_edge(choices const& chosen, Strategy const& strategy) {
  if (chosen.edge == dependency_class::gather) return explain_gather(chosen, strategy);
  return explain_reduction(chosen, strategy);
}

int explain_policy(choices const& chosen) {
  int const chunks = chosen.chunks;
  int const depth = chosen.depth;
  tpo::chunk_ratio const ratio = chosen.ratio;
  switch (chosen.strategy) {
    case policy::blocking: return explain_edge(chosen, tpo::blocking{});
    case policy::ring:
      return explain_edge(chosen,
                          tpo::ring{.chunks = chunks, .way = chosen.way, .depth = depth, .ratio = ratio});
    case policy::direct:
      return explain_edge(chosen, tpo::direct{.chunks = chunks, .depth = depth, .ratio = ratio});
    case policy::pipeline: return explain_edge(chosen, tpo::pipeline{.chunks = chunks, .ratio = ratio});
    case policy::all_gather: return explain_side_work(chosen, tpo::all_gather{});
    case policy::reduce_scatter: return explain_side_work(chosen, tpo::reduce_scatter{});
    case policy::all_reduce: return explain_side_work(chosen, tpo::all_reduce{});
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  int status = 0;
  auto const chosen = read_command_line(argc, argv, status);
  return chosen ? explain_policy(*chosen) : status;
}
