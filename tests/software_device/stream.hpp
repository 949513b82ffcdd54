// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Streams and events of the software device: a stream is a thread that runs operations in order of issue.
#pragma once

#include "control.hpp"
#include "vector_clock.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct CUgraphNode_st;

namespace software_device {

/// A point in a stream; done when the stream has come there.
class marker {
 public:
  void complete(vector_clock const& clock);
  /// False when the device was reset meanwhile.
  bool wait();
  [[nodiscard]] bool done();
  /// Valid once done.
  [[nodiscard]] vector_clock const& clock() const { return clock_; }
  [[nodiscard]] std::chrono::steady_clock::time_point when() const { return when_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  vector_clock clock_;
  std::chrono::steady_clock::time_point when_;
};

/// What an operation sees while it runs.
struct run_context {
  int device;
  vector_clock& clock;  // of its stream
  std::size_t stream;   // clock index
  /// A marker that the stream has come to, completed when the stream has also counted its operation.
  std::shared_ptr<marker> reached = {};
};

using run_function = std::function<void(run_context&)>;

struct operation {
  std::string name;
  cudaGraphNodeType type = cudaGraphNodeTypeKernel;
  std::vector<memory_access> accesses = {};
  run_function run = {};
  /// Called when the operation is issued, and again at every launch of a graph that holds it; what it returns then
  /// takes the place of `run`.
  std::function<run_function()> prepare = {};
  /// Markers and waits: no delay, no failure, and run on a failed device, too.
  bool bookkeeping = false;
  /// In a graph: the device of the stream that it was captured from. Otherwise that of its stream.
  int device = -1;
  /// Copy engines reach every device's memory; kernels need peer access.
  bool reaches_all_devices = false;
};

struct capture;
using graph_node = CUgraphNode_st;

/// Whether reset() is ending what waits. Every wait on a device thread looks at it.
bool ending() noexcept;
/// How long a wait may sleep before it looks again at what nobody signals.
inline constexpr std::chrono::milliseconds glance{2};

}  // namespace software_device

struct CUstream_st {
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  std::size_t clock_index = 0;
  bool legacy = false;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::pair<software_device::operation, std::shared_ptr<software_device::vector_clock const>>>
      queue;
  std::uint64_t issued = 0;
  std::uint64_t done = 0;
  bool stopping = false;
  software_device::vector_clock clock;  // the worker's, or anyone's while idle and under the mutex

  // Guarded by the capture lock.
  software_device::capture* capturing = nullptr;
  std::vector<software_device::graph_node*> frontier;
  std::atomic<bool> captures{false};

  std::thread worker;
};

struct CUevent_st {
  int device = 0;
  unsigned flags = 0;
  std::mutex mutex;
  std::shared_ptr<software_device::marker> latest;  // null: never recorded

  // Guarded by the capture lock: where it was last recorded in a capture, 0 if it was not.
  std::atomic<unsigned long long> captured_in{0};
  std::vector<software_device::graph_node*> captured_at;
};

namespace software_device {

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t destroy_stream(cudaStream_t stream);
/// The stream that a handle means (0 is the current device's legacy stream), or null.
CUstream_st* stream_of(cudaStream_t handle);

cudaError_t create_event(cudaEvent_t* event, unsigned flags);
cudaError_t destroy_event(cudaEvent_t event);
bool is_event(cudaEvent_t event);

/// Issues to a stream, or adds to the graph that the stream is captured into.
cudaError_t submit(CUstream_st& stream, operation what);
/// One operation on several streams: begins after what was issued to any, and holds up all.
cudaError_t submit_joined(std::span<CUstream_st* const> streams, operation what);

cudaError_t record_event(CUevent_st& event, CUstream_st& stream, bool external);
cudaError_t wait_event(CUstream_st& stream, CUevent_st& event, bool external);

/// For everything that is never captured: straight to the stream's queue.
void enqueue(CUstream_st& stream, operation what);
std::shared_ptr<marker> enqueue_marker(CUstream_st& stream);
void enqueue_wait(CUstream_st& stream, std::shared_ptr<marker> until);

/// Runs one operation on the calling device thread, with delay, checks and injected failure.
void run_operation(run_context& context, operation const& what, run_function const& run);

/// Blocks the host until the stream or all streams of the device are idle, and counts it.
void wait_idle(CUstream_st& stream);
void wait_idle(int device);
bool idle(CUstream_st& stream);
/// The same as the host sees it: when it is idle, what the host issues from now on comes later.
bool query(CUstream_st& stream);
/// Blocks the host until `until` is done, and counts it.
void wait_host(marker& until);
/// The host has seen that `clock` is past: what it issues from now on comes later.
void host_saw(vector_clock const& clock);

void fail_device(int device, cudaError_t code);
int device_count() noexcept;
void count_resource() noexcept;
void count_synchronization() noexcept;

void end_all_streams();  // part one of reset()
void restart(int devices);

}  // namespace software_device
