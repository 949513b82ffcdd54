// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What `verify` found: which rule a schedule breaks, and where.
#pragma once

#include <cstdint>

namespace tpoverlap::inline v0 {

/// What a schedule must obey. The comments say what a violation of the rule means.
enum class rule : std::uint8_t {
  none,           ///< every rule holds
  structure,      ///< an operation names tiles, lanes or peers that do not exist or do not fit its kind
  race,           ///< two operations touch one tile, at least one writes, and nothing orders them
  coverage,       ///< a tile is read before anything is in it, or the result lacks a part
  wrong_tile,     ///< a tile holds another shard or chunk than the operation takes it for
  counted_twice,  ///< a contribution is added to a sum that has it already
  matching,       ///< a send without its receive, a receive without its send, or of another tile
  progress,       ///< a wait for something that is issued later, or that records no event
  join,           ///< a lane runs on after the schedule has ended
  reuse,          ///< an operation can begin before its call has, and so meet the previous call
};

/// The verdict of `verify`; `verified()` if nothing is wrong. `first` and `second` are positions in the program's
/// operations, -1 where they do not apply. `rank` is the rank the argument was made for; since all ranks run one list
/// and steps commute, it stands for every rank.
struct violation {
  rule broken = rule::none;
  int rank = 0;
  int first = -1;
  int second = -1;
  int buffer = -1;
  int slot = -1;
  int chunk = -1;

  [[nodiscard]] constexpr bool verified() const { return broken == rule::none; }
  friend constexpr bool operator==(violation const&, violation const&) = default;
};

[[nodiscard]] constexpr char const* name_of(rule r) noexcept {
  switch (r) {
    case rule::none: return "none";
    case rule::structure: return "structure";
    case rule::race: return "race";
    case rule::coverage: return "coverage";
    case rule::wrong_tile: return "wrong tile";
    case rule::counted_twice: return "counted twice";
    case rule::matching: return "matching";
    case rule::progress: return "progress";
    case rule::join: return "join";
    case rule::reuse: return "reuse";
  }
  return "unknown";
}

}  // namespace tpoverlap::inline v0
