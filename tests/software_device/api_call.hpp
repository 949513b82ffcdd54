// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The frame around every exported function: it is counted, may be told to fail, and keeps the thread's last error.
#pragma once

#include "control.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <type_traits>
#include <vector>

namespace software_device {

struct function_record {
  explicit function_record(char const* name);
  function_record(function_record const&) = delete;
  function_record& operator=(function_record const&) = delete;

  struct fault {
    std::uint64_t remaining;
    int code;
    int device;
  };

  /// Counts a call; the code to fail with, 0, or `skipped`.
  int count(int device);
  static constexpr int skipped = -1;

  char const* const name;
  std::atomic<std::uint64_t> by_device[most_devices] = {};
  std::atomic<bool> armed{false};
  std::mutex mutex;
  std::vector<fault> faults;
};

template <std::size_t N>
struct literal {
  constexpr literal(char const (&from)[N]) { std::copy_n(from, N, text); }
  char text[N];
};

template <literal Name>
function_record& record_of() {
  static function_record here{Name.text};
  return here;
}

/// State of the calling thread.
struct thread_state {
  int device = 0;
  cudaError_t last_error = cudaSuccess;
  int depth = 0;                // of exported functions
  bool runs_on_device = false;  // a stream's worker, which may call nothing
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
};
thread_state& this_thread() noexcept;

/// The sticky error of a device; cudaSuccess while it works.
cudaError_t device_error(int device) noexcept;

class call_frame {
 public:
  call_frame() { ++this_thread().depth; }
  call_frame(call_frame const&) = delete;
  call_frame& operator=(call_frame const&) = delete;
  ~call_frame() { --this_thread().depth; }
};

/// Runs `body` as the function `Name`. `Name` is the one that users write, without version suffix.
template <literal Name, class Body>
auto call(Body&& body) -> std::invoke_result_t<Body> {
  using result = std::invoke_result_t<Body>;
  call_frame const frame;
  auto& thread = this_thread();
  auto const injected = record_of<Name>().count(thread.device);
  if (injected == function_record::skipped) return result{};
  auto outcome = static_cast<result>(injected);
  if constexpr (std::is_same_v<result, cudaError_t>) {
    if (outcome == cudaSuccess && thread.runs_on_device) outcome = cudaErrorNotPermitted;
    if (outcome == cudaSuccess) outcome = device_error(thread.device);
    if (outcome == cudaSuccess) outcome = body();
    if (outcome != cudaSuccess) thread.last_error = outcome;
  } else {
    if (outcome == result{}) outcome = body();
  }
  return outcome;
}

/// The same for what works whatever has happened to the device, and never changes the last error.
template <literal Name, class Body>
auto plain_call(Body&& body) -> std::invoke_result_t<Body> {
  call_frame const frame;
  auto const injected = record_of<Name>().count(this_thread().device);
  if constexpr (std::is_enum_v<std::invoke_result_t<Body>>) {
    if (injected != 0) return static_cast<std::invoke_result_t<Body>>(injected);
  }
  return body();
}

}  // namespace software_device
