// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "quick_compile.hpp"

#include "gather_rank.hpp"

namespace tpoverlap_test {

policy_cases gather_contraction_cases() {
  constexpr gather left{.dimension = gathered_dimension::contraction};
  constexpr gather right{.dimension = gathered_dimension::contraction, .operand = gathered_operand::right};
  policy_cases cases;
  list_gather<float, blocking{}, left>(cases, some_worlds{});
  list_gather<float, ring{.chunks = 2}, left>(cases, some_worlds{});
  list_gather<float, ring{.chunks = 1, .way = direction::backward}, left>(cases, some_worlds{});
  list_gather<float, ring{.chunks = 3, .way = direction::both}, left>(cases, some_worlds{});
  list_gather<float, ring{.chunks = 2, .way = direction::both, .depth = 4}, left>(cases, some_worlds{});
  list_gather<float, ring{.chunks = 3, .depth = 2}, left>(cases, some_worlds{});
  list_gather<float, direct{.chunks = 2}, left>(cases, some_worlds{});
  list_gather<float, pipeline{.chunks = 3}, left>(cases, some_worlds{});
  list_gather<float, blocking{}, right>(cases, some_worlds{});
  list_gather<float, ring{.chunks = 1, .way = direction::both}, right>(cases, some_worlds{});
  list_gather<float, direct{.chunks = 3, .depth = 2}, right>(cases, some_worlds{});
  list_gather<float, pipeline{.chunks = 2}, right>(cases, some_worlds{});
  return cases;
}

}  // namespace tpoverlap_test
