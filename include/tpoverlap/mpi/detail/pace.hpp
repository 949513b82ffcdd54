// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! How long a lane sleeps before it asks MPI again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include <tpoverlap/mpi/communicator_options.hpp>

namespace tpoverlap::inline v0::mpi::detail {

using clock = std::chrono::steady_clock;

/// Of one operation. A sleep is doubled when at most half of a window has come in it, and halved when a window has, or
/// more: whatever the link, MPI has something left to work on. Towards the end sleeps get shorter, so that it is noticed
/// soon and the next operation keeps the link busy.
class pace {
 public:
  /// `window` is the number of segments that MPI has at a time.
  pace(polling const& limits, int window, clock::time_point now = clock::now())
      : limits_{limits}, window_{window}, last_moved_{now} {}

  /// A header, or a segment in the direction that does not count.
  void moved(clock::time_point now = clock::now()) { last_moved_ = now; }

  /// A segment in the direction that counts.
  void moved(std::size_t bytes, clock::time_point now = clock::now()) {
    last_moved_ = now;
    if (moved_ == 0) began_ = now;
    moved_ += bytes;
    ++came_;
  }

  [[nodiscard]] clock::time_point last_moved() const { return last_moved_; }

  /// `left` are the bytes that are still to move in the direction that counts.
  [[nodiscard]] clock::duration next_sleep(std::size_t left, clock::time_point now = clock::now()) {
    if (sleep_ == clock::duration::zero()) {
      sleep_ = limits_.shortest;
    } else if (2 * came_ <= window_) {
      sleep_ *= 2;
    } else if (came_ >= window_) {
      sleep_ /= 2;
    }
    came_ = 0;
    clock::duration const shortest = (std::max)(limits_.shortest, std::chrono::microseconds{1});
    clock::duration const longest = (std::max)(limits_.longest, std::chrono::microseconds{1});
    sleep_ = (std::max)((std::min)(sleep_, longest), (std::min)(shortest, longest));
    if (moved_ == 0) return sleep_;
    double const share = static_cast<double>(left) / static_cast<double>(moved_);
    std::chrono::duration<double> const half_of_rest = share * (now - began_) / 2;
    if (half_of_rest >= sleep_) return sleep_;
    return (std::max)(std::chrono::duration_cast<clock::duration>(half_of_rest), shortest);
  }

 private:
  polling limits_;
  int window_;
  clock::time_point last_moved_;
  clock::time_point began_{};
  std::size_t moved_ = 0;
  int came_ = 0;  // segments since the last sleep
  clock::duration sleep_{};
};

}  // namespace tpoverlap::inline v0::mpi::detail
