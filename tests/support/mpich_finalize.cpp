// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Linked into every test program that uses MPICH, because MPICH up to 4.1 over UCX hangs in MPI_Finalize: each process
// waits there until its peers have acknowledged that it leaves, then blocks in the launcher's barrier, where it no
// longer acknowledges anything. Who was acknowledged by a peer that had not begun to leave is gone when that peer asks
// (four ranks over TCP, one of them receiving from the others: 11 runs of 12 hung). Later versions have that barrier
// first (pmodels/mpich, pull request 6596 and after); this does the same for the older: nobody leaves before all have
// ended their last MPI call. The barrier is two lines of text to the launcher, in its protocol PMI 1.

#include <mpi.h>

#if !defined(MPICH_NUMVERSION)
#error mpich_finalize.cpp is for MPICH only
#elif MPICH_NUMVERSION < 40200000

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace {

// True if all ranks met; false where there is no launcher that speaks this protocol.
bool meet_through_launcher() {
  char const* const descriptor_text = std::getenv("PMI_FD");
  if (descriptor_text == nullptr) {
    return false;
  }
  int const descriptor = std::atoi(descriptor_text);
  constexpr std::string_view request = "cmd=barrier_in\n";
  if (write(descriptor, request.data(), request.size()) != static_cast<ssize_t>(request.size())) {
    return false;
  }
  char letter = 0;
  while (read(descriptor, &letter, 1) == 1) {
    if (letter == '\n') {
      return true;
    }
  }
  return false;
}

}  // namespace

extern "C" int MPI_Finalize() {
  // Every pair meets, because a connection that was never used is only made when it is to be ended; and after this no
  // message needs its sender's help any more.
  constexpr int tag = 31415;
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int step = 1; step < size; ++step) {
    char sent = 0;
    char received = 0;
    PMPI_Sendrecv(&sent, 1, MPI_CHAR, (rank + step) % size, tag, &received, 1, MPI_CHAR,
                  (rank + size - step) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  meet_through_launcher();
  return PMPI_Finalize();
}

#endif
