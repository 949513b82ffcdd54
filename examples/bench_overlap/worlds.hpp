// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The world sizes that are compiled in, every strategy once for each.
#pragma once

#include <tpoverlap/overlap/dispatch_world.hpp>

#ifndef BENCH_OVERLAP_WORLDS
#define BENCH_OVERLAP_WORLDS 2, 4
#endif

namespace bench {

inline constexpr int worlds[] = {BENCH_OVERLAP_WORLDS};

/// Calls `f.operator()<P>()` for the P that `ranks` is.
template <class F>
decltype(auto) with_ranks(int ranks, F&& f) {
  return tpoverlap::dispatch_world<BENCH_OVERLAP_WORLDS>(
      ranks, [&]<int Ranks>(tpoverlap::world<Ranks>) { return f.template operator()<Ranks>(); });
}

}  // namespace bench
