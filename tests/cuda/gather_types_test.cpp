// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Gathers in the types that tensor cores multiply.
#include "policies.hpp"

using namespace cuda_test;

namespace {

template <class In, class Out>
void every_strategy() {
  gather_on<In, Out, producer_before_consumer<ring{}>, 4>();
  gather_on<In, Out, producer_before_consumer<direct{}>, 3>();
  gather_on<In, Out, producer_before_consumer<pipeline{.chunks = 2}>, 2>();
}

}  // namespace

TEST_CASE("gathers in bfloat16", "[cuda][gather]") { every_strategy<__nv_bfloat16, __nv_bfloat16>(); }
TEST_CASE("gathers in float16 into float32", "[cuda][gather]") { every_strategy<__half, float>(); }
TEST_CASE("gathers in fp8", "[cuda][gather]") { every_strategy<__nv_fp8_e4m3, __nv_bfloat16>(); }
