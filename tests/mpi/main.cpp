// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Every rank runs the same test cases in the same order. `everywhere` makes them agree on every verdict, so that the
// report of rank 0 is everybody's.

#include "ranks.hpp"
#include "session.hpp"

#include <cstdio>

int main(int argc, char** argv) {
  tpoverlap::mpi::environment const running{argc, argv};
  tpoverlap_test::meeting_place const place;
  if (tpoverlap_test::world_rank() != 0 && std::freopen("/dev/null", "w", stdout) == nullptr) return 2;
  return tpoverlap_test::run_session(argc, argv);
}
