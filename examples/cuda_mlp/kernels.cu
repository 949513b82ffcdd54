// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The one file that the CUDA compiler sees: the model's kernel, and the library's for adding buckets.

#include "kernels.hpp"

#include <tpoverlap/cuda/bucket_addition.cuh>

namespace {

__global__ void relu_kernel(__nv_bfloat16* values, std::int64_t count) {
  std::int64_t const i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count && __bfloat162float(values[i]) < 0) values[i] = __float2bfloat16(0);
}

}  // namespace

void relu(tpoverlap::cu::stream_ref in, __nv_bfloat16* values, std::int64_t count) {
  constexpr int threads = 256;
  if (count == 0) return;
  tpoverlap::cu::device_guard const on{in.device()};
  relu_kernel<<<static_cast<unsigned>((count + threads - 1) / threads), threads, 0, in.handle()>>>(values,
                                                                                                   count);
  tpoverlap::cu::detail::check(cudaGetLastError(), "relu_kernel");
}
