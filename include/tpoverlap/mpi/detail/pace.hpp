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

/// Of one lane. Finds the longest sleep that costs no throughput, by trying: every so many segments it doubles or halves
/// the sleep, and keeps that if it moved as much, or more. Behind a wire, whose kernel buffers go on while the lane is
/// asleep, sleeps grow to the longest; where a transfer only goes on while somebody calls MPI, they stay short.
///
/// Beside that a sleep is longer while nothing comes at all, and shorter towards the end of an operation, so that it is
/// noticed soon and the next one keeps the link busy.
class pace {
 public:
  /// `window` is the number of segments that MPI has at a time.
  pace(polling const& limits, int window)
      : shortest_{(std::max)(limits.shortest, std::chrono::microseconds{1})},
        longest_{(std::max)(limits.longest, std::chrono::microseconds{1})},
        period_{2 * window},
        sleep_{shortest_} {}

  /// An operation starts.
  void begin(clock::time_point now = clock::now()) {
    last_moved_ = last_counted_ = period_began_ = now;
    moved_ = 0;
    period_bytes_ = 0;
    segments_ = -1;  // what is there at the beginning tells no rate
  }

  /// Something came that does not count.
  void moved(clock::time_point now = clock::now()) { last_moved_ = now; }

  /// A segment came in the direction that counts.
  void moved(std::size_t bytes, clock::time_point now = clock::now()) {
    if (moved_ == 0) began_ = now;
    moved_ += bytes;
    period_bytes_ += bytes;
    last_moved_ = last_counted_ = now;
    if (segments_ < 0 || ++segments_ >= period_) end_period(now);
  }

  [[nodiscard]] clock::time_point last_moved() const { return last_moved_; }

  /// `left` are the bytes that are still to move in the direction that counts.
  [[nodiscard]] clock::duration next_sleep(std::size_t left, clock::time_point now = clock::now()) const {
    clock::duration wanted = (std::max)(sleep_, (now - last_counted_) / 2);
    if (moved_ > 0) {
      double const share = static_cast<double>(left) / static_cast<double>(moved_);
      std::chrono::duration<double> const half_of_rest =
          (share * (last_counted_ - began_) - (now - last_counted_)) / 2;
      // What is overdue is asked for less and less often again: its sender may be in a long GEMM.
      if (auto const off = std::chrono::abs(half_of_rest); off < wanted)
        wanted = std::chrono::duration_cast<clock::duration>(off);
    }
    return (std::min)((std::max)(wanted, shortest_), longest_);
  }

 private:
  static constexpr int rest_between_trials = 16;  // periods

  void end_period(clock::time_point now) {
    bool const whole = segments_ >= period_;
    std::chrono::duration<double> const elapsed = now - period_began_;
    double const rate = elapsed.count() > 0 ? static_cast<double>(period_bytes_) / elapsed.count() : 0;
    period_began_ = now;
    period_bytes_ = 0;
    segments_ = 0;
    if (whole) judge(rate);
  }

  void judge(double rate) {
    if (trying_) {
      trying_ = false;
      bool const keep = longer_ ? rate > 0.95 * rate_before_ : rate > 1.1 * rate_before_;
      if (!keep) {
        sleep_ = sleep_before_;
        longer_ = !longer_;
        rest_ = rest_between_trials;
      }
    } else if (rest_ > 0) {
      --rest_;
    }
    if (rest_ > 0) return;
    if (sleep_ >= longest_) longer_ = false;
    if (sleep_ <= shortest_) longer_ = true;
    trying_ = shortest_ < longest_;
    sleep_before_ = sleep_;
    rate_before_ = rate;
    sleep_ = longer_ ? (std::min)(2 * sleep_, longest_) : (std::max)(sleep_ / 2, shortest_);
  }

  clock::duration shortest_;
  clock::duration longest_;
  int period_;
  clock::duration sleep_;

  bool trying_ = false;
  bool longer_ = true;
  int rest_ = 0;
  double rate_before_ = 0;
  clock::duration sleep_before_{};

  clock::time_point last_moved_{};
  clock::time_point last_counted_{};
  clock::time_point began_{};
  clock::time_point period_began_{};
  std::size_t moved_ = 0;
  std::size_t period_bytes_ = 0;
  int segments_ = -1;
};

}  // namespace tpoverlap::inline v0::mpi::detail
