// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What communication costs the processor while it waits for the wire.
#pragma once

#include "transport.hpp"

#include <cstddef>

namespace bench {

/// Medians over rounds of one exchange in which every rank sends a message to the next one and receives another, with
/// nothing else running; the largest of all ranks. Shares are of one core.
struct processor_time {
  std::size_t bytes = 0;
  double seconds = 0;
  double process_share =
      0;                  ///< of the whole process; where ranks are threads of one, divided by their number
  double lane_share = 0;  ///< of the lane's thread
};

[[nodiscard]] processor_time measure_processor_time(transport& comm, stream& in, std::size_t bytes,
                                                    int rounds);

}  // namespace bench
