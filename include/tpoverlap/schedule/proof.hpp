// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Turns the verdict of `verify` into one readable compile error.
#pragma once

#include <tpoverlap/schedule/violation.hpp>

namespace tpoverlap::inline v0 {

/// Instantiating this with a violation stops the build; the template argument in the error shows which operations
/// (`first`, `second`) and which tile (`buffer`, `slot`, `chunk`) it is about. `explain_schedule` prints them in words.
template <violation Verdict>
struct proof {
  static_assert(
      Verdict.broken != rule::structure,
      "tpoverlap[E010]: an operation names tiles, a lane or a peer that do not exist or do not fit its kind; "
      "the program cannot be read; correct the strategy's emit function");
  static_assert(
      Verdict.broken != rule::race,
      "tpoverlap[E011]: two operations touch one tile, at least one writes it, and nothing orders them; the "
      "result would depend on timing; give the tile more slots (`depth`), or emit the operations so that "
      "one can wait for the other");
  static_assert(
      Verdict.broken != rule::coverage,
      "tpoverlap[E012]: a tile is read before anything is in it, or the result lacks a part at the end; "
      "emit the exchange or GEMM that fills it");
  static_assert(
      Verdict.broken != rule::wrong_tile,
      "tpoverlap[E013]: a tile holds another shard or chunk than the operation takes it for; give the "
      "buffer more slots (`depth`), or correct the shard, slot or chunk that the strategy names");
  static_assert(Verdict.broken != rule::counted_twice,
                "tpoverlap[E014]: a contribution is added to a sum that already has it; emit each "
                "contribution once, and give arriving partials more slots (`depth`)");
  static_assert(
      Verdict.broken != rule::matching,
      "tpoverlap[E015]: a send has no receive in the same exchange, or they mean different tiles; a message "
      "sent by `step` is received from `back(step)`");
  static_assert(
      Verdict.broken != rule::progress,
      "tpoverlap[E016]: an operation waits for one that is issued later or records no event; the schedule "
      "would stop; run `synchronize`, or emit in an order in which everything awaited comes first");
  static_assert(Verdict.broken != rule::join,
                "tpoverlap[E017]: a lane runs on after the schedule has ended; let the join wait for it");
  static_assert(
      Verdict.broken != rule::reuse,
      "tpoverlap[E018]: an operation does not wait for the start of its call, so that it could meet the "
      "call before; let it wait for the fork");
  static constexpr bool holds = Verdict.verified();
};

}  // namespace tpoverlap::inline v0
