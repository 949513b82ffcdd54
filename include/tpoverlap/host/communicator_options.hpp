// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What can be chosen about a world of in-process ranks.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tpoverlap/host/detail/clock.hpp>
#include <tpoverlap/host/link_model.hpp>

namespace tpoverlap::inline v0::host {

struct communicator_options {
  link_model link = {};                          ///< an emulated network; none by default
  std::chrono::milliseconds time_limit{10'000};  ///< longest wait for other ranks within one operation
  std::uint64_t straggler_seed = 0;              ///< same seed, same delays
  std::chrono::microseconds straggler_max{0};    ///< each operation of each rank starts up to this late
  std::size_t lane_queue_bytes = std::size_t{1} << 17;  ///< queue of each communication lane
};

}  // namespace tpoverlap::inline v0::host
