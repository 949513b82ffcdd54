// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Compiled so that the exponentials are vectorized: an MLP whose GELU takes as long as a GEMM says little of overlap.

#include "activation.hpp"

#include <cmath>

namespace bench {

void gelu(float* u, float* a, std::int64_t count) {
  constexpr float stretch = 0.7978845608F;  // sqrt(2 / pi)
  constexpr float cubic = 0.044715F;
  for (std::int64_t i = 0; i < count; ++i) {
    float const x = u[i];
    float const gate = 1 / (1 + std::exp(-2 * stretch * (x + cubic * x * x * x)));  // (1 + tanh) / 2
    a[i] = x * gate;
    u[i] = gate + x * 2 * gate * (1 - gate) * stretch * (1 + 3 * cubic * x * x);
  }
}

void rectify(float* u, float* a, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    bool const on = u[i] > 0;
    a[i] = on ? u[i] : 0;
    u[i] = on ? 1 : 0;
  }
}

void scale_by(float const* slope, float* d, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) d[i] *= slope[i];
}

}  // namespace bench
