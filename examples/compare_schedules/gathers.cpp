// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The strategies of `producer_before_consumer`, one beside the other.

#include "run_comparison.hpp"

namespace compare {

namespace {

using namespace tpoverlap;

template <auto Strategy, int Ranks>
entry gather_entry(gather_problem<Ranks>& problem, char const* name) {
  return {problem.template strategy<Strategy>(name), problem.template strategy<Strategy>(name, no_gemm)};
}

}  // namespace

comparison compare_gathers(request const& asked, progress const& tell) {
  return dispatch_world<2, 4>(asked.ranks, [&]<int Ranks>(world<Ranks>) {
    // Chunk counts are compiled in like world sizes, and dispatched in the same way.
    return dispatch_world<1, 2, 4>(asked.chunks, [&]<int Chunks>(world<Chunks>) {
      using problem_type = gather_problem<Ranks>;
      return run_comparison<problem_type>(asked, tell, false, [](problem_type& problem) {
        return std::vector<entry>{
            gather_entry<blocking{}>(problem, "blocking"),
            gather_entry<ring{.chunks = Chunks}>(problem, "ring"),
            gather_entry<ring{.chunks = Chunks, .way = direction::both}>(problem, "ring, both ways"),
            gather_entry<direct{.chunks = Chunks}>(problem, "direct"),
            gather_entry<pipeline{.chunks = Chunks}>(problem, "pipeline"),
        };
      });
    });
  });
}

}  // namespace compare
