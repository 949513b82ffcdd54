// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! How the communication of a dependency edge is cut and routed. Each strategy is an aggregate of knobs with defaults.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace tpoverlap::inline v0 {

/// Which way shards travel round a ring.
enum class direction : std::uint8_t { forward, backward, both };

/// The sizes of a shard's chunks: each is to the one behind it as `earlier` to `later`. 1:1 is the even cut; 2:1 makes
/// four chunks of 8, 4, 2 and 1 fifteenths of the rows. Both numbers are 1 or more; in lowest terms, their powers are
/// the sizes, and those are 2^31 - 1 together at most: 31 chunks at 2:1, 15 at 4:3. A single chunk has no ratio.
///
/// What for: where the wire is slower than the GEMM, a gather has nothing to hide the GEMM on its last chunk behind, and
/// a reduction sends nothing before the GEMM on its first. So that chunk should be small, but not so much smaller than
/// its neighbour that the neighbour's GEMM is late instead. Let the wire take w and the GEMM g for a shard (in a
/// pipelined reduction, for one of every rank's). Then w:g is best for a gather, whose GEMM on a chunk ends just as the
/// next chunk arrives, and g:w for a reduction, whose GEMM on a chunk ends just as the chunk before has left. With
/// r = w/g, 1 / (1 + r + ... + r^(C-1)) of that GEMM stays exposed, where C even chunks expose 1 / C. When all P
/// GEMMs take as long as all P - 1 messages, r is P / (P - 1): 2:1 for two ranks, 4:3 for four. Where the GEMM is
/// slower than the wire, leave the cut even, but for a pipelined reduction, where g:w is right, too: its last message
/// is what is exposed then. A fused ring's last GEMM waits for the last message, so that a large last chunk costs it
/// more than a small first one gains.
///
/// It is a ratio of neighbours, not of the first chunk to the last, because that bound is the same for every pair, and
/// because its powers are whole numbers: every rank finds the same rows (`cut_in_proportion`).
///
/// Both ways round, a reduction sends the first half of the chunks one way and the rest the other. Each half is then
/// graded by itself, so that both links begin with a small chunk and carry alike: four chunks at 1:2 are 1, 2, 1, 2;
/// two chunks are even. A gather sends whole shards each way, so its chunks are graded as one sequence; only the
/// farthest shard of an even number of ranks comes in halves, which then differ in size.
struct chunk_ratio {
  int earlier = 1;
  int later = 1;

  /// Relative size of chunk `chunk` of `chunks`, or 0 if it has none that a program can hold.
  [[nodiscard]] constexpr int weight(int chunk, int chunks) const {
    if (earlier < 1 || later < 1) return 0;
    int divisor = earlier;
    for (int rest = later; rest != 0;) {
      int const next = divisor % rest;
      divisor = rest;
      rest = next;
    }
    std::int64_t product = 1;
    for (int c = 1; c < chunks && earlier != later; ++c) {
      product *= (c <= chunk ? later : earlier) / divisor;
      if (product > largest_weight) return 0;
    }
    return static_cast<int>(product);
  }

  /// Whether a shard can be cut into `chunks` chunks of these sizes.
  [[nodiscard]] constexpr bool cuts(int chunks) const {
    std::int64_t all = 0;
    for (int c = 0; c < chunks; ++c) {
      int const size = weight(c, chunks);
      all += size;
      if (size == 0 || all > largest_weight) return false;
    }
    return true;
  }

  friend constexpr bool operator==(chunk_ratio const&, chunk_ratio const&) = default;

 private:
  static constexpr std::int64_t largest_weight = 0x7fffffff;
};

/// No overlap: communicate everything, or compute everything, in one piece. The baseline, with the same call syntax.
struct blocking {
  friend constexpr bool operator==(blocking const&, blocking const&) = default;
};

/// Point-to-point ring: each step passes one shard (or one bucket) to the neighbour while a GEMM works on another.
/// A shard is cut into `chunks` row ranges, sized as `ratio` says. `depth` is the number of landing slots, 0 for one slot
/// a shard; with more than two ranks a ring needs at least two, since a slot is being sent while the next one fills, and
/// a gather both ways round four, since two shards land at each step. `direction::both` halves what each link carries: a
/// gather sends half of the shards each way, a reduction half of the chunks.
struct ring {
  int chunks = 1;
  direction way = direction::forward;
  int depth = 0;
  chunk_ratio ratio{};
  friend constexpr bool operator==(ring const&, ring const&) = default;
};

/// Straight to the rank that needs it, without forwarding: for links between all pairs of ranks.
/// `depth` is the number of landing slots, 0 for one slot a shard; with more than two ranks it needs at least two, since
/// one is in use while the next one fills.
struct direct {
  int chunks = 1;
  int depth = 0;
  chunk_ratio ratio{};
  friend constexpr bool operator==(direct const&, direct const&) = default;
};

/// The collective on one chunk of every shard while the GEMM works on another chunk.
struct pipeline {
  int chunks = 4;
  chunk_ratio ratio{};
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

/// How chunks are sized: the strategy's member `ratio` if it has one of that type, or evenly.
template <class Strategy>
[[nodiscard]] constexpr chunk_ratio ratio_of(Strategy const& strategy) {
  if constexpr (requires {
                  requires std::same_as<std::remove_cvref_t<decltype(strategy.ratio)>, chunk_ratio>;
                }) {
    return strategy.ratio;
  } else {
    return {};
  }
}

}  // namespace tpoverlap::inline v0
