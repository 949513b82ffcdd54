// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "quick_compile.hpp"

#include "gather_rank.hpp"

namespace tpoverlap_test {

policy_cases gather_direct_cases() {
  policy_cases cases;
  list_gather<float, blocking{}, gather{}>(cases, all_worlds{});
  list_gather<float, direct{.chunks = 1}, gather{}>(cases, all_worlds{});
  list_gather<float, direct{.chunks = 3}, gather{}>(cases, all_worlds{});
  list_gather<float, direct{.chunks = 2, .depth = 2}, gather{}>(cases, all_worlds{});
  list_gather<float, direct{.chunks = 3, .depth = 3}, gather{}>(cases, all_worlds{});
  list_gather<float, pipeline{.chunks = 1}, gather{}>(cases, all_worlds{});
  list_gather<float, pipeline{.chunks = 2}, gather{}>(cases, all_worlds{});
  list_gather<double, ring{.chunks = 2}, gather{}>(cases, some_worlds{});
  list_gather<double, pipeline{.chunks = 3}, gather{}>(cases, some_worlds{});
  return cases;
}

}  // namespace tpoverlap_test
