// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Checks every way to do a job, measures them in turn, and relates the medians.
#pragma once

#include "processor_time.hpp"
#include "request.hpp"
#include "transport.hpp"
#include "workload.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// One way to do the job. Times are medians, in seconds; what does not apply is 0, as `library` is without an MPI, and
/// the bound of a library whose wire is not known.
struct row {
  kind is = kind::overlapped;
  std::string strategy;
  std::string collective;
  int chunks = 0;
  double seconds = 0;
  double communication_seconds = 0;  ///< the same without computing
  double pieces_seconds = 0;         ///< the same GEMMs, piece by piece, without communication
  double wire_seconds = 0;           ///< what its bytes take on the wire
  double bound_seconds = 0;          ///< what no schedule in chunks of this size can beat
  double times_as_fast_as_blocking = 0;
  double times_as_fast_as_library = 0;
  double ratio_to_bound = 0;
  double hidden_share = 0;  ///< of `wire_seconds`
  std::vector<double> rounds;
};

/// Where `row::wire_seconds` comes from: the emulated link's model, what the user says, or the fastest communication
/// alone of this run on the same transport.
enum class wire_source { emulated, stated, measured };

struct comparison {
  std::string description;
  surroundings where;
  tpoverlap::host::link_model link;
  int ranks = 0;
  double compute_seconds = 0;      ///< all ranks at the same time, each GEMM in one piece
  double elementwise_seconds = 0;  ///< what of it is no GEMM
  wire_source source = wire_source::measured;
  double wire_mbit = 0;  ///< by which `row::wire_seconds` was found; 0 where a rank receives nothing
  std::vector<row> rows;
  processor_time communication;
};

using progress = std::function<void(std::string_view)>;

[[nodiscard]] std::unique_ptr<workload> make_workload(transport& comm, request const& asked);

/// Gbit/s at which the messages of each pass take as long as its GEMM on all ranks. Collective; the ranks' links are
/// not to be emulated yet.
[[nodiscard]] double balanced_bandwidth(transport& comm, request const& asked, progress const& tell);

/// Collective. Returns nothing if a result is wrong; the ranks that saw it have said so to `complain`. `tell` is called
/// on rank 0 only.
[[nodiscard]] std::optional<comparison> compare(transport& comm, request const& asked, progress const& tell,
                                                progress const& complain);

}  // namespace bench
