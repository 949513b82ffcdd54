// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "quick_compile.hpp"

#include "reduction_rank.hpp"

namespace tpoverlap_test {

policy_cases reduction_ring_cases() {
  constexpr reduction fused{.accumulate = accumulation::fused};
  policy_cases cases;
  list_reduction<float, ring{.chunks = 1}, reduction{}>(cases, all_worlds{});
  list_reduction<float, ring{.chunks = 1, .way = direction::backward}, reduction{}>(cases, all_worlds{});
  list_reduction<float, ring{.chunks = 2, .way = direction::backward}, reduction{}>(cases, all_worlds{});
  list_reduction<float, ring{.chunks = 3, .way = direction::backward}, reduction{}>(cases, all_worlds{});
  list_reduction<float, ring{.chunks = 2, .way = direction::both}, reduction{}>(cases, all_worlds{});
  list_reduction<float, ring{.chunks = 3, .way = direction::both}, reduction{}>(cases, all_worlds{});
  list_reduction<float, ring{.chunks = 2, .depth = 2}, reduction{}>(cases, all_worlds{});
  list_reduction<float, ring{.chunks = 3, .way = direction::both, .depth = 2}, reduction{}>(cases,
                                                                                            all_worlds{});
  list_reduction<float, ring{.chunks = 1}, fused>(cases, some_worlds{});
  list_reduction<float, ring{.chunks = 3, .way = direction::backward}, fused>(cases, some_worlds{});
  list_reduction<float, ring{.chunks = 2, .way = direction::both}, fused>(cases, some_worlds{});
  list_reduction<float, ring{.chunks = 3, .depth = 2}, fused>(cases, some_worlds{});
  return cases;
}

}  // namespace tpoverlap_test
