// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Every strategy gives, on MPI, the bytes that it gives on the in-process communicator.

#include "../support/catch.hpp"
#include "policy_cases.hpp"
#include "ranks.hpp"

#include <cstring>
#include <stdexcept>

using namespace tpoverlap_test;

namespace {

std::vector<float> in_process(policy_case const& each, int rank) {
  std::vector<float> results;
  host::run_ranks(each.ranks, [&](host::communicator& comm) {
    wrapped<host::communicator> any{comm};
    auto mine = each.run(any);
    if (comm.rank() == rank) results = std::move(mine);
  });
  return results;
}

void compare(policy_cases const& cases, mpi::communicator& comm) {
  int ran = 0;
  for (auto const& each : cases) {
    if (each.ranks != comm.size()) continue;
    ++ran;
    wrapped<mpi::communicator> any{comm};
    std::vector<float> const is = each.run(any);
    std::vector<float> const should = in_process(each, comm.rank());
    require(!is.empty() && is.size() == should.size(), each.name + ": another number of results");
    for (std::size_t i = 0; i < is.size(); ++i)
      if (std::memcmp(&is[i], &should[i], sizeof(float)) != 0)
        throw std::runtime_error{each.name + ": result " + std::to_string(i) + " of " +
                                 std::to_string(is.size()) + " is " + std::to_string(is[i]) +
                                 ", in process " + std::to_string(should[i])};
  }
  require(ran > 0, "no case for this number of ranks");
}

}  // namespace

TEST_CASE("every strategy gives the bytes of the in-process communicator", "[results]") {
  // One communicator for many objects; its segments are small enough for several in a message.
  auto const tiny = GENERATE(false, true);
  mpi::communicator_options options;
  if (tiny)
    options = {.segment_bytes = 1024, .window = 1, .polling = {.shortest = std::chrono::microseconds{0}}};
  CAPTURE(tiny);
  CHECK(faults(options, [](mpi::communicator& comm) { compare(gather_cases(), comm); }) == "");
  CHECK(faults(options, [](mpi::communicator& comm) { compare(reduction_cases(), comm); }) == "");
  CHECK(faults(options, [](mpi::communicator& comm) { compare(wide_reduction_cases(), comm); }) == "");
  CHECK(faults(options, [](mpi::communicator& comm) { compare(side_cases(), comm); }) == "");
}
