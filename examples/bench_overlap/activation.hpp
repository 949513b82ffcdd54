// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What lies between the GEMMs of an MLP, each with its derivative.
#pragma once

#include <cstdint>

namespace bench {

/// `a = gelu(u)` (Hendrycks, Gimpel 2016, the form with tanh); u becomes the slope there, which is all that the backward
/// pass needs of it.
void gelu(float* u, float* a, std::int64_t count);

/// The same for max(u, 0), which keeps whole numbers whole.
void rectify(float* u, float* a, std::int64_t count);

/// `d *= slope`, element by element.
void scale_by(float const* slope, float* d, std::int64_t count);

}  // namespace bench
