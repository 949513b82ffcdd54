// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What is known of one operation of one call after it has run.
#pragma once

#include <tpoverlap/schedule/operation.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tpoverlap::inline v0::trace {

/// One operation of a schedule, in one call, on one rank.
///
/// **Units** nanoseconds of the backend's clock; `never` where an operation did not come so far, because its call threw.
/// An operation that ran on a failed stream was skipped by it, but has all its times.
struct event {
  static constexpr std::int64_t never = -1;

  int schedule = 0;           ///< number of the schedule within its recorder
  std::string schedule_name;  ///< such as "producer_before_consumer"
  std::int64_t call = 0;      ///< 0 is the first recorded call of this schedule
  int rank = 0;               ///< that ran it
  int operation = 0;          ///< position in the schedule
  int lane = 0;               ///< 0 is the caller's stream
  operation_kind kind{};
  int shard = -1;      ///< rank that owns the tile; -1 for several shards, or a matrix that is not cut
  int chunk = -1;      ///< first chunk of the tile; -1 for a matrix that is not cut
  std::string action;  ///< what it does with which tiles and peers, in words
  std::vector<int> waited_for;   ///< operations of other lanes, in the same call
  std::int64_t reached = never;  ///< its lane came to it, and began to wait for the operations above
  std::int64_t started = never;
  std::int64_t ended = never;
  /// Calls of this schedule on this rank that were not recorded for want of room.
  std::int64_t dropped_calls = 0;

  /// Whether it is communication between ranks.
  [[nodiscard]] bool communicates() const { return kind == operation_kind::exchange || is_collective(kind); }

  /// Whether both were running at some instant.
  [[nodiscard]] bool ran_beside(event const& other) const {
    return started != never && other.started != never && started < other.ended && other.started < ended;
  }
};

}  // namespace tpoverlap::inline v0::trace
