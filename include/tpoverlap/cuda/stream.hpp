// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! CUDA streams: a reference to one that somebody owns, and one that is owned.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/cuda/device_guard.hpp>
#include <tpoverlap/cuda/error.hpp>

#include <cuda_runtime_api.h>

namespace tpoverlap::inline v0::cu {

/// A stream of the caller's and the device it belongs to. Copies refer to the same stream.
///
/// **Ordering** overlap objects fork from and join into this stream, by events. Any stream will do, the legacy default
/// stream, too, except that one cannot be captured in a graph.
class stream_ref {
 public:
  /// **Errors** `cuda_error` for a handle that is no stream.
  explicit stream_ref(cudaStream_t handle) : handle_{handle}, device_{device_of(handle)} {}
  constexpr stream_ref(cudaStream_t handle, int device) noexcept : handle_{handle}, device_{device} {}

  [[nodiscard]] constexpr cudaStream_t handle() const noexcept { return handle_; }
  [[nodiscard]] constexpr int device() const noexcept { return device_; }

  /// Whether what is issued becomes part of a graph instead of being run.
  [[nodiscard]] bool capturing() const {
    device_guard const on{device_};
    cudaStreamCaptureStatus status{};
    detail::check(cudaStreamIsCapturing(handle_, &status), "cudaStreamIsCapturing");
    return status != cudaStreamCaptureStatusNone;
  }

  /// Whether the handle names the default stream of whatever device is current, so that a device must be made current
  /// before it is used.
  [[nodiscard]] bool is_default() const noexcept {
    return handle_ == nullptr || handle_ == cudaStreamLegacy || handle_ == cudaStreamPerThread;
  }

  friend constexpr bool operator==(stream_ref const&, stream_ref const&) = default;

 private:
  static int device_of(cudaStream_t handle) {
    int device = current_device();
#if CUDART_VERSION >= 12080
    detail::check(cudaStreamGetDevice(handle, &device), "cudaStreamGetDevice");
#endif
    return device;
  }

  cudaStream_t handle_;
  int device_;
};

enum class stream_priority { normal, high };

/// A non-blocking stream on one device: the legacy default stream and it do not wait for each other.
class stream : public stream_ref {
 public:
  /// On the device that is current in the calling thread.
  explicit stream(stream_priority priority = stream_priority::normal) : stream{current_device(), priority} {}

  stream(int device, stream_priority priority) : stream_ref{made(device, priority), device} {}

  stream(stream const&) = delete;
  stream& operator=(stream const&) = delete;

  /// Work that has been issued still runs.
  ~stream() { (void)cudaStreamDestroy(handle()); }

 private:
  static cudaStream_t made(int device, stream_priority priority) {
    device_guard const on{device};
    int lowest = 0;
    int highest = 0;
    detail::check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "cudaDeviceGetStreamPriorityRange");
    cudaStream_t handle = nullptr;
    detail::check(cudaStreamCreateWithPriority(&handle, cudaStreamNonBlocking,
                                               priority == stream_priority::high ? highest : lowest),
                  "cudaStreamCreateWithPriority");
    return handle;
  }
};

}  // namespace tpoverlap::inline v0::cu
