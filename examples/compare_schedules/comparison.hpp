// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What is asked and what comes out of it, as plain data.
#pragma once

#include <tpoverlap/host/link_model.hpp>
#include <tpoverlap/overlap/shape.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace compare {

struct request {
  int ranks = 4;
  int chunks = 2;
  tpoverlap::gemm_shape shape{.rows = 2048, .inner = 1024, .columns = 1024};
  tpoverlap::host::link_model link;
  bool balanced = true;  ///< choose the bandwidth so that the link takes as long as the GEMM
  int repeat = 15;
};

/// One strategy. Times are medians, in seconds.
struct row {
  std::string strategy;
  double time = 0;
  double communication = 0;  ///< the same messages without a GEMM
  double link = 0;           ///< what the messages take on the link by the model
  double bound = 0;
  double to_blocking = 0;
  double to_bound = 0;
  double hidden = 0;  ///< share of `link` that the GEMM covers
};

struct comparison {
  tpoverlap::host::link_model link;
  double gemm = 0;  ///< all ranks at the same time, in one piece
  int pieces = 1;
  double gemm_in_pieces = 0;
  double fill = 0;
  std::vector<row> rows;
};

using progress = std::function<void(std::string_view)>;

[[nodiscard]] comparison compare_gathers(request const& asked, progress const& tell);
[[nodiscard]] comparison compare_reductions(request const& asked, progress const& tell);
[[nodiscard]] comparison compare_side_work(request const& asked, progress const& tell);

}  // namespace compare
