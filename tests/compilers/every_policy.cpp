// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Proves every built-in strategy for 16 ranks and 4 chunks while compiling, within a compiler's default limits.

#include <tpoverlap/overlap.hpp>

namespace {

using namespace tpoverlap;

constexpr int ranks = 16;
constexpr int chunks = 4;

template <class Policy>
constexpr bool
    proven = schedule<Policy, ranks>::proven_at_compile_time&& schedule<Policy, ranks>::verdict.verified();

template <auto Strategy>
constexpr bool gathers = proven<producer_before_consumer<Strategy>>&&
    proven<producer_before_consumer<Strategy, gather{.dimension = gathered_dimension::contraction}>>;

template <auto Strategy>
constexpr bool reduces = proven<consumer_before_reduction<Strategy>>&&
    proven<consumer_before_reduction<Strategy, reduction{.result = reduction_result::all_reduce}>>&&
        proven<consumer_before_reduction<Strategy, reduction{.reduce_in = reduction_type::float64}>>;

static_assert(gathers<blocking{}> && reduces<blocking{}>);
static_assert(gathers<ring{.chunks = chunks}> && reduces<ring{.chunks = chunks}>);
static_assert(gathers<ring{.chunks = chunks, .way = direction::both}> &&
              reduces<ring{.chunks = chunks, .way = direction::both}>);
static_assert(gathers<ring{.chunks = chunks, .depth = 2}> && reduces<ring{.chunks = chunks, .depth = 2}>);
static_assert(gathers<direct{.chunks = chunks}> && reduces<direct{.chunks = chunks}>);
static_assert(gathers<pipeline{.chunks = chunks}> && reduces<pipeline{.chunks = chunks}>);
static_assert(
    proven<consumer_before_reduction<ring{.chunks = chunks}, reduction{.accumulate = accumulation::fused}>>);
static_assert(proven<producer_before_consumer<ring{.chunks = chunks}, gather{.keep_gathered = true}>>);
static_assert(proven<independent_side_work<all_gather{}>> &&
              proven<independent_side_work<reduce_scatter{}>> && proven<independent_side_work<all_reduce{}>>);

}  // namespace
