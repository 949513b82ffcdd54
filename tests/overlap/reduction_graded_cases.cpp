// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "quick_compile.hpp"

#include "reduction_rank.hpp"

namespace tpoverlap_test {

namespace {

using graded_worlds = std::integer_sequence<int, 2, 3, 4, 8>;

}  // namespace

policy_cases reduction_graded_cases() {
  constexpr reduction fused{.accumulate = accumulation::fused};
  constexpr reduction everywhere{.result = reduction_result::all_reduce};
  constexpr reduction wide{.reduce_in = reduction_type::float64};
  constexpr chunk_ratio doubling{.earlier = 1, .later = 2};
  constexpr chunk_ratio gentle{.earlier = 3, .later = 4};
  constexpr chunk_ratio shrinking{.earlier = 5, .later = 2};
  policy_cases cases;
  list_reduction<float, ring{.chunks = 4, .ratio = doubling}, reduction{}>(cases, graded_worlds{});
  list_reduction<float, ring{.chunks = 3, .way = direction::backward, .ratio = shrinking}, reduction{}>(
      cases, graded_worlds{});
  list_reduction<float, ring{.chunks = 5, .way = direction::both, .ratio = doubling}, reduction{}>(
      cases, graded_worlds{});
  // One slot holds shards of all sizes, one after another.
  list_reduction<float, ring{.chunks = 3, .depth = 2, .ratio = doubling}, fused>(cases, graded_worlds{});
  list_reduction<float, ring{.chunks = 4, .way = direction::both, .ratio = gentle}, everywhere>(
      cases, graded_worlds{});
  list_reduction<float, direct{.chunks = 3, .ratio = doubling}, wide>(cases, graded_worlds{});
  list_reduction<float, direct{.chunks = 4, .depth = 2, .ratio = shrinking}, reduction{}>(cases,
                                                                                          graded_worlds{});
  list_reduction<float, pipeline{.chunks = 4, .ratio = doubling}, reduction{}>(cases, graded_worlds{});
  list_reduction<float, pipeline{.chunks = 3, .ratio = gentle}, everywhere>(cases, graded_worlds{});
  return cases;
}

}  // namespace tpoverlap_test
