// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Knobs that contradict each other or a dependency class.
#include <tpoverlap/schedule/schedule.hpp>
#include <tpoverlap/strategies/gather_strategies.hpp>
#include <tpoverlap/strategies/reduction_strategies.hpp>
#include <tpoverlap/strategies/side_strategies.hpp>

using namespace tpoverlap;

struct unknown_strategy {};

// Each control is one step from the case beside it.
static_assert(world<1>::size == 1);
static_assert(schedule<producer_before_consumer<ring{.chunks = 1}>, 4>::verdict.verified());
static_assert(schedule<producer_before_consumer<ring{.depth = 2}>, 4>::verdict.verified());
static_assert(
    schedule<producer_before_consumer<ring{}, gather{.keep_gathered = true}>, 4>::verdict.verified());
static_assert(schedule<consumer_before_reduction<ring{}, reduction{.accumulate = accumulation::fused}>,
                       4>::verdict.verified());
static_assert(
    schedule<consumer_before_reduction<ring{.chunks = 2, .way = direction::both}>, 4>::verdict.verified());
static_assert(schedule<producer_before_consumer<ring{.way = direction::both}>, 4>::verdict.verified());
static_assert(schedule<consumer_before_reduction<direct{}>, 4>::verdict.verified());
static_assert(schedule<independent_side_work<all_gather{}>, 4>::verdict.verified());
static_assert(schedule<producer_before_consumer<ring{.chunks = 2, .ratio = {1, 1}}>, 4>::verdict.verified());
static_assert(schedule<consumer_before_reduction<pipeline{.ratio = {1, 2}}>, 4>::verdict.verified());
static_assert(
    schedule<producer_before_consumer<direct{.chunks = 31, .ratio = {2, 1}}>, 2>::verdict.verified());
static_assert(
    schedule<consumer_before_reduction<direct{.chunks = 3, .ratio = {1, 9}}>, 2>::verdict.verified());

#if defined(CASE_1)  // CASE_1: E001
static_assert(world<0>::size == 0);
#elif defined(CASE_2)   // CASE_2: E002
static_assert(schedule<producer_before_consumer<ring{.chunks = 0}>, 4>::verdict.verified());
#elif defined(CASE_3)   // CASE_3: E002
static_assert(schedule<consumer_before_reduction<pipeline{.chunks = -1}>, 4>::verdict.verified());
#elif defined(CASE_4)   // CASE_4: E003
static_assert(schedule<producer_before_consumer<ring{.depth = -1}>, 4>::verdict.verified());
#elif defined(CASE_5)   // CASE_5: E003
static_assert(schedule<consumer_before_reduction<direct{.depth = -2}>, 4>::verdict.verified());
#elif defined(CASE_6)   // CASE_6: E004
static_assert(schedule<producer_before_consumer<ring{.depth = 2}, gather{.keep_gathered = true}>, 4>::verdict
                  .verified());
#elif defined(CASE_7)   // CASE_7: E005
static_assert(schedule<consumer_before_reduction<direct{}, reduction{.accumulate = accumulation::fused}>,
                       4>::verdict.verified());
#elif defined(CASE_8)   // CASE_8: E005
static_assert(schedule<consumer_before_reduction<pipeline{}, reduction{.accumulate = accumulation::fused}>,
                       4>::verdict.verified());
#elif defined(CASE_9)   // CASE_9: E006
static_assert(
    schedule<consumer_before_reduction<ring{.chunks = 1, .way = direction::both}>, 4>::verdict.verified());
#elif defined(CASE_10)  // CASE_10: E007
static_assert(schedule<producer_before_consumer<all_gather{}>, 4>::verdict.verified());
#elif defined(CASE_11)  // CASE_11: E007
static_assert(schedule<consumer_before_reduction<unknown_strategy{}>, 4>::verdict.verified());
#elif defined(CASE_12)  // CASE_12: E007
static_assert(schedule<independent_side_work<ring{}>, 4>::verdict.verified());
#elif defined(CASE_13)  // CASE_13: E038
static_assert(schedule<producer_before_consumer<ring{.chunks = 2, .ratio = {0, 1}}>, 4>::verdict.verified());
#elif defined(CASE_14)  // CASE_14: E038
static_assert(schedule<consumer_before_reduction<pipeline{.ratio = {1, -2}}>, 4>::verdict.verified());
#elif defined(CASE_15)  // CASE_15: E039
static_assert(
    schedule<producer_before_consumer<direct{.chunks = 32, .ratio = {2, 1}}>, 2>::verdict.verified());
#elif defined(CASE_16)  // CASE_16: E039
static_assert(
    schedule<consumer_before_reduction<direct{.chunks = 3, .ratio = {1, 65536}}>, 2>::verdict.verified());
#endif
