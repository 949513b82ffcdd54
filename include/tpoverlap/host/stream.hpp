// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A stream on the host: one worker thread and a bounded queue whose tasks run in issue order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/host/detail/guarded.hpp>
#include <tpoverlap/host/detail/parking.hpp>
#include <tpoverlap/host/detail/worker_setup.hpp>

namespace tpoverlap::inline v0::host {

enum class priority : std::uint8_t { normal, high };

struct stream_options {
  host::priority priority = host::priority::normal;  ///< high asks the system to prefer the worker
  std::size_t queue_bytes = std::size_t{1} << 16;  ///< room for tasks that have been issued and are not done
  std::string_view name = "stream";                ///< read by the constructor only; 15 characters are shown
};

/// Runs callables one after another on a thread of its own.
///
/// **Ordering** `enqueue` returns at once; tasks run in issue order. The queue is finite, as a hardware queue is:
/// when it is full, `enqueue` blocks until the oldest tasks are done. Issuing is safe from several threads, but a task
/// may neither issue to its own stream nor wait for it.
/// **Errors** the first exception that a task throws fails the stream for good. Later tasks are destroyed without
/// being run, except those issued by `enqueue_always`: events are still recorded, and carry the failure on.
/// The destructor finishes the queue and does not throw.
/// **Cost** no allocation after construction.
class stream {
 public:
  stream() : stream(stream_options{}) {}

  explicit stream(stream_options const& options)
      : capacity_{(options.queue_bytes + grain - 1) / grain * grain},
        storage_{std::make_unique_for_overwrite<std::byte[]>(capacity_)} {
    if (capacity_ < 4 * grain || capacity_ > UINT32_MAX)
      raise(usage_error{"stream_options::queue_bytes must lie between 64 and 2^32"});
    worker_ = std::thread{[this, options] { work(options); }};
    changed_.wait([this] { return started_.load(); });
  }

  stream(stream const&) = delete;
  stream& operator=(stream const&) = delete;

  ~stream() {
    stopping_.store(true);
    issued_.wake();
    worker_.join();
  }

  /// Issues `f()`.
  template <class F>
  void enqueue(F f) {
    put<F, std::byte>(
        0, [](std::size_t) { return std::byte{}; }, std::move(f),
        [](stream& self, header& at) {
          if (!self.failed()) callable<F>(at)();
        });
  }

  /// Copies `trailing` into the queue and issues `f(copy)`, where `copy` is a span of the copied elements.
  template <class T, class F>
  void enqueue_with(std::span<T const> trailing, F f) {
    enqueue_filled<T>(
        trailing.size(), [&](std::size_t index) { return trailing[index]; }, std::move(f));
  }

  /// As `enqueue_with`, but element i of the trailing array is made in place from `fill(i)`.
  template <class T, class Fill, class F>
  void enqueue_filled(std::size_t count, Fill fill, F f) {
    put<F, T>(count, std::move(fill), std::move(f), [](stream& self, header& at) {
      if (!self.failed()) callable<F>(at)(trailing<F, T>(at));
    });
  }

  /// Issues `f(failure)`, which runs on a failed stream, too; `failure` is a null pointer on a sound one.
  template <class F>
  void enqueue_always(F f) {
    put<F, std::byte>(
        0, [](std::size_t) { return std::byte{}; }, std::move(f),
        [](stream& self, header& at) { callable<F>(at)(std::as_const(self.failure_)); });
  }

  /// Waits for everything issued so far, then rethrows the stream's failure if it has one.
  void synchronize() {
    refuse_own_thread();
    auto const target = tail_.load();
    changed_.wait([&] { return head_.load() >= target; });
    if (failed()) std::rethrow_exception(failure_);
  }

  /// As `synchronize`, but returns false if `limit` comes first.
  [[nodiscard]] bool synchronize_until(detail::clock::time_point limit) {
    refuse_own_thread();
    auto const target = tail_.load();
    if (!changed_.wait_until(limit, [&] { return head_.load() >= target; })) return false;
    if (failed()) std::rethrow_exception(failure_);
    return true;
  }

  /// Whether everything issued so far is done.
  [[nodiscard]] bool idle() const noexcept { return head_.load() == tail_.load(); }
  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  [[nodiscard]] std::exception_ptr failure() const noexcept { return failed() ? failure_ : nullptr; }
  /// Whether `priority::high` was asked for and the system granted it.
  [[nodiscard]] bool priority_granted() const noexcept { return priority_granted_; }

 private:
  static constexpr std::size_t grain = 16;
  static constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
  }

