// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The host backend: worker threads as streams, and the element-wise kernels of a schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <type_traits>

#include <tpoverlap/concepts/backend.hpp>
#include <tpoverlap/host/detail/add_arrays.hpp>
#include <tpoverlap/host/detail/clock.hpp>
#include <tpoverlap/host/event.hpp>
#include <tpoverlap/host/stream.hpp>

namespace tpoverlap::inline v0::host {

/// Models the concept `tpoverlap::backend` with threads.
///
/// **Units** `count` is in elements; arrays are contiguous.
/// **Ordering** every function returns at once; the work runs in the order of `stream`.
struct backend {
  using stream = host::stream;
  using event = host::event;

  static void record(event& mark, stream& in) { mark.record(in); }
  static void wait(stream& in, event const& mark) { mark.wait(in); }

  /// `to[i] = from[i]`, converted. The arrays are one array or do not overlap.
  template <class To, class From>
  static void copy(stream& in, To* to, From const* from, std::int64_t count) {
    static_assert(std::is_convertible_v<From, To>, "the elements do not convert");
    constexpr bool same_type = std::is_same_v<To, From>;
    if (count <= 0 || (same_type && static_cast<void const*>(to) == static_cast<void const*>(from))) return;
    in.enqueue([=] {
      if constexpr (same_type && std::is_trivially_copyable_v<To>) {
        std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(To));
      } else {
        for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
      }
    });
  }

  /// `to[i] = a[i] + b[i]` in the widest of the three types. `to` is one of the operands or overlaps neither.
  template <class To, class A, class B>
  static void add(stream& in, To* to, A const* a, B const* b, std::int64_t count) {
    if (count <= 0) return;
    in.enqueue([=] { detail::add_arrays(to, a, b, count); });
  }

  /// Writes the steady clock's nanoseconds, the same clock for every stream of the process. Runs on a failed stream,
  /// too, so that a trace of what went wrong has all its times.
  static void timestamp(stream& in, std::int64_t* nanoseconds) {
    in.enqueue_always([nanoseconds](std::exception_ptr const&) {
      auto const now = std::chrono::steady_clock::now().time_since_epoch();
      *nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    });
  }
};

static_assert(tpoverlap::backend<backend> && has_timestamps<backend>);

}  // namespace tpoverlap::inline v0::host
