// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What may be said about tuning: where choices are kept, and how carefully they are made.
#pragma once

#include <tpoverlap/overlap/shape.hpp>

#include <chrono>
#include <string>

namespace tpoverlap::inline v0 {

/// All ranks pass the same, but for `file` and `tag`: rank 0's file is used.
struct tuning {
  std::string file{};  ///< path where choices are kept, on rank 0's machine; empty: nowhere
  std::string
      tag{};        ///< whatever else a call's time depends on: the machine, the network, a library's threads
  int rounds = 15;  ///< in each, every candidate is measured once
  std::chrono::microseconds sample{500};  ///< a measurement repeats the call for about as long
  bool measure_anew = false;              ///< even if the file knows; what is measured replaces what it says
  int start = 0;                          ///< candidate in use until one is chosen: see `nearest_candidate`
};

/// The sizes of tuned side work: unlike side work itself, it has to know the GEMM beforehand, because the choice
/// depends on it. c (rows, columns) = a (rows, inner) · b (inner, columns).
struct side_shape {
  collective_shape collective;
  gemm_shape product;

  friend constexpr bool operator==(side_shape const&, side_shape const&) = default;
};

}  // namespace tpoverlap::inline v0
