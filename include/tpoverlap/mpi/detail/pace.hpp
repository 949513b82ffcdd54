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

/// Of one operation. While nothing comes, sleeps get longer; towards the end they get shorter, so that it is noticed
/// soon and the next operation keeps the link busy.
class pace {
 public:
  explicit pace(polling const& limits, clock::time_point now = clock::now())
      : limits_{limits}, began_{now}, last_moved_{now} {}

  /// Something happened: `counted` bytes less are left.
  void moved(std::size_t counted, clock::time_point now = clock::now()) {
    last_moved_ = now;
    if (counted == 0) return;
    if (moved_ == 0) began_ = now;
    last_counted_ = now;
    moved_ += counted;
  }

  [[nodiscard]] clock::time_point last_moved() const { return last_moved_; }

  /// `left` are the counted bytes that are still to move.
  [[nodiscard]] clock::duration next_sleep(std::size_t left, clock::time_point now = clock::now()) const {
    clock::duration const longest = limits_.longest;
    clock::duration const quiet = now - (moved_ == 0 ? began_ : last_counted_);
    clock::duration wanted = quiet / 4;
    if (moved_ > 0) {
      double const share = static_cast<double>(left) / static_cast<double>(moved_);
      std::chrono::duration<double> const half_of_rest = share * (last_counted_ - began_) / 2;
      if (half_of_rest >= longest) return longest;
      auto const half = std::chrono::duration_cast<clock::duration>(half_of_rest);
      if (wanted < half) wanted = half;
    }
    return wanted < limits_.shortest ? limits_.shortest : wanted < longest ? wanted : longest;
  }

 private:
  polling limits_;
  clock::time_point began_;
  clock::time_point last_moved_;
  clock::time_point last_counted_{};
  std::size_t moved_ = 0;
};

}  // namespace tpoverlap::inline v0::mpi::detail
