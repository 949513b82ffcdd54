// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! One rank's part of a job: its operands, every way to do it, and what the result has to be.
#pragma once

#include "bound.hpp"
#include "request.hpp"
#include "switched_gemm.hpp"
#include "transport.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// `library` and `blocking` are what an overlapped call has to beat: the GEMM and the collective one after the other,
/// with the collective of the transport's own library, and with that of the overlapped call.
enum class kind { library, blocking, overlapped };

/// One way to do the job.
struct way {
  kind is = kind::overlapped;
  std::string strategy;
  std::string collective = "";  ///< of side work, whose collectives do not compete with each other
  int chunks = 0;               ///< 0: nothing is cut
  double exposed = 1;           ///< the tile that nothing can hide, as a share of its shard
  double bytes = 0;             ///< that a rank receives

  std::function<void(stream&)> issue = {};  ///< puts it into a stream; may block
  std::shared_ptr<gemm_switch> gemms =
      {};  ///< switches off all computing, so that communication alone is left
};

class workload {
 public:
  workload() = default;
  workload(workload const&) = delete;
  workload& operator=(workload const&) = delete;
  virtual ~workload() = default;

  /// In words, for the head of the table.
  [[nodiscard]] virtual std::string description() const = 0;

  /// Every way that is compiled in, available and wanted, baselines first. Collective.
  [[nodiscard]] virtual std::vector<way> ways() = 0;

  /// All that is computed, each GEMM in one piece, without communication.
  virtual void compute(stream& in) = 0;
  /// What of it is no GEMM.
  virtual void compute_elementwise(stream&) {}

  /// Lays ready what `next` works on in place, and makes results unusable, so that nothing of an earlier call can pass
  /// for one. Before a check only: no time depends on it.
  virtual void prepare(way const& next) = 0;
  /// Changes one element of a result.
  virtual void spoil_result() = 0;
  /// Empty if what `checked` has left is right to the last bit, or what is wrong.
  [[nodiscard]] virtual std::string fault(way const& checked) = 0;
  /// Whether whatever rounds is replaced by something that does not, for a check.
  virtual void set_exact(bool) {}

  makeup parts;
  double pass_bytes = 0;  ///< that a rank receives in each; of side work, in an AllGather
};

[[nodiscard]] std::unique_ptr<workload> make_gathers(transport& comm, request const& asked);
[[nodiscard]] std::unique_ptr<workload> make_reductions(transport& comm, request const& asked);
[[nodiscard]] std::unique_ptr<workload> make_side_work(transport& comm, request const& asked);
[[nodiscard]] std::unique_ptr<workload> make_mlp(transport& comm, request const& asked);

}  // namespace bench
