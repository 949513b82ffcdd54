// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! How the processes of one run find each other without a framework: their launcher says who they are in the environment,
//! and NCCL's unique id goes through a file that all can read.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/nccl.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

/// What torchrun, Open MPI, MPICH or Slurm say of this process; nothing if none of them started it.
inline std::optional<tpoverlap::cu::nccl_seat> seat_from_environment() {
  struct launcher {
    char const* rank;
    char const* ranks;
    char const* device;
  };
  constexpr launcher known[] = {
      {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
      {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
      {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"}};
  for (auto const& [rank, ranks, device] : known) {
    if (std::getenv(rank) == nullptr || std::getenv(ranks) == nullptr || std::getenv(device) == nullptr)
      continue;
    return tpoverlap::cu::nccl_seat{std::atoi(std::getenv(ranks)), std::atoi(std::getenv(rank)),
                                    std::atoi(std::getenv(device))};
  }
  return std::nullopt;
}

/// Rank 0 writes the id, the others wait for it, for a minute at most. The file must be new: an old one would send them
/// to a run that is over.
inline ncclUniqueId id_through_file(std::filesystem::path const& file, int rank) {
  using namespace tpoverlap;
  ncclUniqueId id{};
  if (rank == 0) {
    if (std::filesystem::exists(file))
      raise(usage_error{"the id file exists, perhaps from an earlier run; remove it or name another", rank});
    id = cu::make_nccl_id();
    std::filesystem::path const unfinished = file.string() + ".unfinished";
    if (!std::ofstream{unfinished, std::ios::binary}.write(id.internal, sizeof(id.internal)).flush())
      raise(
          usage_error{"the id file cannot be written; name one on a file system that all ranks share", rank});
    std::filesystem::rename(unfinished, file);  // all of it is there at once
    return id;
  }
  auto const limit = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  while (!std::filesystem::exists(file)) {
    if (std::chrono::steady_clock::now() > limit)
      raise(timeout_error{
          "rank 0 wrote no id file within a minute; give all ranks the same --id-file", rank, {}, 0});
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  if (!std::ifstream{file, std::ios::binary}.read(id.internal, sizeof(id.internal)))
    raise(usage_error{"the id file cannot be read", rank});
  return id;
}
