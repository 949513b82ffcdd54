// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Where threads sleep until a condition on atomics holds. Waking costs one load while nobody sleeps.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include <tpoverlap/host/detail/clock.hpp>

namespace tpoverlap::inline v0::host::detail {

/// **Ordering** whoever makes a condition true stores to a sequentially consistent atomic and then calls `wake`;
/// the condition reads that atomic in the same way. Then no wake-up is lost. It never spins: lanes outnumber cores.
class parking {
 public:
  template <class Ready>
  void wait(Ready ready) {
    if (ready()) return;
    std::unique_lock lock{mutex_};
    for (;;) {
      sleepers_.store(true);  // before `ready`, so that a waker that `ready` misses sees this flag
      if (ready()) return;
      condition_.wait(lock);
    }
  }

  /// Returns whether the condition held in time.
  template <class Ready>
  bool wait_until(clock::time_point limit, Ready ready) {
    if (ready()) return true;
    std::unique_lock lock{mutex_};
    for (;;) {
      sleepers_.store(true);
      if (ready()) return true;
      if (condition_.wait_until(lock, limit) == std::cv_status::timeout) return ready();
    }
  }

  void wake() noexcept {
    // Sleepers that stay set the flag again, so a burst of calls pays for one notification only.
    if (!sleepers_.load() || !sleepers_.exchange(false)) return;
    { std::lock_guard lock{mutex_}; }  // the sleeper is now in `wait`, or will see the new state
    condition_.notify_all();
  }

 private:
  std::atomic<bool> sleepers_{false};
  std::mutex mutex_;
  std::condition_variable condition_;
};

}  // namespace tpoverlap::inline v0::host::detail
