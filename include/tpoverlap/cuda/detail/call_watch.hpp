// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A time limit for calls that block and have none of their own.
#pragma once

#include <tpoverlap/cuda/detail/clock.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

namespace tpoverlap::inline v0::cu::detail {

/// Calls `late()`, from a thread of its own and once, if a guarded call takes longer than `limit` (and up to a quarter
/// more). `late` does not throw.
/// **Cost** two atomic stores and a look at the clock for each guarded call.
class call_watch {
 public:
  template <class Late>
  call_watch(std::chrono::milliseconds limit, Late late)
      : limit_{limit}, thread_{[this, late = std::move(late)] {
          std::unique_lock lock{mutex_};
          auto const glance = limit_ / 4 + std::chrono::milliseconds{1};
          while (!stop_.wait_for(lock, glance, [this] { return stopping_; })) {
            std::int64_t const due = due_.load();
            if (due == 0 || now() < due) continue;
            lock.unlock();  // the destructor need not wait for it to begin
            return late();
          }
        }} {}
  call_watch(call_watch const&) = delete;
  call_watch& operator=(call_watch const&) = delete;

  ~call_watch() {
    {
      std::lock_guard const lock{mutex_};
      stopping_ = true;
    }
    stop_.notify_all();
    thread_.join();
  }

  /// Runs `call()` under the limit.
  template <class Call>
  auto guard(Call&& call) {
    struct armed {
      std::atomic<std::int64_t>& due;
      ~armed() { due.store(0); }
    } const until_return{due_};
    due_.store(now() + std::chrono::duration_cast<std::chrono::nanoseconds>(limit_).count());
    return call();
  }

 private:
  static std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now().time_since_epoch()).count();
  }

  std::chrono::milliseconds limit_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::atomic<std::int64_t> due_{0};  // 0 while no call is guarded
  std::thread thread_;                // last: it uses all of the above
};

}  // namespace tpoverlap::inline v0::cu::detail
