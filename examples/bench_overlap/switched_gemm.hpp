// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A GEMM functor that can be told to keep still, where communication alone is measured, and to note what it is asked.
#pragma once

#include "transport.hpp"

#include <tpoverlap/host/blas_gemm.hpp>

#include <vector>

namespace bench {

using tpoverlap::matrix_view;
using input = matrix_view<float const>;
using output = matrix_view<float>;

struct gemm_call {
  input a;
  input b;
  output c;
  float beta = 0;
};

/// What the functors of one contender share. Read where a GEMM is issued, not where it runs.
struct gemm_switch {
  bool multiplies = true;
  std::vector<gemm_call>* notes = nullptr;
};

struct switched_gemm {
  using input_type = float;
  using output_type = float;

  void operator()(stream& in, input a, input b, output c, float beta) const {
    if (state->notes != nullptr) state->notes->push_back({a, b, c, beta});
    if (state->multiplies) tpoverlap::host::blas_gemm<float>{}(in, a, b, c, beta);
  }

  gemm_switch* state = nullptr;
};

}  // namespace bench
