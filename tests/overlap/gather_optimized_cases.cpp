// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "gather_rank.hpp"

namespace tpoverlap_test {

policy_cases gather_optimized_cases() {
  policy_cases cases;
  list_gather<float, ring{.chunks = 2}, gather{}>(cases, all_worlds{});
  list_gather<float, ring{.chunks = 3}, gather{}>(cases, all_worlds{});
  list_gather<float, direct{.chunks = 2}, gather{}>(cases, all_worlds{});
  list_gather<float, pipeline{.chunks = 3}, gather{}>(cases, all_worlds{});
  return cases;
}

}  // namespace tpoverlap_test
