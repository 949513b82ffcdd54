// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// What the CUDA backend refuses: old toolkits, types that it does not multiply, arguments that it cannot compare.

#include <cuda_runtime_api.h>
#include <nccl.h>

#if defined(CASE_1)
#undef NCCL_VERSION_CODE
#define NCCL_VERSION_CODE NCCL_VERSION(2, 18, 5)
#elif defined(CASE_2)
#undef CUDART_VERSION
#define CUDART_VERSION 11080
#endif

#include <tpoverlap/cuda.hpp>
#include <tpoverlap/cuda/nccl_error.hpp>

#include <vector>

using namespace tpoverlap;

template class cu::cublaslt_gemm<__nv_fp8_e4m3, __nv_bfloat16>;

template <class... Arguments>
void replay(cu::stream& in, Arguments const&... arguments) {
  auto callable = [](cu::stream_ref&, Arguments const&...) {};
  cu::captured replayed{callable};
  replayed(in, arguments...);
}

template void replay(cu::stream&, matrix_view<float> const&, int const&);

#if defined(CASE_1)    // CASE_1: E043
#elif defined(CASE_2)  // CASE_2: E042
#elif defined(CASE_3)  // CASE_3: E044
template class cu::cublaslt_gemm<__nv_fp8_e4m3>;
#elif defined(CASE_4)  // CASE_4: E040
template class cu::cublaslt_gemm<double>;
#elif defined(CASE_5)  // CASE_5: E041
template void replay(cu::stream&, std::vector<float> const&);
#endif
