// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! How the communication of a dependency edge is cut and routed. Each strategy is an aggregate of knobs with defaults.
#pragma once

#include <cstdint>

namespace tpoverlap::inline v0 {

/// Which way shards travel round a ring.
enum class direction : std::uint8_t { forward, backward, both };

/// No overlap: communicate everything, or compute everything, in one piece. The baseline, with the same call syntax.
struct blocking {
  friend constexpr bool operator==(blocking const&, blocking const&) = default;
};

/// Point-to-point ring: each step passes one shard (or one bucket) to the neighbour while a GEMM works on another.
/// A shard is cut into `chunks` row ranges. `depth` is the number of landing slots, 0 for one slot a shard; with
/// more than two ranks a ring needs at least two, since a slot is being sent while the next one fills, and a gather both
/// ways round four, since two shards land at each step. `direction::both` halves what each link carries: a gather sends
/// half of the shards each way, a reduction half of the chunks.
struct ring {
  int chunks = 1;
  direction way = direction::forward;
  int depth = 0;
  friend constexpr bool operator==(ring const&, ring const&) = default;
};

/// Straight to the rank that needs it, without forwarding: for links between all pairs of ranks.
/// `depth` is the number of landing slots, 0 for one slot a shard; with more than two ranks it needs at least two, since
/// one is in use while the next one fills.
struct direct {
  int chunks = 1;
  int depth = 0;
  friend constexpr bool operator==(direct const&, direct const&) = default;
};

/// The collective on one chunk of every shard while the GEMM works on another chunk.
struct pipeline {
  int chunks = 4;
  friend constexpr bool operator==(pipeline const&, pipeline const&) = default;
};

/// A whole AllGather beside a GEMM that does not need it.
struct all_gather {
  friend constexpr bool operator==(all_gather const&, all_gather const&) = default;
};

/// A whole ReduceScatter beside a GEMM that does not feed it.
struct reduce_scatter {
  friend constexpr bool operator==(reduce_scatter const&, reduce_scatter const&) = default;
};

/// A whole AllReduce beside a GEMM that does not feed it.
struct all_reduce {
  friend constexpr bool operator==(all_reduce const&, all_reduce const&) = default;
};

/// Chunks a shard is cut into: the strategy's knob, or 1 where it has none.
template <class Strategy>
[[nodiscard]] constexpr int chunks_of(Strategy const& strategy) {
  if constexpr (requires { strategy.chunks; }) {
    return strategy.chunks;
  } else {
    return 1;
  }
}

}  // namespace tpoverlap::inline v0