  struct alignas(grain) header {
    void (*act)(stream&, header&);  // null where the rest of the ring is skipped
    std::uint32_t bytes;            // with this header
    std::uint32_t count;            // elements of the trailing array
  };

  template <class F>
  static F& callable(header& at) {
    return *std::launder(reinterpret_cast<F*>(&at + 1));
  }
  template <class F, class T>
  static std::span<T> trailing(header& at) {
    auto* const first = reinterpret_cast<std::byte*>(&at + 1) + rounded_up(sizeof(F), alignof(T));
    return {std::launder(reinterpret_cast<T*>(first)), at.count};
  }

  template <class F, class T, class Fill, class Run>
  void put(std::size_t count, Fill fill, F f, Run) {
    static_assert(std::is_nothrow_move_constructible_v<F>, "a task must move without throwing");
    static_assert(alignof(F) <= grain && alignof(T) <= grain, "tasks are aligned to 16 bytes");
    static_assert(std::is_trivially_copyable_v<T>, "trailing elements are copied byte by byte");
    auto const bytes =
        sizeof(header) + rounded_up(rounded_up(sizeof(F), alignof(T)) + count * sizeof(T), grain);
    if (count > UINT32_MAX || bytes > capacity_)
      raise(usage_error{"one task is larger than the stream's queue; raise stream_options::queue_bytes"});
    refuse_own_thread();
    std::lock_guard lock{issue_};
    auto position = tail_.load(std::memory_order_relaxed);
    auto const to_end = capacity_ - position % capacity_;
    if (to_end < bytes) {
      await_room(position, to_end);
      ::new (static_cast<void*>(&storage_[position % capacity_]))
          header{nullptr, static_cast<std::uint32_t>(to_end), 0};
      position += to_end;
      publish(position);
    }
    await_room(position, bytes);
    auto* const at = ::new (static_cast<void*>(&storage_[position % capacity_]))
        header{[](stream& self, header& entry) {
                 struct destroyer {
                   F& target;
                   ~destroyer() { target.~F(); }
                 } const at_exit{callable<F>(entry)};
                 Run{}(self, entry);
               },
               static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(count)};
    ::new (static_cast<void*>(at + 1)) F(std::move(f));
    auto* element = reinterpret_cast<std::byte*>(at + 1) + rounded_up(sizeof(F), alignof(T));
    for (std::size_t i = 0; i < count; ++i, element += sizeof(T))
      ::new (static_cast<void*>(element)) T(fill(i));
    publish(position + bytes);
  }

  void await_room(std::uint64_t position, std::size_t bytes) {
    if (position + bytes - head_.load() <= capacity_) return;
    changed_.wait([&] { return position + bytes - head_.load() <= capacity_; });
  }

  void publish(std::uint64_t position) {
    tail_.store(position);
    issued_.wake();
  }

  void work(stream_options const& options) {
    detail::name_this_thread(options.name);
    detail::sharpen_timers_of_this_thread();
    if (options.priority == priority::high) priority_granted_ = detail::raise_this_thread();
    worker_id_ = std::this_thread::get_id();
    started_.store(true);
    changed_.wake();
    for (std::uint64_t position = 0;;) {
      issued_.wait([&] { return tail_.load() != position || stopping_.load(); });
      auto const end = tail_.load();
      if (position == end) return;
      while (position != end) {
        auto& at = *std::launder(reinterpret_cast<header*>(&storage_[position % capacity_]));
        if (at.act != nullptr) {
          auto thrown = detail::guarded([&] { at.act(*this, at); });
          if (thrown && !failed()) {
            failure_ = std::move(thrown);
            failed_.store(true, std::memory_order_release);
          }
        }
        position += at.bytes;
        head_.store(position);
        changed_.wake();
      }
    }
  }

  void refuse_own_thread() const {
    if (std::this_thread::get_id() == worker_id_)
      raise(usage_error{"a task can neither issue to its own stream nor wait for it"});
  }

  std::size_t capacity_;
  std::unique_ptr<std::byte[]> storage_;
  std::mutex issue_;
  std::exception_ptr failure_;  // written once, by the worker, before `failed_`
  std::atomic<bool> failed_{false};
  std::atomic<bool> started_{false};
  std::atomic<bool> stopping_{false};
  bool priority_granted_ = false;
  std::thread::id worker_id_;
  alignas(64) std::atomic<std::uint64_t> tail_{0};  // bytes issued since construction
  detail::parking issued_;
  alignas(64) std::atomic<std::uint64_t> head_{0};  // bytes done
  detail::parking changed_;
  std::thread worker_;
};

}  // namespace tpoverlap::inline v0::host
