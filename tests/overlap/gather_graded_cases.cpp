// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "quick_compile.hpp"

#include "gather_rank.hpp"

namespace tpoverlap_test {

namespace {

using graded_worlds = std::integer_sequence<int, 2, 3, 4, 8>;

}  // namespace

policy_cases gather_graded_cases() {
  constexpr gather left{.dimension = gathered_dimension::contraction};
  constexpr gather kept{.keep_gathered = true};
  constexpr chunk_ratio halving{.earlier = 2, .later = 1};
  constexpr chunk_ratio gentle{.earlier = 4, .later = 3};
  constexpr chunk_ratio growing{.earlier = 2, .later = 5};
  policy_cases cases;
  list_gather<float, ring{.chunks = 4, .ratio = halving}, gather{}>(cases, graded_worlds{});
  list_gather<float, ring{.chunks = 3, .way = direction::backward, .ratio = growing}, gather{}>(
      cases, graded_worlds{});
  list_gather<float, ring{.chunks = 4, .way = direction::both, .ratio = halving}, gather{}>(cases,
                                                                                            graded_worlds{});
  // One slot holds shards of all sizes, one after another.
  list_gather<float, ring{.chunks = 3, .depth = 2, .ratio = halving}, gather{}>(cases, graded_worlds{});
  list_gather<float, ring{.chunks = 2, .way = direction::both, .depth = 4, .ratio = gentle}, left>(
      cases, graded_worlds{});
  list_gather<float, ring{.chunks = 3, .ratio = gentle}, kept>(cases, graded_worlds{});
  list_gather<float, direct{.chunks = 3, .ratio = halving}, gather{}>(cases, graded_worlds{});
  list_gather<float, direct{.chunks = 4, .depth = 2, .ratio = growing}, left>(cases, graded_worlds{});
  list_gather<float, pipeline{.chunks = 4, .ratio = halving}, gather{}>(cases, graded_worlds{});
  list_gather<float, pipeline{.chunks = 3, .ratio = gentle}, kept>(cases, graded_worlds{});
  return cases;
}

}  // namespace tpoverlap_test
