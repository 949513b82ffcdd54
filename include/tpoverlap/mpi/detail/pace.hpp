// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! How long a lane sleeps before it asks MPI again.
#pragma once

#include <chrono>
#include <cstddef>

#include <tpoverlap/mpi/communicator_options.hpp>

namespace tpoverlap::inline v0::mpi::detail {

using clock = std::chrono::steady_clock;

/// Of one operation. The last sleeps get shorter and shorter, so that its end is noticed soon and the next operation
/// keeps the link busy.
class pace {
 public:
  explicit pace(polling const& limits)
      : limits_{limits}, waiting_{limits.shortest}, last_moved_{clock::now()} {}

  void moved(std::size_t bytes) {
    last_moved_ = clock::now();
    if (moved_ == 0) began_ = last_moved_;
    moved_ += bytes;
  }

  [[nodiscard]] clock::time_point last_moved() const { return last_moved_; }

  /// `left` are the bytes that are still to move.
  [[nodiscard]] clock::duration next_sleep(std::size_t left) {
    clock::duration const longest = limits_.longest;
    if (moved_ == 0) {
      clock::duration const now = waiting_;
      waiting_ = now < longest / 2 ? 2 * now : longest;
      return now;
    }
    double const share = static_cast<double>(left) / static_cast<double>(moved_);
    std::chrono::duration<double> const rest = share * (last_moved_ - began_);
    if (rest / 2 >= longest) return longest;
    auto const half = std::chrono::duration_cast<clock::duration>(rest / 2);
    return half < limits_.shortest ? limits_.shortest : half;
  }

 private:
  polling limits_;
  clock::duration waiting_;
  clock::time_point last_moved_;
  clock::time_point began_{};
  std::size_t moved_ = 0;
};

}  // namespace tpoverlap::inline v0::mpi::detail
