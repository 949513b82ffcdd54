// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// The part of a user's program that works on GPUs, with a ring that needs no kernel.

#include <tpoverlap/cuda.hpp>
#include <tpoverlap/nccl.hpp>
#include <tpoverlap/overlap.hpp>

using namespace tpoverlap;

void forward(cu::nccl_communicator& comm, cu::stream& in, std::span<std::byte> workspace,
             matrix_view<float const> x, matrix_view<float const> w, matrix_view<float> y) {
  overlap up{producer_before_consumer<ring{}>{},
             world<2>{},
             comm,
             cu::cublaslt_gemm<float>{comm.device()},
             gemm_shape{.rows = y.rows, .inner = w.rows, .columns = w.columns},
             workspace};
  up(in, x, w, y);
  comm.wait(in);
}
