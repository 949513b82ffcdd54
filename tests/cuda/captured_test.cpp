// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Calls are captured, replayed and updated; a graph's edges order everything that its nodes touch.
#include "policies.hpp"

using namespace cuda_test;

namespace {

constexpr run_options replayed{.replayed = true};
constexpr reduction fused{.accumulate = accumulation::fused};

}  // namespace

TEST_CASE("gathers are replayed", "[cuda][captured]") {
  gather_on<float, float, producer_before_consumer<ring{}>, 4>(replayed);
  gather_on<float, float, producer_before_consumer<pipeline{.chunks = 2}>, 3>(replayed);
  gather_on<float, float, producer_before_consumer<direct{}>, 3>(replayed);
}

TEST_CASE("reductions are replayed", "[cuda][captured]") {
  reduction_on<float, float, consumer_before_reduction<ring{.chunks = 2}, fused>, 3>(replayed);
  reduction_on<float, float, consumer_before_reduction<pipeline{.chunks = 2}>, 4>(replayed);
  reduction_on<float, float, consumer_before_reduction<direct{}>, 2>(replayed);
}
