// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What no schedule can beat: the longer of computing and communicating, and what cannot lie beside the other.
#pragma once

#include <algorithm>

namespace bench {

/// What a job is made of.
struct makeup {
  bool has_elementwise = false;  ///< beside its GEMMs
  int gemms = 1;                 ///< of equal size
  int passes = 1;                ///< collectives of equal size, each beside one of the GEMMs
  int filled_passes = 1;         ///< those of them that depend on their GEMM, or the other way round
};

/// Seconds, where all GEMMs and what lies between them take `compute`, what lies between them `elementwise` of it, and
/// all messages `wire`; `exposed` is the share of a shard that its exposed tile has.
///
/// Every pass takes at least as long as its GEMM, and as its wire; an average over passes never makes this longer than
/// their sum. On top comes what cannot lie beside anything: after the last message of a gather its tile is still to be
/// multiplied, and before the first message of a reduction its tile has to be. Where computing takes longer than the
/// wire, one message may be exposed instead; the smaller of the two is taken, so that the bound is never too easy.
[[nodiscard]] inline double bound(makeup const& parts, int ranks, double compute, double elementwise,
                                  double wire, double exposed) {
  double const gemm = (compute - elementwise) / parts.gemms;
  double const message = wire / parts.passes;
  double const fill = (std::min)(gemm * exposed / ranks, message * exposed / (ranks - 1));
  return elementwise + (parts.gemms - parts.passes) * gemm + parts.passes * (std::max)(gemm, message) +
         parts.filled_passes * fill;
}

}  // namespace bench
