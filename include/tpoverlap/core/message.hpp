// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What a schedule hands to a communicator: halves of point-to-point messages, and pieces of collectives.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tpoverlap::inline v0 {

/// One half of a message, as seen from the rank that posts it.
///
/// **Units** `bytes` of contiguous memory at `data`; `peer` is a rank of the communicator, 0..P-1.
/// **Ordering** the k-th send from a to b on a lane meets the k-th receive at b from a on the same lane.
struct message {
  enum class direction : std::uint8_t { send, receive };

  direction way = direction::send;
  int peer = 0;
  void* data = nullptr;  ///< read by a send, written by a receive
  std::size_t bytes = 0;
};

/// The part of a collective's buffer that belongs to one rank: `elements` contiguous elements.
struct piece {
  void* data = nullptr;
  std::int64_t elements = 0;
};

}  // namespace tpoverlap::inline v0
