// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks.hpp"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <thread>

namespace tpoverlap_test {

namespace {

MPI_Comm everybody = MPI_COMM_NULL;

/// MPI's own waits keep a core busy, which the ranks that work would miss.
void finish(MPI_Request request, char const* what) {
  auto const deadline = std::chrono::steady_clock::now() + std::chrono::minutes{2};
  for (;;) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    if (std::chrono::steady_clock::now() > deadline) {
      std::fprintf(stderr, "rank %d: not all ranks have come to %s within two minutes\n", world_rank(), what);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

template <std::size_t Size>
void put(char (&to)[Size], std::string_view text) {
  std::size_t const length = text.size() < Size - 1 ? text.size() : Size - 1;
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

char const* type_of(error const& failure) {
  if (dynamic_cast<usage_error const*>(&failure) != nullptr) return "usage_error";
  if (dynamic_cast<timeout_error const*>(&failure) != nullptr) return "timeout_error";
  if (dynamic_cast<aborted_error const*>(&failure) != nullptr) return "aborted_error";
  if (dynamic_cast<mpi::mpi_error const*>(&failure) != nullptr) return "mpi_error";
  if (dynamic_cast<communication_error const*>(&failure) != nullptr) return "communication_error";
  return "error";
}

std::string faults_of(std::vector<outcome> const& ends) {
  std::string text;
  for (std::size_t r = 0; r < ends.size(); ++r)
    if (!ends[r].threw(""))
      text += "\n  rank " + std::to_string(r) + ": " + ends[r].type + ": " + ends[r].what;
  return text;
}

}  // namespace

outcome outcome_of(std::function<void()> const& f) {
  outcome made;
  auto const start = std::chrono::steady_clock::now();
  try {
    f();
  } catch (error const& failure) {
    put(made.type, type_of(failure));
    put(made.what, failure.what());
    made.rank = failure.rank();
    made.peer = failure.peer();
    made.index = failure.where().index;
  } catch (std::exception const& failure) {
    put(made.type, "exception");
    put(made.what, failure.what());
  }
  made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return made;
}

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

meeting_place::meeting_place() { MPI_Comm_dup(MPI_COMM_WORLD, &everybody); }
meeting_place::~meeting_place() { MPI_Comm_free(&everybody); }

void meet() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(everybody, &request);
  finish(request, "a meeting");
}

std::vector<outcome> everywhere(std::function<void()> const& f) {
  outcome const mine = outcome_of(f);
  std::vector<outcome> all(static_cast<std::size_t>(world_size()));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(&mine, sizeof(outcome), MPI_BYTE, all.data(), sizeof(outcome), MPI_BYTE, everybody,
                 &request);
  finish(request, "the end of a test");
  return all;
}

std::vector<outcome> outcomes(mpi::communicator_options const& options,
                              std::function<void(mpi::communicator&)> const& f) {
  return everywhere([&] {
    mpi::communicator comm{MPI_COMM_WORLD, options};
    f(comm);
  });
}

std::string faults(mpi::communicator_options const& options,
                   std::function<void(mpi::communicator&)> const& f) {
  return faults_of(outcomes(options, [&](mpi::communicator& comm) {
    try {
      f(comm);
    } catch (std::exception const& failure) {
      comm.abort(failure.what());
      comm.drain();
      throw;
    }
  }));
}

std::string faults(std::function<void()> const& f) { return faults_of(everywhere(f)); }

}  // namespace tpoverlap_test
