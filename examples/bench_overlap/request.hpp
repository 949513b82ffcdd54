// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What is asked for, as plain data.
#pragma once

#include <tpoverlap/host/link_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// What is measured: an AllGather that feeds a GEMM, a GEMM that feeds a ReduceScatter, a collective beside a GEMM, or
/// a perceptron of two layers, forward and backward, which has all three.
enum class job { gather, reduction, side_work, mlp };

struct request {
  job what = job::gather;
  std::int64_t rows = 0;     ///< of each rank's shard
  std::int64_t inner = 0;    ///< contraction dimension of the GEMM; of an MLP, its width
  std::int64_t columns = 0;  ///< of the GEMM's result on each rank; of an MLP, its hidden columns there
  std::vector<int> chunks;   ///< empty: all that are compiled in
  std::vector<std::string> strategies;  ///< likewise
  int repeat = 15;
  std::size_t message_bytes = 8'000'000;
  int blas_threads = 1;
  bool spoils = false;  ///< change one element of each result, so that the check has something to find

  // Ranks in one process only.
  int ranks = 2;
  tpoverlap::host::link_model link;
  bool balanced = true;  ///< choose the bandwidth so that the wire takes as long as the GEMMs beside it

  // Under MPI only.
  double line_mbit = 0;  ///< what the line carries, in Mbit/s; 0: not known, measure
};

/// Whether a strategy is to be measured; 0 chunks if it has no such knob.
[[nodiscard]] inline bool is_wanted(request const& asked, std::string_view name, int chunks) {
  auto const has = [](auto const& list, auto const& one) {
    return list.empty() || std::find(list.begin(), list.end(), one) != list.end();
  };
  return has(asked.strategies, name) && (chunks == 0 || has(asked.chunks, chunks));
}

}  // namespace bench
