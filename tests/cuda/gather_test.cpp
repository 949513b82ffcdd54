// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Every gathering strategy on NCCL and cuBLASLt is exact, on every number of ranks, and orders all it touches.
#include "policies.hpp"

using namespace cuda_test;

namespace {

constexpr gather contraction{.dimension = gathered_dimension::contraction};
constexpr gather kept{.keep_gathered = true};

template <auto Strategy, gather Options = gather{}>
using policy = producer_before_consumer<Strategy, Options>;

}  // namespace

TEST_CASE("gathers with one GEMM or a ring", "[cuda][gather]") {
  gather_on<float, float, policy<blocking{}>, 2, 3, 4, 8>();
  gather_on<float, float, policy<ring{}>, 2, 3, 4, 8>();
  gather_on<float, float, policy<ring{.chunks = 2, .way = direction::both}>, 3, 8>();
  gather_on<float, float, policy<ring{.chunks = 2, .depth = 2}>, 4>();
}

TEST_CASE("gathers straight from the owners, or in a pipeline of collectives", "[cuda][gather]") {
  gather_on<float, float, policy<direct{}>, 2, 3, 4, 8>();
  gather_on<float, float, policy<pipeline{.chunks = 2}>, 2, 3, 4, 8>();
}

TEST_CASE("gathers along the contraction, and gathers that are kept", "[cuda][gather]") {
  gather_on<float, float, policy<ring{}, contraction>, 3, 4>();
  gather_on<float, float, policy<pipeline{.chunks = 2}, contraction>, 4>();
  gather_on<float, float, policy<ring{.chunks = 2}, kept>, 3, 4>();
  gather_on<float, float, policy<blocking{}, kept>, 4>();
}
