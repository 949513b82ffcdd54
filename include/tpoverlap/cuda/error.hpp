// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What a failed call of the CUDA runtime becomes: an exception that names the call, the code, and what to do.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>

#include <cuda_runtime_api.h>

namespace tpoverlap::inline v0::cu {

static_assert(
    CUDART_VERSION >= 12000,
    "tpoverlap[E042]: this CUDA toolkit is older than 12.0; install a newer one, or put its headers first");

namespace detail {

/// What usually helps, for the codes that users of this library meet.
[[nodiscard]] inline char const* how_to_mend(cudaError_t code) noexcept {
  switch (code) {
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
      return "check that a GPU is visible (nvidia-smi, CUDA_VISIBLE_DEVICES) and that its driver is as new "
             "as "
             "the runtime";
    case cudaErrorInvalidDevice: return "name a device from 0 to cudaGetDeviceCount() - 1";
    case cudaErrorMemoryAllocation: return "free device memory, or work with smaller matrices";
    case cudaErrorInvalidResourceHandle:
      return "a stream or event belongs to another device, or is destroyed already; make it on the "
             "communicator's device";
    case cudaErrorNoKernelImageForDevice: return "compile for this GPU's architecture";
    case cudaErrorStreamCaptureUnjoined:
      return "join every token of side work into the captured stream before the capture ends";
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureImplicit:
    case cudaErrorStreamCaptureInvalidated:
      return "something that cannot be captured ran while a graph was: keep synchronization, allocation and "
             "the "
             "legacy default stream out of the captured call";
    case cudaErrorStreamCaptureIsolation:
    case cudaErrorCapturedEvent:
      return "work of a capture was waited for outside of it; join it in the captured call";
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorMisalignedAddress: return "a kernel issued earlier is at fault; compute-sanitizer names it";
    default: return "see the CUDA runtime's documentation of this code";
  }
}

}  // namespace detail

/// A call of the CUDA runtime failed. Codes that CUDA calls sticky leave the device unusable for this process.
class [[gnu::visibility("default")]] cuda_error : public error {
 public:
  cuda_error(cudaError_t code, char const* call, int rank = -1, call_site where = {},
             source_location source = source_location::current()) noexcept
      : error{located_text{described(code, call).view(), source}, rank, where}, code_{code}, call_{call} {}

  [[nodiscard]] cudaError_t code() const noexcept { return code_; }
  [[nodiscard]] char const* call() const noexcept { return call_; }  ///< a literal such as "cudaEventRecord"

 private:
  static bounded_text<400> described(cudaError_t code, char const* call) noexcept {
    bounded_text<400> what;
    what << call << " failed: " << cudaGetErrorString(code) << " (" << cudaGetErrorName(code) << ", "
         << static_cast<int>(code) << "); " << detail::how_to_mend(code);
    return what;
  }

  cudaError_t code_;
  char const* call_;
};

namespace detail {

/// Throws what a failed call is worth. The runtime also remembers the code for cudaGetLastError, where the caller's
/// next check of a launch of its own would find it; it is taken from there.
inline void check(cudaError_t code, char const* call, int rank = -1, call_site where = {},
                  source_location source = source_location::current()) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();
  raise(cuda_error{code, call, rank, where, source});
}

}  // namespace detail

}  // namespace tpoverlap::inline v0::cu
