// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A communicator that owns its ncclComm_t: made from a unique id, or split off another one.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/cuda/detail/nccl_creation.hpp>
#include <tpoverlap/cuda/device_guard.hpp>
#include <tpoverlap/cuda/nccl_communicator_ref.hpp>
#include <tpoverlap/cuda/nccl_options.hpp>

#include <nccl.h>

#include <exception>

namespace tpoverlap::inline v0::cu {

/// Where a rank stands in a world that is being made.
struct nccl_seat {
  int ranks = 1;
  int rank = 0;
  int device = 0;  ///< of this process; two ranks of one world have two devices
};

/// What it takes to join that world; `nccl_start_from_mpi` makes it, too.
struct nccl_start {
  ncclUniqueId id{};  ///< the same on all ranks
  nccl_seat seat{};
};

/// Which ranks of a communicator form a new one: those of one color, ordered by key, then by their rank.
struct nccl_split {
  int color = 0;
  int key = 0;
};

/// The id that all ranks of one world are made with: call it on one rank and send its bytes to the others.
[[nodiscard]] inline ncclUniqueId make_nccl_id() {
  ncclUniqueId id{};
  if (ncclResult_t const code = ncclGetUniqueId(&id); code != ncclSuccess)
    raise(nccl_error{code, "ncclGetUniqueId", {}});
  return id;
}

/// **Ordering** construction is collective and waits for all ranks, no longer than the time limit. So is destruction; a
/// communicator that an exception destroys is aborted instead, as the other ranks know nothing of it.
/// **Errors** `usage_error` for a seat that does not exist, options that contradict each other or need a newer NCCL;
/// `timeout_error` if a rank does not come; `nccl_error`, `cuda_error`.
class nccl_communicator : public nccl_communicator_ref {
 public:
  explicit nccl_communicator(nccl_start const& start, nccl_options const& options = {})
      : nccl_communicator_ref{detail::create_nccl(start.id, checked(start.seat).ranks, start.seat.rank,
                                                  start.seat.device, options),
                              options} {}

  /// Collective over all ranks of `parent`; those that want no part call `stay_out_of_split`.
  nccl_communicator(nccl_communicator_ref& parent, nccl_split which, nccl_options const& options = {})
      : nccl_communicator_ref{detail::split_nccl(parent, checked(which).color, which.key, options), options} {
  }

  ~nccl_communicator() {
    if (std::uncaught_exceptions() > exceptions_) {
      abort("an exception ended this rank's use of it");
    } else {
      drain();
      if (!aborted()) detail::destroy_nccl(handle(), device(), options());
    }
  }

  static void stay_out_of_split(nccl_communicator_ref& parent) {
    (void)detail::split_nccl(parent, NCCL_SPLIT_NOCOLOR, 0, parent.options());
  }

 private:
  static nccl_seat checked(nccl_seat seat) {
    if (seat.ranks < 1 || seat.rank < 0 || seat.rank >= seat.ranks) {
      bounded_text<120> what;
      what << "there is no rank " << seat.rank << " of " << seat.ranks << "; ranks are 0 to ranks - 1";
      raise(usage_error{what.view(), seat.rank});
    }
    int devices = 0;
    cu::detail::check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount", seat.rank);
    if (seat.device < 0 || seat.device >= devices) {
      bounded_text<160> what;
      what << "there is no device " << seat.device << ": this process sees " << devices
           << "; choose one of them, or make more visible (CUDA_VISIBLE_DEVICES)";
      raise(usage_error{what.view(), seat.rank});
    }
    return seat;
  }

  static nccl_split checked(nccl_split which) {
    if (which.color < 0)
      raise(usage_error{"colors are 0 or more; a rank without one calls stay_out_of_split"});
    return which;
  }

  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace tpoverlap::inline v0::cu
