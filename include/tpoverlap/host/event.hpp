// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A point in a stream that other streams can wait for.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/host/detail/parking.hpp>
#include <tpoverlap/host/stream.hpp>

namespace tpoverlap::inline v0::host {

/// Recorded in one stream and waited for in others, any number of times; a wait refers to the latest record that
/// was issued before it.
///
/// **Ordering** issue the records and waits of one event from one thread at a time. A record in another stream than
/// the previous one completes after the previous one, too. The event may be destroyed while records and waits
/// of it are still queued.
/// **Errors** waiting for an event that was never recorded is a `usage_error`. A record on a failed stream completes and
/// carries the failure: streams that wait for it, or for a later record of the same event, fail in turn.
/// A failed stream still waits, so that when it has drained, all it depends on is done.
class event {
 public:
  event() : state_{std::make_shared<state>()} {}
  event(event const&) = delete;
  event& operator=(event const&) = delete;

  void record(stream& in) {
    auto const before = &in == recorded_in_ ? 0 : recorded_;
    in.enqueue_always(
        [shared = state_, generation = recorded_ + 1, before](std::exception_ptr const& failure) {
          shared->await(before);
          shared->complete(generation, failure);
        });
    recorded_in_ = &in;
    ++recorded_;
  }

  void wait(stream& in) const {
    if (recorded_ == 0) raise(usage_error{"a stream was told to wait for an event that was never recorded"});
    if (ready() && state_->first_failed.load() > recorded_) return;
    in.enqueue_always([shared = state_, generation = recorded_](std::exception_ptr const&) {
      shared->await(generation);
      if (shared->first_failed.load() <= generation) std::rethrow_exception(shared->failure);
    });
  }

  /// Whether everything before the latest record is done.
  [[nodiscard]] bool ready() const noexcept { return state_->completed.load() >= recorded_; }

 private:
  struct state {
    void await(std::uint64_t generation) {
      changed.wait([&] { return completed.load() >= generation; });
    }

    void complete(std::uint64_t generation, std::exception_ptr const& reason) {
      if (reason && first_failed.load() > generation) {
        failure = reason;  // records complete in order, so this happens once
        first_failed.store(generation);
      }
      completed.store(generation);
      changed.wake();
    }

    std::atomic<std::uint64_t> completed{0};
    std::atomic<std::uint64_t> first_failed{UINT64_MAX};
    std::exception_ptr failure;
    detail::parking changed;
  };

  std::shared_ptr<state> state_;  // tasks in queues hold it, too
  std::uint64_t recorded_ = 0;
  stream const* recorded_in_ = nullptr;
};

}  // namespace tpoverlap::inline v0::host
