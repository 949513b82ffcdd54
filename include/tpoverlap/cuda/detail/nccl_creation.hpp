// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Making and destroying NCCL communicators within a time limit, although the calls themselves have none.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/cuda/detail/clock.hpp>
#include <tpoverlap/cuda/nccl_communicator_ref.hpp>
#include <tpoverlap/cuda/nccl_error.hpp>
#include <tpoverlap/cuda/nccl_options.hpp>

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace tpoverlap::inline v0::cu::detail {

/// What a call that waits for other ranks has come to. Shared with the thread that makes the call, which outlives the
/// waiting one's patience.
struct nccl_outcome {
  std::mutex mutex;
  std::condition_variable done;
  bool finished = false;
  bool abandoned = false;
  cudaError_t device_code = cudaSuccess;
  ncclResult_t code = ncclSuccess;
  ncclComm_t made = nullptr;
  std::string last_error;
};

/// Runs `call(&comm)` in a thread of its own with `device` current. Returns null if it did not return in time; it is left
/// alone then, and what it makes later is thrown away.
template <class Call>
std::shared_ptr<nccl_outcome> in_time(int device, std::chrono::milliseconds most, Call call) {
  auto shared = std::make_shared<nccl_outcome>();
  std::thread{[shared, device, call]() mutable {
    ncclComm_t made = nullptr;
    ncclResult_t code = ncclSuccess;
    cudaError_t const device_code = cudaSetDevice(device);
    if (device_code == cudaSuccess) code = call(&made);
    std::unique_lock lock{shared->mutex};
    if (shared->abandoned) {
      lock.unlock();
      if (made != nullptr) (void)ncclCommAbort(made);
      return;
    }
    shared->device_code = device_code;
    shared->code = code;
    shared->made = made;
    if (code != ncclSuccess) shared->last_error = ncclGetLastError(nullptr);
    shared->finished = true;
    shared->done.notify_all();
  }}.detach();
  std::unique_lock lock{shared->mutex};
  if (shared->done.wait_for(lock, most, [&] { return shared->finished; })) return shared;
  shared->abandoned = true;
  return nullptr;
}

inline timeout_error creation_timeout(char const* call, int rank, nccl_options const& options) {
  bounded_text<240> what;
  what
      << call << " did not return within " << options.time_limit.count()
      << " ms: a rank did not come, or cannot be reached; start all ranks, or raise nccl_options::time_limit";
  return timeout_error{what.view(), rank};
}

inline ncclComm_t taken(nccl_outcome const& outcome, char const* call, int rank) {
  check(outcome.device_code, "cudaSetDevice", rank);
  if (outcome.code != ncclSuccess) raise(nccl_error{outcome.code, call, outcome.last_error, rank});
  return outcome.made;
}

[[nodiscard]] inline ncclComm_t create_nccl(ncclUniqueId const& id, int ranks, int rank, int device,
                                            nccl_options const& options) {
  check_options(options);
  auto const outcome = in_time(device, options.time_limit,
                               [id, ranks, rank, config = config_of(options)](ncclComm_t* comm) mutable {
                                 return ncclCommInitRankConfig(comm, ranks, id, rank, &config);
                               });
  if (!outcome) raise(creation_timeout("ncclCommInitRankConfig", rank, options));
  return taken(*outcome, "ncclCommInitRankConfig", rank);
}

/// Null for a rank without a color.
[[nodiscard]] inline ncclComm_t split_nccl(nccl_communicator_ref& parent, int color, int key,
                                           nccl_options const& options) {
  check_options(options);
  if (parent.aborted())
    raise(aborted_error{"an aborted communicator cannot be split; make a new one", parent.rank()});
  auto const outcome =
      in_time(parent.device(), options.time_limit,
              [whole = parent.handle(), color, key, config = config_of(options)](ncclComm_t* comm) mutable {
                return ncclCommSplit(whole, color, key, comm, &config);
              });
  if (!outcome) {
    timeout_error const failure = creation_timeout("ncclCommSplit", parent.rank(), options);
    parent.abort(failure.what());  // ends the call, too
    raise(failure);
  }
  return taken(*outcome, "ncclCommSplit", parent.rank());
}

/// Ranks that are still busy elsewhere are waited for within the time limit; after that the rest is left to the system.
inline void destroy_nccl(ncclComm_t comm, int device, nccl_options const& options) noexcept {
  auto const destroy = [&] {
    (void)in_time(device, options.time_limit, [comm](ncclComm_t*) { return ncclCommDestroy(comm); });
  };
#if defined(__cpp_exceptions)
  try {
    destroy();
  } catch (...) {
    (void)ncclCommAbort(comm);  // there is no memory, or no thread: that much must do
  }
#else
  destroy();
#endif
}

}  // namespace tpoverlap::inline v0::cu::detail
