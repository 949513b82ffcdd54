// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "quick_compile.hpp"

#include "gather_rank.hpp"

namespace tpoverlap_test {

policy_cases gather_ring_cases() {
  policy_cases cases;
  list_gather<float, ring{.chunks = 1}, gather{}>(cases, all_worlds{});
  list_gather<float, ring{.chunks = 1, .way = direction::backward}, gather{}>(cases, all_worlds{});
  list_gather<float, ring{.chunks = 1, .way = direction::both}, gather{}>(cases, all_worlds{});
  list_gather<float, ring{.chunks = 2, .way = direction::backward}, gather{}>(cases, all_worlds{});
  list_gather<float, ring{.chunks = 2, .way = direction::both}, gather{}>(cases, all_worlds{});
  list_gather<float, ring{.chunks = 3, .way = direction::backward}, gather{}>(cases, all_worlds{});
  list_gather<float, ring{.chunks = 3, .way = direction::both}, gather{}>(cases, all_worlds{});
  list_gather<float, ring{.chunks = 2, .depth = 2}, gather{}>(cases, all_worlds{});
  list_gather<float, ring{.chunks = 1, .way = direction::backward, .depth = 3}, gather{}>(cases,
                                                                                          all_worlds{});
  list_gather<float, ring{.chunks = 3, .way = direction::both, .depth = 4}, gather{}>(cases, all_worlds{});
  return cases;
}

}  // namespace tpoverlap_test
