// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The buffers that a communicator has registered with NCCL.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/cuda/detail/nccl_core.hpp>
#include <tpoverlap/cuda/device_guard.hpp>

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace tpoverlap::inline v0::cu::detail {

/// **Errors** `usage_error` for memory that is registered twice, was never registered, or cannot be.
class nccl_registry {
 public:
  void add(nccl_core& core, void* data, std::size_t bytes) {
    if (core.options().registration == nccl_registration::off || bytes == 0) return;
    constexpr call_site where{.operation = "register_buffer"};
    core.refuse_after_abort(where);
    auto const first = reinterpret_cast<std::uintptr_t>(data);
    for (auto const& each : entries_) {
      if (first >= each.end || first + bytes <= each.first) continue;
      raise(usage_error{
          "this memory is registered already, in part at least; deregister it first, or register the "
          "whole once",
          core.rank(), where});
    }
    entry made{first, first + bytes, nullptr, nullptr};
    device_guard const on{core.device()};
    if (core.options().registration == nccl_registration::local) {
      core.settle(ncclCommRegister(core.handle(), data, bytes, &made.handle), "ncclCommRegister", where);
    } else {
      add_symmetric(core, data, bytes, made, where);
    }
    entries_.push_back(made);
  }

  /// Called by destructors, so a failure aborts instead of throwing. After an abort NCCL has forgotten its buffers.
  void remove(nccl_core& core, void* data) noexcept {
    auto const first = reinterpret_cast<std::uintptr_t>(data);
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (at->first != first) continue;
      entry const gone = *at;
      entries_.erase(at);
      if (core.aborted()) return;
      device_guard const on{core.device(), std::nothrow};
      ncclResult_t const code = forget(core.handle(), gone);
      if (code != ncclSuccess && code != ncclInProgress) core.end("NCCL could not deregister a buffer");
      return;
    }
  }

  /// Keeps the promise of `require_registered`.
  void require(nccl_core const& core, void const* data, std::size_t bytes, call_site where) const {
    if (bytes == 0) return;
    auto const first = reinterpret_cast<std::uintptr_t>(data);
    for (auto const& each : entries_)
      if (first >= each.first && first + bytes <= each.end) return;
    bounded_text<240> what;
    what << bytes << " bytes of memory that is not registered were to be moved, but "
         << "nccl_options::require_registered promises otherwise; call register_buffer with the whole buffer "
            "first";
    raise(usage_error{what.view(), core.rank(), where});
  }

 private:
  struct entry {
    std::uintptr_t first;
    std::uintptr_t end;
    void* handle;  // of ncclCommRegister
    void* window;  // of ncclCommWindowRegister
  };

  static ncclResult_t forget(ncclComm_t comm, entry const& gone) noexcept {
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
    if (gone.window != nullptr) return ncclCommWindowDeregister(comm, static_cast<ncclWindow_t>(gone.window));
#endif
    return ncclCommDeregister(comm, gone.handle);
  }

  static void add_symmetric([[maybe_unused]] nccl_core& core, [[maybe_unused]] void* data,
                            [[maybe_unused]] std::size_t bytes, [[maybe_unused]] entry& made,
                            [[maybe_unused]] call_site where) {
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
    ncclWindow_t window = nullptr;
    core.settle(ncclCommWindowRegister(core.handle(), data, bytes, &window, NCCL_WIN_COLL_SYMMETRIC),
                "ncclCommWindowRegister", where);
    if (window == nullptr) {
      raise(usage_error{
          "NCCL made no symmetric window of this memory; allocate it with ncclMemAlloc on every rank "
          "(the ranks must reach each other's memory), or use nccl_registration::local",
          core.rank(), where});
    }
    made.window = window;
#endif
  }

  std::vector<entry> entries_;
};

}  // namespace tpoverlap::inline v0::cu::detail
