// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! How a device's multiprocessors are shared between communication and GEMMs that run at the same time.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/cuda/error.hpp>

#include <cuda_runtime_api.h>

namespace tpoverlap::inline v0::cu {

/// One budget for both sides: a persistent GEMM sized for all multiprocessors takes a second wave as soon as
/// communication holds a few of them. Give the same value to `nccl_options` and to `cublaslt_options`.
///
/// **Units** thread blocks that communication may occupy (each takes a multiprocessor), and multiprocessors that a GEMM
/// is sized for; 0 leaves a side to its library.
struct resource_budget {
  int communication_ctas = 0;
  int gemm_multiprocessors = 0;

  friend constexpr bool operator==(resource_budget const&, resource_budget const&) = default;

  /// Everything that communication does not take goes to the GEMM.
  ///
  /// **Errors** `usage_error` if that leaves no multiprocessor.
  [[nodiscard]] static resource_budget split(int device, int communication_ctas) {
    int all = 0;
    detail::check(cudaDeviceGetAttribute(&all, cudaDevAttrMultiProcessorCount, device),
                  "cudaDeviceGetAttribute");
    if (communication_ctas < 0 || communication_ctas >= all) {
      bounded_text<160> what;
      what << "device " << device << " has " << all << " multiprocessors, so communication can have 0 to "
           << all - 1 << ", not " << communication_ctas;
      raise(usage_error{what.view()});
    }
    return {communication_ctas, all - communication_ctas};
  }
};

}  // namespace tpoverlap::inline v0::cu
