// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Makes a device current for a scope, so that calls are right whatever device the caller's thread has chosen.
#pragma once

#include <tpoverlap/cuda/error.hpp>

#include <cuda_runtime_api.h>

#include <new>

namespace tpoverlap::inline v0::cu {

/// **Cost** one cudaGetDevice where the device is current already, which reads a variable of the thread.
class device_guard {
 public:
  explicit device_guard(int device) {
    detail::check(cudaGetDevice(&before_), "cudaGetDevice");
    if (before_ == device) {
      before_ = -1;
    } else {
      detail::check(cudaSetDevice(device), "cudaSetDevice");
    }
  }
  /// For destructors and waits, which go on whatever happens: a device that has failed for good may refuse even this.
  device_guard(int device, std::nothrow_t) noexcept {
    if (cudaGetDevice(&before_) != cudaSuccess || before_ == device || cudaSetDevice(device) != cudaSuccess)
      before_ = -1;
  }
  device_guard(device_guard const&) = delete;
  device_guard& operator=(device_guard const&) = delete;
  ~device_guard() {
    if (before_ >= 0) (void)cudaSetDevice(before_);
  }

 private:
  int before_ = -1;  // negative: nothing to put back
};

/// The device that is current in the calling thread.
[[nodiscard]] inline int current_device() {
  int device = 0;
  detail::check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

}  // namespace tpoverlap::inline v0::cu
