// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The strategies of `producer_before_consumer`, one function each. Grids show one rank: time runs to the right,
//! `g e` is the GEMM on the shard e steps away, `x e` the exchange that brings it.
#pragma once

#include <tpoverlap/policy/strategy.hpp>
#include <tpoverlap/schedule/gather_builder.hpp>

namespace tpoverlap::inline v0 {

///     compute        |          | g all
///     communication  | gather   |
constexpr void emit(gather_builder& b, blocking const&) {
  if (b.ranks() == 1) {
    b.consume(b.own());
    b.keep_own();
    return;
  }
  b.all_gather(0, b.chunks());
  b.consume(b.gathered(0, 0, b.chunks()));
}

///     compute        | g 0 | g-1 | g-2 | g-3
///     communication  | x-1 | x-2 | x-3 |          each shard is passed on to the neighbour while it is multiplied
///
/// Both ways round: `x-1 x+1` are one exchange, and half as many steps follow each other. With an even number of ranks
/// the farthest shard is reached from both sides: the first half of its chunks comes one way, the rest the other.
constexpr void emit(gather_builder& b, ring const& options) {
  int const ranks = b.ranks();
  int const chunks = b.chunks();
  int const forward = options.way == direction::backward ? b.back(1 % ranks) : 1 % ranks;
  int const backward = b.back(forward);
  bool const both = options.way == direction::both;
  int const steps = both ? ranks / 2 : ranks - 1;

  auto const comes_forward = [&](int step, int chunk) {
    return !both || 2 * step < ranks || chunk < (chunks + 1) / 2;
  };
  auto const comes_backward = [&](int step, int chunk) {
    return both && (2 * step < ranks || chunk >= (chunks + 1) / 2);
  };
  // The shard that has travelled `step` hops in direction `way` comes from `step` hops the other way.
  auto const tile = [&](int step, int way, int chunk) {
    if (step == 0) return b.own(chunk);
    int const shard = (way == 1 % ranks ? ranks - step : step) % ranks;
    int const arrival = both ? 2 * (step - 1) + (way == forward ? 0 : 1) : step - 1;
    return b.landed(arrival, shard, chunk);
  };

  for (int step = 0; step <= steps; ++step) {
    for (int c = 0; c < chunks; ++c) {
      if (step < steps) {
        // A chunk of the farthest shard that comes one way has its partner among those that come the other.
        int const partner = both && 2 * (step + 1) == ranks ? c + (chunks + 1) / 2 : c;
        message_group hop;
        if (comes_forward(step + 1, c)) {
          hop.send(tile(step, forward, c), forward).receive(tile(step + 1, forward, c), backward);
        }
        if (partner < chunks && comes_backward(step + 1, partner)) {
          hop.send(tile(step, backward, partner), backward)
              .receive(tile(step + 1, backward, partner), forward);
        }
        b.exchange(hop);
      }
      if (step == 0 || comes_forward(step, c)) b.consume(tile(step, forward, c));
      if (step > 0 && comes_backward(step, c)) b.consume(tile(step, backward, c));
    }
  }
  b.keep_own();
}

///     compute        | g 0 | g 1 | g 2 | g 3
///     communication  | x 1 | x 2 | x 3 |          each shard comes straight from its owner
constexpr void emit(gather_builder& b, direct const&) {
  for (int step = 0; step < b.ranks(); ++step) {
    for (int c = 0; c < b.chunks(); ++c) {
      if (int const next = step + 1; next < b.ranks()) {
        b.exchange(message_group{}.send(b.own(c), b.back(next)).receive(b.landed(step, next, c), next));
      }
      b.consume(step == 0 ? b.own(c) : b.landed(step - 1, step, c));
    }
  }
  b.keep_own();
}

///     compute        | g 0      | g all, chunk 0 | g all, chunk 1 |
///     communication  | gather 0 | gather 1       |
constexpr void emit(gather_builder& b, pipeline const&) {
  if (b.ranks() == 1) return emit(b, blocking{});
  b.all_gather(0, 1);
  b.consume(b.own());
  for (int c = 0; c < b.chunks(); ++c) {
    if (c + 1 < b.chunks()) b.all_gather(c + 1, 1);
    b.consume(b.gathered(1, c, 1));
  }
}

}  // namespace tpoverlap::inline v0
