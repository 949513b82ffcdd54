// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "quick_compile.hpp"

#include "gather_rank.hpp"

namespace tpoverlap_test {

policy_cases gather_kept_cases() {
  constexpr gather rows{.keep_gathered = true};
  constexpr gather left{.dimension = gathered_dimension::contraction, .keep_gathered = true};
  constexpr gather right{.dimension = gathered_dimension::contraction,
                         .keep_gathered = true,
                         .operand = gathered_operand::right};
  policy_cases cases;
  list_gather<float, blocking{}, rows>(cases, some_worlds{});
  list_gather<float, ring{.chunks = 3}, rows>(cases, some_worlds{});
  list_gather<float, ring{.chunks = 2, .way = direction::both}, rows>(cases, some_worlds{});
  list_gather<float, direct{.chunks = 2}, rows>(cases, some_worlds{});
  list_gather<float, pipeline{.chunks = 3}, rows>(cases, some_worlds{});
  list_gather<float, blocking{}, left>(cases, some_worlds{});
  list_gather<float, ring{.chunks = 2, .way = direction::backward}, left>(cases, some_worlds{});
  list_gather<float, direct{.chunks = 1}, left>(cases, some_worlds{});
  list_gather<float, pipeline{.chunks = 2}, left>(cases, some_worlds{});
  list_gather<float, ring{.chunks = 1}, right>(cases, some_worlds{});
  list_gather<float, pipeline{.chunks = 3}, right>(cases, some_worlds{});
  return cases;
}

}  // namespace tpoverlap_test
