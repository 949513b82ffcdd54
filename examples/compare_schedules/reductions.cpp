// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The strategies of `consumer_before_reduction`, one beside the other.

#include "run_comparison.hpp"

namespace compare {

namespace {

using namespace tpoverlap;

template <auto Strategy, reduction Options = reduction{}, int Ranks>
entry reduction_entry(reduction_problem<Ranks>& problem, char const* name) {
  return {problem.template strategy<Strategy, Options>(name),
          problem.template strategy<Strategy, Options>(name, no_gemm)};
}

}  // namespace

comparison compare_reductions(request const& asked, progress const& tell) {
  return dispatch_world<2, 4>(asked.ranks, [&]<int Ranks>(world<Ranks>) {
    // Chunk counts are compiled in like world sizes, and dispatched in the same way.
    return dispatch_world<1, 2, 4>(asked.chunks, [&]<int Chunks>(world<Chunks>) {
      using problem_type = reduction_problem<Ranks>;
      return run_comparison<problem_type>(asked, tell, false, [](problem_type& problem) {
        constexpr reduction fused{.accumulate = accumulation::fused};
        std::vector<entry> entries{
            reduction_entry<blocking{}>(problem, "blocking"),
            reduction_entry<ring{.chunks = Chunks}>(problem, "ring"),
            reduction_entry<ring{.chunks = Chunks}, fused>(problem, "ring, fused"),
        };
        if constexpr (Chunks >= 2) {
          constexpr ring both{.chunks = Chunks, .way = direction::both};
          entries.push_back(reduction_entry<both>(problem, "ring, both ways"));
        }
        entries.push_back(reduction_entry<direct{.chunks = Chunks}>(problem, "direct"));
        entries.push_back(reduction_entry<pipeline{.chunks = Chunks}>(problem, "pipeline"));
        return entries;
      });
    });
  });
}

}  // namespace compare
