// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Overlap happens: read from the order of recorded moments, without a clock threshold.

#include "../support/catch.hpp"
#include "findings.hpp"
#include "traced_run.hpp"

#include <type_traits>

using namespace tpoverlap;

namespace {

using separate_ring = consumer_before_reduction<ring{.chunks = 2}>;
using fused_ring = consumer_before_reduction<ring{.chunks = 2}, reduction{.accumulate = accumulation::fused}>;
using everywhere_ring =
    consumer_before_reduction<ring{.chunks = 2}, reduction{.result = reduction_result::all_reduce}>;
using blocking_everywhere =
    consumer_before_reduction<blocking{}, reduction{.result = reduction_result::all_reduce}>;

constexpr int calls = 3;

template <class Policy, int P>
std::vector<trace::event> sound_trace() {
  auto const events = traced<Policy, P>(calls, calls);
  CHECK(completeness_fault(events, schedule<Policy, P>::program, calls).empty());
  CHECK(order_fault(events).empty());
  return events;
}

// One call of a rank is enough: on a busy machine a thread may sleep through another rank's whole step.
template <class Policy, int P>
void check_overlap() {
  CAPTURE(P);
  auto const events = sound_trace<Policy, P>();
  CHECK(count_calls(events, communicates_beside_gemm).least >= 1);
  CHECK(count_calls(events, sends_before_last_gemm).least >= 1);
  CHECK(count_calls(events, computes_before_last_arrival).least >= 1);
}

}  // namespace

TEMPLATE_TEST_CASE("communication and GEMMs run side by side", "[trace]", producer_before_consumer<ring{}>,
                   producer_before_consumer<ring{.chunks = 2}>,
                   (producer_before_consumer<ring{.chunks = 2, .way = direction::both}>),
                   producer_before_consumer<direct{}>, producer_before_consumer<pipeline{}>, separate_ring,
                   fused_ring, everywhere_ring, consumer_before_reduction<direct{.chunks = 2}>,
                   consumer_before_reduction<pipeline{}>) {
  check_overlap<TestType, 2>();
  check_overlap<TestType, 4>();
}

TEMPLATE_TEST_CASE("side work runs beside the GEMM", "[trace]", independent_side_work<all_gather{}>,
                   independent_side_work<reduce_scatter{}>, independent_side_work<all_reduce{}>) {
  auto const two = sound_trace<TestType, 2>();
  CHECK(count_calls(two, communicates_beside_gemm).least >= 1);
  auto const four = sound_trace<TestType, 4>();
  CHECK(count_calls(four, communicates_beside_gemm).least >= 1);
}

// What proves that the findings above can fail. A blocking gather sends before its GEMM and a blocking reduction
// computes before it sends, so of the two only the other way round tells of overlap.
TEMPLATE_TEST_CASE("the blocking policies overlap nothing", "[trace]", producer_before_consumer<blocking{}>,
                   consumer_before_reduction<blocking{}>, blocking_everywhere) {
  auto const events = sound_trace<TestType, 4>();
  CHECK(count_calls(events, communicates_beside_gemm).calls == 0);
  bool const gathers = std::is_same_v<TestType, producer_before_consumer<blocking{}>>;
  CHECK(count_calls(events, gathers ? computes_before_last_arrival : sends_before_last_gemm).calls == 0);
}

TEST_CASE("the checks of order see what is out of order", "[trace]") {
  auto const sound = traced<producer_before_consumer<ring{}>, 2>(1, 1);
  REQUIRE(order_fault(sound).empty());
  auto const& program = schedule<producer_before_consumer<ring{}>, 2>::program;
  REQUIRE(completeness_fault(sound, program, 1).empty());
  CHECK_FALSE(completeness_fault(sound, program, 2).empty());

  for (std::size_t i = 0; i < sound.size(); ++i) {
    CAPTURE(i);
    auto events = sound;
    events[i].started = events[i].never;
    CHECK_FALSE(order_fault(events).empty());
    for (int const awaited : sound[i].waited_for) {
      events = sound;
      auto& other = events[i - static_cast<std::size_t>(sound[i].operation - awaited)];
      other.ended = events[i].started + 1;
      CHECK_FALSE(order_fault(events).empty());
    }
    events = sound;
    events.erase(events.begin() + static_cast<std::ptrdiff_t>(i));
    CHECK_FALSE(completeness_fault(events, program, 1).empty());
  }
}
