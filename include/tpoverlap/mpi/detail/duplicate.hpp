// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What has to be so before a communicator is made, and the MPI communicators that it is made of.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/mpi/communicator_options.hpp>
#include <tpoverlap/mpi/error.hpp>

namespace tpoverlap::inline v0::mpi::detail {

inline void require_running_mpi() {
  int running = 0;
  int ended = 0;
  check(MPI_Initialized(&running), "MPI_Initialized");
  check(MPI_Finalized(&ended), "MPI_Finalized");
  if (running == 0 || ended != 0) {
    raise(usage_error{running == 0
                          ? "MPI is not initialized; call MPI_Init_thread with MPI_THREAD_MULTIPLE first, or "
                            "make an mpi::environment"
                          : "MPI is finalized already; make communicators before"});
  }
  int level = 0;
  check(MPI_Query_thread(&level), "MPI_Query_thread");
  if (level == MPI_THREAD_MULTIPLE) return;
  char const* const name = level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                           : level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED"
                                                          : "MPI_THREAD_SINGLE";
  bounded_text<200> text;
  text << "MPI runs with " << name
       << ", but lanes are threads that call it; initialize it by MPI_Init_thread with MPI_THREAD_MULTIPLE";
  raise(usage_error{text.view()});
}

inline void require_intracommunicator(MPI_Comm group) {
  if (group == MPI_COMM_NULL)
    raise(usage_error{"MPI_COMM_NULL has no ranks; pass the communicator of a group that this rank is in"});
  int between_groups = 0;
  check(MPI_Comm_test_inter(group, &between_groups), "MPI_Comm_test_inter");
  if (between_groups != 0)
    raise(usage_error{
        "this is an intercommunicator, which has two groups of ranks; pass one of a single group, such "
        "as MPI_Intercomm_merge makes of it"});
}

inline void require_possible(communicator_options const& options) {
  constexpr std::size_t most = std::size_t{1} << 30;  // MPI counts in int
  constexpr std::chrono::hours longest{24 * 366};  // clocks count nanoseconds, and overflow after 292 years
  char const* fault = nullptr;
  if (options.segment_bytes % 64 != 0 || options.segment_bytes < 1024 || options.segment_bytes > most)
    fault = "communicator_options::segment_bytes must be a multiple of 64 between 1024 and 2^30";
  else if (options.window < 1 || options.window > 4096)
    fault = "communicator_options::window must lie between 1 and 4096";
  else if (options.lanes < 1 || options.lanes > 7)
    fault = "communicator_options::lanes must lie between 1 and 7";
  else if (options.time_limit.count() <= 0 || options.time_limit > longest)
    fault = "communicator_options::time_limit must be positive, and a year at most";
  else if (options.polling.shortest.count() < 0 || options.polling.longest < options.polling.shortest ||
           options.polling.longest > longest)
    fault = "communicator_options::polling must have 0 <= shortest <= longest, and a year at most";
  if (fault != nullptr) raise(usage_error{fault});
}

/// A duplicate of `group` that returns errors instead of ending the program. Collective.
[[nodiscard]] inline MPI_Comm duplicate(MPI_Comm group, int rank, std::chrono::milliseconds limit) {
  auto made = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Comm_idup(group, made.get(), &request), "MPI_Comm_idup", rank);
  auto const deadline = std::chrono::steady_clock::now() + limit;
  for (std::chrono::microseconds pause{10};;) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test", rank);
    if (done != 0) break;
    if (std::chrono::steady_clock::now() >= deadline) {
      (void)made.release();  // MPI may write to it yet
      bounded_text<200> text;
      text << "waited " << limit.count()
           << " ms for all ranks of the group to make a communicator; it is collective, so look for the rank "
              "that did not come";
      raise(timeout_error{text.view(), rank});
    }
    std::this_thread::sleep_for(pause);
    if (pause.count() < 1000) pause *= 2;
  }
  check(MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler", rank);
  return *made;
}

}  // namespace tpoverlap::inline v0::mpi::detail
