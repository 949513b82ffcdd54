// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "quick_compile.hpp"

#include "reduction_rank.hpp"

namespace tpoverlap_test {

policy_cases reduction_direct_cases() {
  policy_cases cases;
  list_reduction<float, blocking{}, reduction{}>(cases, all_worlds{});
  list_reduction<float, direct{.chunks = 1}, reduction{}>(cases, all_worlds{});
  list_reduction<float, direct{.chunks = 3}, reduction{}>(cases, all_worlds{});
  list_reduction<float, direct{.chunks = 2, .depth = 2}, reduction{}>(cases, all_worlds{});
  list_reduction<float, direct{.chunks = 1, .depth = 3}, reduction{}>(cases, all_worlds{});
  list_reduction<float, pipeline{.chunks = 1}, reduction{}>(cases, all_worlds{});
  list_reduction<float, pipeline{.chunks = 2}, reduction{}>(cases, all_worlds{});
  list_reduction<double, ring{.chunks = 2}, reduction{}>(cases, some_worlds{});
  list_reduction<double, direct{.chunks = 2}, reduction{}>(cases, some_worlds{});
  return cases;
}

}  // namespace tpoverlap_test
