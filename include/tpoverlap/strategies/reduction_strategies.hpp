// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The strategies of `consumer_before_reduction`, one function each. Grids show one rank: time runs to the right,
//! `g e` is the GEMM for the shard that belongs to the rank e steps away, `x` an exchange, `+` an addition.
//!
//! Ring and direct add in the same fixed order, whatever arrives first: the owner's successor, the next rank, ...,
//! and the owner itself last. Chunks that a ring sends backward begin with the owner's predecessor instead.
#pragma once

#include <tpoverlap/policy/strategy.hpp>
#include <tpoverlap/schedule/reduction_builder.hpp>

namespace tpoverlap::inline v0 {

namespace detail {

/// One collective from chunk `chunk` on: `count` chunks that the functor has just produced.
constexpr void emit_collective(reduction_builder& b, int chunk, int count) {
  namespace buffers = reduction_buffer;
  tile_range const output = b.sums_everywhere() ? b.all_shards(buffers::output, chunk, count)
                                                : b.own_shard(buffers::output, chunk, count);
  if (b.ranks() == 1) return b.produce(output);
  if (b.sums_everywhere() && !b.widens()) {
    b.produce(output);
    return b.all_reduce(output);
  }
  tile_range const partial = b.all_shards(buffers::partial, chunk, count);
  b.produce(partial);
  if (!b.widens()) return b.reduce_scatter(output, partial);

  tile_range const bucket = b.all_shards(buffers::bucket, chunk, count);
  b.copy(bucket, partial);
  if (b.sums_everywhere()) {
    b.all_reduce(bucket);
    return b.copy(output, bucket);
  }
  tile_range const sum = b.own_shard(buffers::sum, chunk, count);
  b.reduce_scatter(sum, bucket);
  b.copy(output, sum);
}

/// The AllGather that makes an AllReduce of a ReduceScatter: finished shards straight to every rank.
constexpr void share_directly(reduction_builder& b) {
  for (int step = 1; step < b.ranks(); ++step) {
    for (int c = 0; c < b.chunks(); ++c) {
      b.exchange(message_group{}.send(b.output(0, c), b.back(step)).receive(b.output(step, c), step));
    }
  }
}

}  // namespace detail

///     compute        | g all |
///     communication  |       | reduce
constexpr void emit(reduction_builder& b, blocking const&) { detail::emit_collective(b, 0, b.chunks()); }

///     compute        | g chunk 0 | g chunk 1 | g chunk 2 |
///     communication  |           | reduce 0  | reduce 1  | reduce 2
constexpr void emit(reduction_builder& b, pipeline const&) {
  for (int c = 0; c < b.chunks(); ++c) detail::emit_collective(b, c, 1);
}

///     compute        | g-1 | g-2 | g-3 | g 0
///     communication  |     | x   | x   | x   |    the bucket moves on, `accumulate::separate`:
///     elementwise    |           +     +     +    the GEMM runs while its bucket is on the wire
///
/// `accumulate::fused` has no additions: each GEMM waits for its bucket and adds into it, so that only several chunks
/// give anything to overlap. Both ways round: the first half of the chunks moves one way, the rest the other.
constexpr void emit(reduction_builder& b, ring const& options) {
  namespace buffers = reduction_buffer;
  int const ranks = b.ranks();
  int const chunks = b.chunks();
  if (ranks == 1) return emit(b, blocking{});
  bool const fused = b.options().accumulate == accumulation::fused;
  int const first_way = options.way == direction::backward ? b.back(1) : 1;
  int const turning =
      options.way == direction::both ? (chunks + 1) / 2 : chunks;  // first chunk that goes back
  if (options.way == direction::both) {
    // Each way is graded by itself: chunks that share an exchange have one size.
    for (int c = 0; c < chunks; ++c) b.program().weigh(c, options.ratio.weight(c % turning, turning));
  }
  int const bucket_slots = options.depth > 0 ? options.depth : ranks;
  int const partial_slots = options.depth > 0 ? options.depth + 1 : ranks;

  auto const way = [&](int chunk) { return chunk < turning ? first_way : b.back(first_way); };
  // At step s a rank works for the owner s + 1 hops against the way its bucket moves.
  auto const shard = [&](int step, int chunk) {
    int const hops = (step + 1) % ranks;
    return way(chunk) == 1 ? b.back(hops) : hops;
  };
  auto const partial = [&](int s, int c) { return b.partial(s % partial_slots, shard(s, c), c); };
  auto const bucket = [&](int s, int c) {
    bool const last = s == ranks - 1;
    if (last && fused && !b.widens()) return b.output(0, c);
    return b.bucket(s % bucket_slots, shard(s, c), c);
  };
  auto const first_bucket_is_partial = !fused && !b.widens();
  auto const leaving = [&](int s, int c) {
    return s == 0 && first_bucket_is_partial ? partial(0, c) : bucket(s, c);
  };

  for (int s = 0; s < ranks; ++s) {
    // Chunks that go opposite ways share an exchange, so that both directions of a link are busy.
    for (int i = 0; i < turning; ++i) {
      int const pair[2] = {i, turning + i < chunks ? turning + i : -1};
      message_group hop;
      for (int c : pair) {
        if (c < 0 || s == 0) continue;
        hop.send(leaving(s - 1, c), way(c)).receive(bucket(s, c), b.back(way(c)));
      }
      b.exchange(hop);
      for (int c : pair) {
        if (c < 0) continue;
        bool const last = s == ranks - 1;
        if (fused) {
          b.produce(bucket(s, c), s == 0 ? access_mode::write : access_mode::accumulate);
          if (last && b.widens()) b.copy(b.output(0, c), bucket(s, c));
          continue;
        }
        b.produce(partial(s, c));
        if (s == 0) {
          if (b.widens()) b.copy(bucket(0, c), partial(0, c));
        } else if (last) {
          b.add(b.output(0, c), bucket(s, c), partial(s, c));
        } else {
          b.add_into(bucket(s, c), partial(s, c));
        }
      }
    }
  }
  if (!b.sums_everywhere()) return;
  for (int s = 1; s < ranks; ++s) {
    for (int c = 0; c < chunks; ++c) {
      auto const passed = [&](int hops) { return hops == 0 || way(c) != 1 ? hops : ranks - hops; };
      b.exchange(message_group{}
                     .send(b.output(passed(s - 1), c), way(c))
                     .receive(b.output(passed(s), c), b.back(way(c))));
    }
  }
}

///     compute        | g-1 | g-2 | g-3 | g 0
///     communication  |     | x-1 | x-2 | x-3 |    each partial goes straight to its owner,
///     elementwise    |                 +   + +    which adds them in fixed order as they arrive
constexpr void emit(reduction_builder& b, direct const& options) {
  namespace buffers = reduction_buffer;
  int const ranks = b.ranks();
  if (ranks == 1) return emit(b, blocking{});
  int const slots = options.depth > 0 ? options.depth : ranks;
  auto const sum = [&](int c) { return b.widens() ? b.sum(c) : b.output(0, c); };

  for (int s = 0; s + 1 < ranks; ++s) {
    int const owner = b.back(s + 1);
    for (int c = 0; c < b.chunks(); ++c) {
      tile_range const partial = b.partial(s % slots, owner, c);
      tile_range const landing = b.landing(s % slots, 0, c);
      b.produce(partial);
      b.exchange(message_group{}.send(partial, owner).receive(landing, s + 1));
      if (s == 1) {
        b.add(sum(c), b.landing(0, 0, c), landing);
      } else if (s > 1) {
        b.add_into(sum(c), landing);
      }
    }
  }
  for (int c = 0; c < b.chunks(); ++c) {
    tile_range const partial = b.partial((ranks - 1) % slots, 0, c);
    b.produce(partial);
    if (ranks == 2) {
      b.add(b.output(0, c), b.landing(0, 0, c), partial);
    } else if (b.widens()) {
      b.add(b.output(0, c), sum(c), partial);
    } else {
      b.add_into(b.output(0, c), partial);
    }
  }
  if (b.sums_everywhere()) detail::share_directly(b);
}

}  // namespace tpoverlap::inline v0
