// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Measures candidates on every rank, in interleaved rounds, and brings the times of all ranks together.
#pragma once

#include <tpoverlap/concepts/backend.hpp>
#include <tpoverlap/concepts/communicator.hpp>
#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/tuner/agree.hpp>
#include <tpoverlap/tuner/tuning.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

namespace tpoverlap::inline v0::detail {

/// `call(c)` issues one call of candidate `c` to `in`; all ranks do the same.
///
/// A call's time is taken in the stream where the backend can do that, which leaves out how long the host takes to wake
/// up, and otherwise with the host's steady clock, from before it is issued until the wait for it returns.
template <class Communicator, class Call>
class measurement {
  using backend = typename Communicator::backend;
  using stream = typename backend::stream;

 public:
  measurement(Communicator& comm, stream& in, int candidates, tuning const& how, Call call)
      : comm_{comm}, in_{in}, candidates_{candidates}, how_{how}, call_{call} {}

  /// Nanoseconds a call, candidate after candidate, `rounds` each: of a round's ranks, the slowest counts.
  /// **Errors** what the operands of the first call are refused for, on the ranks that refuse them; anything that fails
  /// later aborts the communicator, so that no rank is left waiting.
  std::vector<std::int64_t> run() {
    for (int c = 0; c < candidates_; ++c) make_first_call(c);
    try {
      calibrate();
      auto const rounds = static_cast<std::size_t>(how_.rounds);
      std::vector<std::uint64_t> own(static_cast<std::size_t>(candidates_) * rounds);
      for (std::size_t r = 0; r < rounds; ++r) {
        // Each round begins with another candidate, so that none always runs behind the same one.
        for (int i = 0; i < candidates_; ++i) {
          auto const c = (static_cast<std::size_t>(i) + r) % static_cast<std::size_t>(candidates_);
          own[c * rounds + r] = time(static_cast<int>(c), repeats_[c]);
        }
      }
      auto const slowest = slowest_of(words_of_all(comm_, own), own.size());
      return {slowest.begin(), slowest.end()};
    } catch (...) {
      give_up();
      throw;
    }
  }

 private:
  /// Operands that do not fit are refused here, often by all ranks; that is nothing to end the communicator for.
  void make_first_call(int candidate) {
    std::exception_ptr refused;
    try {
      call_(candidate);
    } catch (...) {
      refused = std::current_exception();
    }
    auto const refusals = word_of_all(comm_, refused ? 1 : 0);
    std::size_t count = 0;
    for (std::uint64_t const each : refusals) count += static_cast<std::size_t>(each);
    if (count == refusals.size()) std::rethrow_exception(refused);
    try {
      if (refused) std::rethrow_exception(refused);
      comm_.wait(in_);  // where a rank has refused, this ends with that rank's abort
      if (count > 0) {
        raise(communication_error{"another rank has refused the operands of the measurement; see its error",
                                  comm_.rank()});
      }
    } catch (...) {
      give_up();
      throw;
    }
  }

  /// How often each candidate is called in a round: the same on all ranks.
  void calibrate() {
    std::vector<std::uint64_t> own(static_cast<std::size_t>(candidates_));
    for (std::size_t c = 0; c < own.size(); ++c) own[c] = time(static_cast<int>(c), 1);
    auto const sample = static_cast<std::uint64_t>(std::chrono::nanoseconds{how_.sample}.count());
    for (std::int64_t const each : slowest_of(words_of_all(comm_, own), own.size())) {
      std::uint64_t const fits = sample / (each > 0 ? static_cast<std::uint64_t>(each) : 1);
      repeats_.push_back(static_cast<int>(fits < 1 ? 1 : fits > most_repeats ? most_repeats : fits));
    }
  }

  /// All ranks start together.
  std::uint64_t time(int candidate, int repeats) {
    (void)word_of_all(comm_, 0);
    std::int64_t elapsed = 0;
    if constexpr (has_timestamps<backend>) {
      backend::timestamp(in_, &stamps_[0]);
      for (int i = 0; i < repeats; ++i) call_(candidate);
      backend::timestamp(in_, &stamps_[1]);
      comm_.wait(in_);
      elapsed = stamps_[1] - stamps_[0];
    } else {
      auto const start = std::chrono::steady_clock::now();
      for (int i = 0; i < repeats; ++i) call_(candidate);
      comm_.wait(in_);
      elapsed = std::chrono::nanoseconds{std::chrono::steady_clock::now() - start}.count();
    }
    return elapsed > 0 ? static_cast<std::uint64_t>(elapsed / repeats) : 0;
  }

  static std::vector<std::int64_t> slowest_of(std::span<std::uint64_t const> all, std::size_t words) {
    std::vector<std::int64_t> slowest(words);
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto const value = static_cast<std::int64_t>(all[i]);
      if (value > slowest[i % words]) slowest[i % words] = value;
    }
    return slowest;
  }

  void wait_quietly() noexcept {
    try {
      comm_.wait(in_);
    } catch (...) {
    }
  }

  /// Lets no other rank wait for this one, and nothing of this one's go on with memory that is about to be freed.
  void give_up() noexcept {
    if constexpr (has_abort<Communicator>) {
      try {
        bounded_text<240> reason;
        reason << "a measurement failed on rank " << comm_.rank() << "; its error says why";
        comm_.abort(reason.c_str());
      } catch (...) {
      }
    }
    wait_quietly();
  }

  static constexpr std::uint64_t most_repeats = 128;

  Communicator& comm_;
  stream& in_;
  int candidates_;
  tuning const& how_;
  Call call_;
  std::vector<int> repeats_;
  std::unique_ptr<std::int64_t[]> stamps_ = std::make_unique<std::int64_t[]>(2);
};

}  // namespace tpoverlap::inline v0::detail
