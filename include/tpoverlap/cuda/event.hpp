// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A point in a CUDA stream that other streams can wait for.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/cuda/device_guard.hpp>
#include <tpoverlap/cuda/error.hpp>
#include <tpoverlap/cuda/stream.hpp>

#include <cuda_runtime_api.h>

namespace tpoverlap::inline v0::cu {

/// An event without timing, which is all that ordering needs and the cheapest to record. It belongs to the device of
/// the stream that it is first recorded in, or prepared for.
///
/// **Ordering** a wait refers to the latest record issued before it.
/// **Errors** `usage_error` for a wait before the first record, and for a record on another device.
class event {
 public:
  event() = default;
  event(event const&) = delete;
  event& operator=(event const&) = delete;
  ~event() {
    if (handle_ != nullptr) (void)cudaEventDestroy(handle_);
  }

  /// Makes the event now, so that no later call has to.
  void prepare(stream_ref in) {
    if (handle_ != nullptr) return;
    device_guard const on{in.device()};
    detail::check(cudaEventCreateWithFlags(&handle_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    device_ = in.device();
  }

  void record(stream_ref in) {
    prepare(in);
    if (in.device() != device_) refuse_device(in.device());
    issue(in, "cudaEventRecord", [&] { return cudaEventRecord(handle_, in.handle()); });
    recorded_ = true;
  }

  void wait(stream_ref in) const {
    if (!recorded_) {
      raise(usage_error{"a stream was told to wait for an event that was never recorded; record it first"});
    }
    issue(in, "cudaStreamWaitEvent", [&] { return cudaStreamWaitEvent(in.handle(), handle_, 0); });
  }

  [[nodiscard]] cudaEvent_t handle() const noexcept { return handle_; }  ///< null before the first record

 private:
  template <class Call>
  static void issue(stream_ref in, char const* name, Call call) {
    if (!in.is_default()) return detail::check(call(), name);
    device_guard const on{in.device()};
    detail::check(call(), name);
  }

  [[noreturn]] void refuse_device(int device) const {
    bounded_text<200> what;
    what << "an event of device " << device_ << " was to be recorded in a stream of device " << device
         << "; pass a stream of the communicator's device";
    raise(usage_error{what.view()});
  }

  cudaEvent_t handle_ = nullptr;
  int device_ = -1;
  bool recorded_ = false;
};

}  // namespace tpoverlap::inline v0::cu
