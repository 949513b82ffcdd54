// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "quick_compile.hpp"

#include "reduction_rank.hpp"

namespace tpoverlap_test {

policy_cases reduction_everywhere_cases() {
  constexpr reduction everywhere{.result = reduction_result::all_reduce};
  constexpr reduction fused{.result = reduction_result::all_reduce, .accumulate = accumulation::fused};
  policy_cases cases;
  list_reduction<float, blocking{}, everywhere>(cases, some_worlds{});
  list_reduction<float, ring{.chunks = 2}, everywhere>(cases, some_worlds{});
  list_reduction<float, ring{.chunks = 1, .way = direction::backward}, everywhere>(cases, some_worlds{});
  list_reduction<float, ring{.chunks = 3, .way = direction::both}, everywhere>(cases, some_worlds{});
  list_reduction<float, ring{.chunks = 3, .depth = 2}, everywhere>(cases, some_worlds{});
  list_reduction<float, direct{.chunks = 2}, everywhere>(cases, some_worlds{});
  list_reduction<float, direct{.chunks = 3, .depth = 2}, everywhere>(cases, some_worlds{});
  list_reduction<float, pipeline{.chunks = 3}, everywhere>(cases, some_worlds{});
  list_reduction<float, ring{.chunks = 2}, fused>(cases, some_worlds{});
  list_reduction<float, ring{.chunks = 3, .way = direction::both}, fused>(cases, some_worlds{});
  return cases;
}

}  // namespace tpoverlap_test
