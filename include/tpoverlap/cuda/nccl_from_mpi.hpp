// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Brings the ranks of an MPI communicator together in one of NCCL. The only header that needs both.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/cuda/error.hpp>
#include <tpoverlap/cuda/nccl_communicator.hpp>

#include <cuda_runtime_api.h>
#include <mpi.h>
#include <nccl.h>

namespace tpoverlap::inline v0::cu {

/// `device` is left to the machine: ranks that share one get one device each, in rank order.
inline constexpr int device_by_local_rank = -1;

/// Collective over `ranks`, which must be initialized MPI's. Keeps nothing of MPI.
///
/// **Errors** `usage_error` if a machine has more ranks than devices. MPI's own errors end as its error handler says.
/// **Example** `cu::nccl_communicator comm{cu::nccl_start_from_mpi(MPI_COMM_WORLD)};`
[[nodiscard]] inline nccl_start nccl_start_from_mpi(MPI_Comm ranks, int device = device_by_local_rank) {
  nccl_start start;
  MPI_Comm_size(ranks, &start.seat.ranks);
  MPI_Comm_rank(ranks, &start.seat.rank);
  start.seat.device = device;
  if (device == device_by_local_rank) {
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(ranks, MPI_COMM_TYPE_SHARED, start.seat.rank, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &start.seat.device);
    MPI_Comm_free(&machine);
  }
  int devices = 0;
  int const counted = static_cast<int>(cudaGetDeviceCount(&devices));
  // All ranks learn whether each has its device: one that leaves alone would keep the others waiting.
  int short_of_devices = counted != 0 || start.seat.device >= devices ? 1 : 0;
  int const mine = short_of_devices;
  MPI_Allreduce(MPI_IN_PLACE, &short_of_devices, 1, MPI_INT, MPI_MAX, ranks);
  if (short_of_devices != 0) {
    detail::check(static_cast<cudaError_t>(counted), "cudaGetDeviceCount", start.seat.rank);
    bounded_text<200> what;
    if (mine != 0) {
      what << "this rank wants device " << start.seat.device << ", but its process sees " << devices
           << "; start one rank a GPU, or name devices";
    } else {
      what << "another rank has no device; start one rank a GPU, or name devices";
    }
    raise(usage_error{what.view(), start.seat.rank});
  }
  if (start.seat.rank == 0) start.id = make_nccl_id();
  MPI_Bcast(&start.id, static_cast<int>(sizeof(start.id)), MPI_BYTE, 0, ranks);
  return start;
}

}  // namespace tpoverlap::inline v0::cu
