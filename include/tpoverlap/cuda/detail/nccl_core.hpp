// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What a communicator of NCCL is besides its operations: lanes, health, bounded waits, and the end.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/cuda/detail/call_watch.hpp>
#include <tpoverlap/cuda/detail/clock.hpp>
#include <tpoverlap/cuda/device_guard.hpp>
#include <tpoverlap/cuda/error.hpp>
#include <tpoverlap/cuda/nccl_error.hpp>
#include <tpoverlap/cuda/nccl_options.hpp>
#include <tpoverlap/cuda/stream.hpp>

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

namespace tpoverlap::inline v0::cu::detail {

/// **Ordering** use it from the rank's thread only; `end` may also come from another one while the rank's thread waits,
/// is blocked in a call, or uses the communicator no more.
class nccl_core {
 public:
  static constexpr int lanes = 8;  ///< lane 0 is the caller's stream, 1..7 are streams of the communicator

  nccl_core(ncclComm_t comm, nccl_options const& options) : comm_{comm}, options_{options} {
    check_options(options);
    if (comm == nullptr)
      raise(usage_error{"there is no communicator (null ncclComm_t); pass an initialized one"});
    settle(ncclCommCuDevice(comm, &device_), "ncclCommCuDevice", {});
    settle(ncclCommCount(comm, &size_), "ncclCommCount", {});
    settle(ncclCommUserRank(comm, &rank_), "ncclCommUserRank", {});
  }
  nccl_core(nccl_core const&) = delete;
  nccl_core& operator=(nccl_core const&) = delete;

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] int device() const noexcept { return device_; }
  [[nodiscard]] nccl_options const& options() const noexcept { return options_; }
  [[nodiscard]] bool aborted() const noexcept { return aborted_.load(); }
  [[nodiscard]] ncclComm_t handle() const noexcept { return aborted() ? nullptr : comm_; }

  stream_ref& lane(int index) {
    if (index < 1 || index >= lanes) raise(usage_error{"communication lanes are 1 to 7", rank_});
    auto& made = lanes_[static_cast<std::size_t>(index)];
    if (!made) made = std::make_unique<stream>(device_, stream_priority::high);
    return *made;
  }

  /// For errors that name the operation a lane is stuck in.
  void note(int lane, call_site where) noexcept { issued_[static_cast<std::size_t>(lane)] = where; }

  void refuse_after_abort(call_site where) const {
    if (aborted()) raise(aborted_error{reason_.view(), rank_, where});
  }

  /// Makes a call that may block until other ranks make theirs, as the first one to a peer does.
  template <class Call>
  ncclResult_t blocking(Call&& call) {
    return watch_.guard(call);
  }

  /// Takes the result of a call. Anything but success aborts: ranks would no longer agree about what was issued.
  void settle(ncclResult_t code, char const* call, call_site where) {
    auto const limit = clock::now() + options_.time_limit;
    while (code == ncclInProgress) {  // a non-blocking communicator of the caller's
      refuse_after_abort(where);
      code = asynchronous_error();
      if (code == ncclInProgress && clock::now() > limit) fail_late(where, call);
    }
    if (code != ncclSuccess) fail(code, call, where);
  }

  [[noreturn]] void fail(ncclResult_t code, char const* call, call_site where) {
    if (aborted() && late_.load()) raise(timeout_error{reason_.view(), rank_, where});
    refuse_after_abort(where);
    bounded_text<200> const detail{text_view{ncclGetLastError(comm_)}};
    nccl_error const failure{code, call, detail.view(), rank_, where};
    end(failure.what());
    raise(failure);
  }

