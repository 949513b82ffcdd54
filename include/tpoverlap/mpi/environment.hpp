// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Starts and ends MPI for a program that does not do so itself.
#pragma once

#include <mpi.h>

#include <exception>

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/mpi/error.hpp>

namespace tpoverlap::inline v0::mpi {

/// Initializes MPI with the thread level that communicators need, and finalizes it at the end of its scope. Where that
/// end is reached by an exception, MPI is not finalized, which would wait for the other ranks: the launcher ends them
/// when this process ends.
///
/// **Errors** `usage_error` if MPI was initialized before, or does not offer MPI_THREAD_MULTIPLE.
class environment {
 public:
  environment(int& argc, char**& argv) : exceptions_{std::uncaught_exceptions()} {
    int running = 0;
    detail::check(MPI_Initialized(&running), "MPI_Initialized");
    if (running != 0)
      raise(
          usage_error{"MPI is initialized already; leave that to one side, the program or mpi::environment"});
    int level = 0;
    detail::check(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level), "MPI_Init_thread");
    if (level < MPI_THREAD_MULTIPLE) {
      MPI_Finalize();
      raise(usage_error{"this MPI does not offer MPI_THREAD_MULTIPLE; use one that was built with it"});
    }
  }

  environment(environment const&) = delete;
  environment& operator=(environment const&) = delete;

  ~environment() {
    if (std::uncaught_exceptions() == exceptions_) MPI_Finalize();
  }

 private:
  int exceptions_;
};

}  // namespace tpoverlap::inline v0::mpi
