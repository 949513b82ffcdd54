// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The proof: one function that says whether a schedule is right on every rank, at compile time or at run time.
#pragma once

#include <tpoverlap/schedule/check_contents.hpp>
#include <tpoverlap/schedule/check_order.hpp>
#include <tpoverlap/schedule/check_structure.hpp>

namespace tpoverlap::inline v0 {

/// Proves a program or returns the first violation.
///
/// **What is proven**, for all ranks and however they are delayed against each other: every part of the result is
/// produced and counted once (coverage); accesses to a tile are ordered (races); messages meet the right messages
/// (matching); nothing waits in a circle, on any finite number of hardware queues (progress); every lane is joined
/// (joins); calls of the same schedule one after another do not meet (reuse).
/// **The model**: messages are two-sided and move in the order of their lane; a lane runs in order; waits are for
/// events recorded by the same rank's host. Order inside a one-sided communicator is that communicator's business.
/// **Cost** O(operations × lanes + accessed tiles × lanes): a fraction of a million steps for 16 ranks, 4 chunks.
[[nodiscard]] constexpr violation verify(program_view const& program) {
  tile_index const tiles{program};
  if (violation const v = detail::check_structure(program, tiles); !v.verified()) return v;
  detail::happens_before const before{program};
  if (violation const v = detail::check_ends(program, before); !v.verified()) return v;
  if (violation const v = detail::check_races(program, tiles, before); !v.verified()) return v;
  return detail::content_tracker{program, tiles}.run();
}

}  // namespace tpoverlap::inline v0
