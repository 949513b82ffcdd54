// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Every reducing strategy on NCCL and cuBLASLt is exact, on every number of ranks, and orders all it touches.
#include "policies.hpp"

using namespace cuda_test;

namespace {

constexpr reduction fused{.accumulate = accumulation::fused};
constexpr reduction everywhere{.result = reduction_result::all_reduce};
constexpr reduction widened{.reduce_in = reduction_type::float32};

template <auto Strategy, reduction Options = reduction{}>
using policy = consumer_before_reduction<Strategy, Options>;

}  // namespace

TEST_CASE("reductions after one GEMM or in a ring", "[cuda][reduction]") {
  reduction_on<float, float, policy<blocking{}>, 2, 3, 4, 8>();
  reduction_on<float, float, policy<ring{}>, 2, 3, 4, 8>();
  reduction_on<float, float, policy<ring{.chunks = 2}, fused>, 3, 8>();
}

TEST_CASE("reductions straight to the owners, or in a pipeline of collectives", "[cuda][reduction]") {
  reduction_on<float, float, policy<direct{}>, 2, 3, 4, 8>();
  reduction_on<float, float, policy<pipeline{.chunks = 2}>, 2, 3, 4, 8>();
}

TEST_CASE("reductions whose sums everyone gets", "[cuda][reduction]") {
  reduction_on<float, float, policy<blocking{}, everywhere>, 3>();
  reduction_on<float, float, policy<ring{}, everywhere>, 4>();
  reduction_on<float, float, policy<pipeline{.chunks = 2}, everywhere>, 4>();
}

TEST_CASE("reductions of bfloat16 in float32", "[cuda][reduction]") {
  reduction_on<__nv_bfloat16, __nv_bfloat16, policy<ring{}, widened>, 4>();
  reduction_on<__nv_bfloat16, __nv_bfloat16, policy<direct{}, widened>, 3>();
  reduction_on<__nv_bfloat16, __nv_bfloat16, policy<pipeline{.chunks = 2}, widened>, 2>();
  reduction_on<__half, __half, policy<direct{}>, 2>();
}
