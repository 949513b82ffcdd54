// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "quick_compile.hpp"

#include "reduction_rank.hpp"

namespace tpoverlap_test {

policy_cases reduction_wide_cases() {
  constexpr reduction wide{.reduce_in = reduction_type::float64};
  constexpr reduction everywhere{.result = reduction_result::all_reduce,
                                 .reduce_in = reduction_type::float64};
  constexpr reduction fused{.accumulate = accumulation::fused, .reduce_in = reduction_type::float64};
  constexpr reduction fused_everywhere{.result = reduction_result::all_reduce,
                                       .accumulate = accumulation::fused,
                                       .reduce_in = reduction_type::float64};
  constexpr reduction same{.reduce_in = reduction_type::float32};
  policy_cases cases;
  list_reduction<float, blocking{}, wide>(cases, some_worlds{});
  list_reduction<float, ring{.chunks = 2}, wide>(cases, some_worlds{});
  list_reduction<float, ring{.chunks = 3, .way = direction::both}, wide>(cases, some_worlds{});
  list_reduction<float, direct{.chunks = 3}, wide>(cases, some_worlds{});
  list_reduction<float, direct{.chunks = 2, .depth = 2}, wide>(cases, some_worlds{});
  list_reduction<float, pipeline{.chunks = 2}, wide>(cases, some_worlds{});
  list_reduction<float, blocking{}, everywhere>(cases, some_worlds{});
  list_reduction<float, ring{.chunks = 2, .way = direction::backward}, everywhere>(cases, some_worlds{});
  list_reduction<float, direct{.chunks = 1}, everywhere>(cases, some_worlds{});
  list_reduction<float, pipeline{.chunks = 3}, everywhere>(cases, some_worlds{});
  list_reduction<float, ring{.chunks = 2}, fused>(cases, some_worlds{});
  list_reduction<float, ring{.chunks = 3, .way = direction::both}, fused>(cases, some_worlds{});
  list_reduction<float, ring{.chunks = 2, .depth = 2}, fused_everywhere>(cases, some_worlds{});
  list_reduction<float, ring{.chunks = 2}, same>(cases, some_worlds{});
  list_reduction<float, pipeline{.chunks = 2}, same>(cases, some_worlds{});
  return cases;
}

}  // namespace tpoverlap_test
