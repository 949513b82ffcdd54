// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The collectives of `independent_side_work`, each beside the GEMM and before it.

#include "run_comparison.hpp"

namespace compare {

namespace {

using namespace tpoverlap;

template <auto Collective, int Ranks>
void add_pair(std::vector<entry>& entries, side_problem<Ranks>& problem, std::string const& name) {
  std::size_t const baseline = entries.size();
  contender const alone = problem.template strategy<Collective>(name, no_gemm);
  entries.push_back(
      {problem.template one_after_the_other<Collective>(name + ", then GEMM"), alone, baseline});
  entries.push_back({problem.template strategy<Collective>(name + " beside GEMM"), alone, baseline});
}

}  // namespace

comparison compare_side_work(request const& asked, progress const& tell) {
  return dispatch_world<2, 4>(asked.ranks, [&]<int Ranks>(world<Ranks>) {
    using problem_type = side_problem<Ranks>;
    return run_comparison<problem_type>(asked, tell, true, [](problem_type& problem) {
      std::vector<entry> entries;
      add_pair<all_gather{}>(entries, problem, "all_gather");
      add_pair<reduce_scatter{}>(entries, problem, "reduce_scatter");
      add_pair<all_reduce{}>(entries, problem, "all_reduce");
      return entries;
    });
  });
}

}  // namespace compare
