// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The model's own kernels.
#pragma once

#include <tpoverlap/cuda/stream.hpp>

#include <cuda_bf16.h>

#include <cstdint>

/// `values[i] = max(values[i], 0)`.
void relu(tpoverlap::cu::stream_ref in, __nv_bfloat16* values, std::int64_t count);
