// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The one place that says which strategies are compiled in, and what they are called on the command line.
#pragma once

#include <tpoverlap/policy/dependency.hpp>
#include <tpoverlap/policy/strategy.hpp>

namespace bench {

// Each function calls `add.operator()<what to compile>(name)` for every entry of its list. `Ranks` is known because
// the best sizes of graded chunks depend on it: see `chunk_ratio`.

template <int Ranks, class Add>
void for_each_gather(Add&& add) {
  using namespace tpoverlap;
  constexpr chunk_ratio falling{.earlier = Ranks, .later = Ranks - 1};
  add.template operator()<ring{.chunks = 1}>("ring");
  add.template operator()<ring{.chunks = 2}>("ring");
  add.template operator()<ring{.chunks = 4}>("ring");
  add.template operator()<ring{.chunks = 4, .ratio = falling}>("ring-graded");
  add.template operator()<ring{.chunks = 1, .way = direction::both}>("ring-both");
  add.template operator()<ring{.chunks = 4, .way = direction::both}>("ring-both");
  add.template operator()<direct{.chunks = 1}>("direct");
  add.template operator()<direct{.chunks = 2}>("direct");
  add.template operator()<direct{.chunks = 4}>("direct");
  add.template operator()<direct{.chunks = 4, .ratio = falling}>("direct-graded");
  add.template operator()<pipeline{.chunks = 2}>("pipeline");
  add.template operator()<pipeline{.chunks = 4}>("pipeline");
  add.template operator()<pipeline{.chunks = 4, .ratio = falling}>("pipeline-graded");
}

template <int Ranks, class Add>
void for_each_reduction(Add&& add) {
  using namespace tpoverlap;
  constexpr chunk_ratio rising{.earlier = Ranks - 1, .later = Ranks};
  constexpr reduction separate{};
  constexpr reduction fused{.accumulate = accumulation::fused};
  add.template operator()<ring{.chunks = 1}, separate>("ring");
  add.template operator()<ring{.chunks = 2}, separate>("ring");
  add.template operator()<ring{.chunks = 4}, separate>("ring");
  add.template operator()<ring{.chunks = 4, .ratio = rising}, separate>("ring-graded");
  add.template operator()<ring{.chunks = 2}, fused>("ring-fused");
  add.template operator()<ring{.chunks = 4}, fused>("ring-fused");
  add.template operator()<ring{.chunks = 2, .way = direction::both}, separate>("ring-both");
  add.template operator()<ring{.chunks = 4, .way = direction::both}, separate>("ring-both");
  add.template operator()<direct{.chunks = 1}, separate>("direct");
  add.template operator()<direct{.chunks = 2}, separate>("direct");
  add.template operator()<direct{.chunks = 4}, separate>("direct");
  add.template operator()<direct{.chunks = 4, .ratio = rising}, separate>("direct-graded");
  add.template operator()<pipeline{.chunks = 2}, separate>("pipeline");
  add.template operator()<pipeline{.chunks = 4}, separate>("pipeline");
  add.template operator()<pipeline{.chunks = 4, .ratio = rising}, separate>("pipeline-graded");
}

template <int Ranks, class Add>
void for_each_collective(Add&& add) {
  add.template operator()<tpoverlap::all_gather{}>("all_gather");
  add.template operator()<tpoverlap::reduce_scatter{}>("reduce_scatter");
  add.template operator()<tpoverlap::all_reduce{}>("all_reduce");
}

/// The strategies of an MLP: of the gathers of two passes, and of the reduction of one.
template <int Ranks, class Add>
void for_each_mlp(Add&& add) {
  using namespace tpoverlap;
  constexpr chunk_ratio falling{.earlier = Ranks, .later = Ranks - 1};
  constexpr chunk_ratio rising{.earlier = Ranks - 1, .later = Ranks};
  add.template operator()<ring{.chunks = 2}, ring{.chunks = 2}>("ring");
  add.template operator()<ring{.chunks = 4}, ring{.chunks = 4}>("ring");
  add.template operator()<ring{.chunks = 4, .ratio = falling}, ring{.chunks = 4, .ratio = rising}>(
      "ring-graded");
  add.template operator()<direct{.chunks = 4}, direct{.chunks = 4}>("direct");
  add.template operator()<pipeline{.chunks = 4}, pipeline{.chunks = 4}>("pipeline");
}

/// Share of a shard that its last chunk has, the one that a gather leaves exposed, or its first, which a reduction does.
template <class Strategy>
[[nodiscard]] constexpr double share_of_chunk(Strategy const& strategy, bool last) {
  int const count = tpoverlap::chunks_of(strategy);
  if constexpr (requires { strategy.ratio; }) {
    double all = 0;
    for (int c = 0; c < count; ++c) all += strategy.ratio.weight(c, count);
    return strategy.ratio.weight(last ? count - 1 : 0, count) / all;
  } else {
    return 1.0 / count;
  }
}

}  // namespace bench
