// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! One half of a message on its way, in segments.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tpoverlap/core/message.hpp>

namespace tpoverlap::inline v0::mpi::detail {

/// What goes before the data of each message, so that both ends find out whether they mean the same one.
struct flow_header {
  std::uint64_t bytes = 0;
  std::int64_t operation = -1;  ///< position in the schedule that issued it, -1 if none did
};

/// `posted` and `done` count bytes of data from the beginning; the header goes first.
struct flow {
  message half;
  std::int64_t operation = -1;
  std::int32_t after = -1;  // an earlier flow of the same peer and direction, which goes first
  std::int32_t summand =
      -1;  // for a receive that is summed instead of stored: its place in the order of additions
  bool header_posted = false;
  bool header_done = false;
  std::size_t under_way = 0;  // requests
  std::size_t posted = 0;
  std::size_t done = 0;

  [[nodiscard]] bool sends() const { return half.way == message::direction::send; }
  [[nodiscard]] bool all_posted() const { return header_posted && posted == half.bytes; }
  [[nodiscard]] bool finished() const { return header_done && done == half.bytes; }
  [[nodiscard]] std::size_t left() const { return half.bytes - done; }
};

}  // namespace tpoverlap::inline v0::mpi::detail
