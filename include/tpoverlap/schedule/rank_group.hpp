// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The ranks of a world as a commutative group, so that one list of operations can serve all of them.
#pragma once

#include <cstdint>

namespace tpoverlap::inline v0 {

/// A group operation on the ranks 0..P-1 with 0 as its neutral element.
///
/// Every rank runs the same operations; an operation names a shard or a peer by a *step* that is applied to the rank
/// that runs it. Since steps commute, relabelling all ranks by one step changes nothing, and what is proven for
/// rank 0 holds for every rank.
struct rank_group {
  enum class kind : std::uint8_t {
    rotation,      ///< r + step mod P: rings
    exclusive_or,  ///< r ^ step, P a power of two: halving and doubling
    two_level,     ///< two digits, each rotating by itself: rings of rings, `inner` ranks in each
  };

  int ranks = 1;
  kind shape = kind::rotation;
  int inner = 1;

  /// The rank reached from `rank` by `step`; also the step that does `rank` and then `step`.
  [[nodiscard]] constexpr int apply(int rank, int step) const {
    switch (shape) {
      case kind::rotation: return rank + step < ranks ? rank + step : rank + step - ranks;
      case kind::exclusive_or: return rank ^ step;
      case kind::two_level:
        return (rank / inner + step / inner) % (ranks / inner) * inner +
               (rank % inner + step % inner) % inner;
    }
    return rank;
  }

  /// The step back: `apply(apply(r, step), inverse(step)) == r`.
  [[nodiscard]] constexpr int inverse(int step) const {
    switch (shape) {
      case kind::rotation: return step == 0 ? 0 : ranks - step;
      case kind::exclusive_or: return step;
      case kind::two_level: {
        int const outer = ranks / inner;
        return (outer - step / inner) % outer * inner + (inner - step % inner) % inner;
      }
    }
    return step;
  }

  /// Whether the parameters make a group at all.
  [[nodiscard]] constexpr bool valid() const {
    if (ranks < 1) return false;
    if (shape == kind::exclusive_or) return (ranks & (ranks - 1)) == 0;
    if (shape == kind::two_level) return inner >= 1 && ranks % inner == 0;
    return true;
  }

  friend constexpr bool operator==(rank_group const&, rank_group const&) = default;
};

}  // namespace tpoverlap::inline v0
