// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "reduction_rank.hpp"

namespace tpoverlap_test {

policy_cases reduction_optimized_cases() {
  policy_cases cases;
  list_reduction<float, ring{.chunks = 2}, reduction{}>(cases, all_worlds{});
  list_reduction<float, ring{.chunks = 3}, reduction{}>(cases, all_worlds{});
  list_reduction<float, direct{.chunks = 2}, reduction{}>(cases, all_worlds{});
  list_reduction<float, pipeline{.chunks = 3}, reduction{}>(cases, all_worlds{});
  return cases;
}

}  // namespace tpoverlap_test
