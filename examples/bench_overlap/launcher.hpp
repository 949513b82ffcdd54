// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Whether this process was started by an MPI launcher, found out without starting MPI.
#pragma once

#include <cstdlib>
#include <optional>

namespace bench {

struct launcher {
  char const* variable = "";  ///< of the environment, that told
  int rank = 0;
  int size = 0;  ///< 0 if only MPI knows
};

/// Open MPI, MPICH and its relatives, and PMIx (Open MPI 5, Slurm) say so in the environment of each rank.
[[nodiscard]] inline std::optional<launcher> find_launcher() {
  struct pair {
    char const* rank;
    char const* size;
  };
  constexpr pair known[] = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}, {"PMIX_RANK", ""}};
  for (auto const& each : known) {
    char const* const rank = std::getenv(each.rank);
    if (rank == nullptr) continue;
    char const* const size = each.size[0] != '\0' ? std::getenv(each.size) : nullptr;
    return launcher{each.rank, std::atoi(rank), size != nullptr ? std::atoi(size) : 0};
  }
  return std::nullopt;
}

}  // namespace bench