  /// Polls the stream and the communicator's asynchronous error until the stream is done.
  void await(stream_ref in, call_site where) {
    auto const limit = clock::now() + options_.time_limit;
    device_guard const on{in.device(), std::nothrow};
    for (int glances = 0;; ++glances) {
      refuse_after_abort(where);
      cudaError_t const state = cudaStreamQuery(in.handle());
      (void)cudaGetLastError();  // "not ready" would be found by the caller's next check
      if (state != cudaSuccess && state != cudaErrorNotReady) {
        cuda_error const failure{state, "cudaStreamQuery", rank_, where};
        end(failure.what());
        raise(failure);
      }
      ncclResult_t const later = asynchronous_error();
      refuse_after_abort(where);
      if (later != ncclSuccess && later != ncclInProgress) fail(later, "an operation on the device", where);
      if (state == cudaSuccess) return;
      if (clock::now() > limit) fail_late(where, "the stream");
      pause(glances);
    }
  }

  /// Whether the lanes became idle within the time limit. After that they are ended by force, so that memory they work
  /// on may be freed in any case.
  void drain() noexcept {
    if (!idle_within(options_.time_limit)) end("the lanes did not finish within the time limit");
  }

  /// Ends this rank's pending and later operations. Other ranks notice through NCCL or through their time limit.
  void end(char const* reason) noexcept {
    {
      std::lock_guard const lock{ending_};
      if (aborted()) return;
      constexpr char const* prefix = "tpoverlap: ";
      std::size_t begins = 0;
      while (prefix[begins] != '\0' && prefix[begins] == reason[begins]) ++begins;
      reason_ << "this communicator was aborted: " << (prefix[begins] == '\0' ? reason + begins : reason)
              << "; make a new one";
      aborted_.store(true);
      (void)ncclCommAbort(comm_);
    }
    (void)idle_within(options_.time_limit);  // the kernels that were stuck leave the caller's memory
  }

 private:
  /// Success also where there is no communicator any more.
  ncclResult_t asynchronous_error() {
    std::lock_guard const lock{ending_};
    ncclResult_t state = ncclSuccess;
    if (aborted()) return state;
    ncclResult_t const asked = ncclCommGetAsyncError(comm_, &state);
    return asked == ncclSuccess ? state : asked;
  }

  [[noreturn]] void fail_late(call_site where, char const* waited_for) {
    for (int i = 1; i < lanes && where.index < 0; ++i) {
      auto const& each = lanes_[static_cast<std::size_t>(i)];
      if (each && !idle(*each) && issued_[static_cast<std::size_t>(i)].operation[0] != '\0')
        where = issued_[static_cast<std::size_t>(i)];
    }
    bounded_text<280> what;
    what << waited_for << " did not finish within " << options_.time_limit.count()
         << " ms, so the communicator was aborted; a rank is missing or stuck, or issued other operations "
            "(look at "
            "its error), or the work takes longer than nccl_options::time_limit";
    timeout_error const failure{what.view(), rank_, where};
    end(failure.what());
    raise(failure);
  }

  static bool idle(stream_ref in) noexcept {
    cudaError_t const state = cudaStreamQuery(in.handle());
    (void)cudaGetLastError();
    return state != cudaErrorNotReady;
  }

  bool idle_within(std::chrono::milliseconds most) noexcept {
    auto const limit = clock::now() + most;
    for (auto const& each : lanes_) {
      for (int glances = 0; each && !idle(*each); ++glances) {
        if (clock::now() > limit) return false;
        pause(glances);
      }
    }
    return true;
  }

  /// Short waits are answered at once, long ones leave the core to others.
  static void pause(int glances) {
    if (glances < 200) return std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds{glances < 2000 ? 20 : 200});
  }

  ncclComm_t comm_;
  nccl_options options_;
  int rank_ = -1;
  int size_ = 0;
  int device_ = 0;
  std::array<std::unique_ptr<stream>, lanes> lanes_;
  std::array<call_site, lanes> issued_{};
  std::mutex ending_;
  bounded_text<400> reason_;  // written once, before `aborted_`
  std::atomic<bool> aborted_{false};
  std::atomic<bool> late_{false};  // a call was ended because it took too long
  call_watch watch_{
      options_.time_limit, [this] {
        late_.store(true);
        end("a call did not return within the time limit: a peer did not come, or cannot be reached");
      }};
};

}  // namespace tpoverlap::inline v0::cu::detail
