// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "../overlap/quick_compile.hpp"

#include "reduction_cases.hpp"

namespace tpoverlap_test {

policy_cases reduction_cases() {
  constexpr reduction fused{.accumulate = accumulation::fused};
  constexpr reduction everywhere{.result = reduction_result::all_reduce};
  policy_cases cases;
  list_reduction<blocking{}, reduction{}>(cases, all_worlds{});
  list_reduction<ring{.chunks = 2}, reduction{}>(cases, all_worlds{});
  list_reduction<ring{.chunks = 3, .way = direction::both}, reduction{}>(cases, all_worlds{});
  list_reduction<ring{.chunks = 2, .way = direction::backward}, fused>(cases, all_worlds{});
  list_reduction<direct{.chunks = 2}, reduction{}>(cases, all_worlds{});
  list_reduction<direct{.chunks = 2, .depth = 2}, reduction{}>(cases, all_worlds{});
  list_reduction<pipeline{.chunks = 4}, reduction{}>(cases, all_worlds{});
  list_reduction<blocking{}, everywhere>(cases, all_worlds{});
  list_reduction<ring{.chunks = 2}, everywhere>(cases, all_worlds{});
  return cases;
}

policy_cases wide_reduction_cases() {
  constexpr reduction wide{.reduce_in = reduction_type::float64};
  constexpr reduction fused{.accumulate = accumulation::fused, .reduce_in = reduction_type::float64};
  constexpr reduction everywhere{.result = reduction_result::all_reduce,
                                 .reduce_in = reduction_type::float64};
  policy_cases cases;
  list_reduction<blocking{}, wide>(cases, all_worlds{});
  list_reduction<ring{.chunks = 2}, wide>(cases, all_worlds{});
  list_reduction<ring{.chunks = 2}, fused>(cases, all_worlds{});
  list_reduction<direct{.chunks = 1}, everywhere>(cases, all_worlds{});
  list_reduction<pipeline{.chunks = 3}, everywhere>(cases, all_worlds{});
  return cases;
}

}  // namespace tpoverlap_test
