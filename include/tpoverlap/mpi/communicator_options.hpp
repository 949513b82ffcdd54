// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! How an MPI communicator moves data, and how long it waits.
#pragma once

#include <chrono>
#include <cstddef>

#include <tpoverlap/host/stream.hpp>

namespace tpoverlap::inline v0::mpi {

/// How often a lane that waits for its messages asks MPI about them. MPI offers no way to sleep until something
/// happens, so a lane sleeps for a while between `shortest` and `longest` that it adapts to what comes meanwhile. A core
/// that polls is taken from the GEMM; one that sleeps too long lets the kernel's buffers run dry.
struct polling {
  std::chrono::microseconds shortest{50};
  std::chrono::microseconds longest{500};

  friend constexpr bool operator==(polling const&, polling const&) = default;
};

/// All ranks pass the same.
struct communicator_options {
  /// An operation in which nothing moves for this long ends in a `timeout_error`.
  std::chrono::milliseconds time_limit{30'000};

  /// Messages travel in segments of this many bytes, a multiple of 64, at least 1024. A segment that fits the
  /// transport's eager limit (65536 bytes with its header for OpenMPI's sockets) is sent without asking the receiver
  /// first; the question would queue behind the data that is on its way.
  std::size_t segment_bytes = std::size_t{60} << 10;

  /// Segments that one operation has in MPI's hands at a time, each way. Few, so that chunks arrive in order.
  int window = 8;

  mpi::polling polling = {};

  /// Of the lanes' threads. `high` needs the right to it, see `host::stream::priority_granted`.
  host::priority priority = host::priority::high;

  /// Lanes that can be used, 1 to 7, each with an MPI communicator of its own. The library uses three.
  int lanes = 3;

  std::size_t lane_queue_bytes = std::size_t{1} << 16;  ///< room for operations that are issued and not done
};

}  // namespace tpoverlap::inline v0::mpi
