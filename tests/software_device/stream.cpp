// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Workers, markers, delays, injected failures, and what the host has waited for.
#include "stream.hpp"

#include "api_call.hpp"
#include "capture.hpp"
#include "memory.hpp"

#include <algorithm>
#include <list>
#include <set>
#include <shared_mutex>

namespace software_device {
namespace {

using namespace std::chrono_literals;

struct operation_fault {
  std::uint64_t remaining;
  cudaError_t code;
};

struct device_state {
  std::atomic<cudaError_t> error{cudaSuccess};
  std::atomic<std::chrono::microseconds> slow{0us};
  std::mutex mutex;
  std::vector<operation_fault> faults;
  std::atomic<bool> armed{false};
};

struct world_state {
  std::atomic<int> devices{8};
  std::atomic<bool> ending{false};
  std::atomic<std::uint64_t> synchronizations{0};
  std::atomic<std::uint64_t> resources{0};
  std::atomic<std::uint64_t> seed{0};
  std::atomic<std::chrono::microseconds> longest_delay{0us};
  device_state each[most_devices];

  std::shared_mutex mutex;  // of the lists
  std::set<CUstream_st*> streams;
  std::set<CUevent_st*> events;
  CUstream_st* legacy[most_devices] = {};
  std::list<CUstream_st*> ended_streams;
  unsigned long long next_id = 1;
  std::size_t next_clock = 0;

  std::mutex host_mutex;
  vector_clock host_clock;
  std::shared_ptr<vector_clock const> host_snapshot = std::make_shared<vector_clock>();
  std::atomic<std::uint64_t> host_version{1};
};

world_state& world() {
  static auto& here = *new world_state;  // outlives every thread
  return here;
}

/// Ends the workers before the process does.
struct end_at_exit {
  end_at_exit() { (void)world(); }
  ~end_at_exit() { end_all_streams(); }
} const at_exit;

/// The lock is taken only when the host has seen something new, so that threads which share nothing stay unordered.
std::shared_ptr<vector_clock const> host_knowledge() {
  thread_local std::shared_ptr<vector_clock const> known;
  thread_local std::uint64_t version = 0;
  if (version != world().host_version.load(std::memory_order_relaxed)) {
    std::lock_guard lock{world().host_mutex};
    version = world().host_version.load(std::memory_order_relaxed);
    known = world().host_snapshot;
  }
  return known;
}

std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

void delay(run_context const& context) {
  auto pause = world().each[context.device].slow.load(std::memory_order_relaxed);
  if (auto const longest = world().longest_delay.load(std::memory_order_relaxed); longest > 0us) {
    auto const draw = mixed(mixed(world().seed.load(std::memory_order_relaxed) + context.stream) +
                            context.clock.at(context.stream));
    pause += std::chrono::microseconds{
        static_cast<std::int64_t>(draw % static_cast<std::uint64_t>(longest.count()))};
  }
  auto const until = std::chrono::steady_clock::now() + pause;
  while (pause > 0us && !ending() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for((std::min)(pause, std::chrono::microseconds{glance}));
}

void work(CUstream_st& self) {
  this_thread().runs_on_device = true;
  this_thread().device = self.device;
  run_context context{self.device, self.clock, self.clock_index, {}};
  for (;;) {
    std::unique_lock lock{self.mutex};
    self.changed.wait(lock, [&] { return !self.queue.empty() || self.stopping; });
    if (self.queue.empty()) return;
    auto [what, host] = std::move(self.queue.front());
    self.queue.pop_front();
    lock.unlock();
    self.clock.join(*host);
    run_operation(context, what, what.run);
    what = {};  // ends what the operation owns before anyone is told that it is done
    lock.lock();
    ++self.done;
    lock.unlock();
    self.changed.notify_all();
    if (context.reached) context.reached->complete(self.clock);
    context.reached.reset();
  }
}

CUstream_st* start_stream(int device, unsigned flags, int priority) {
  auto* const made = new CUstream_st;
  made->device = device;
  made->flags = flags;
  made->priority = priority;
  {
    std::unique_lock lock{world().mutex};
    made->id = world().next_id++;
    made->clock_index = world().next_clock++;
    world().streams.insert(made);
  }
  made->worker = std::thread{[made] { work(*made); }};
  return made;
}

CUstream_st* legacy_stream(int device) {
  {
    std::shared_lock lock{world().mutex};
    if (world().legacy[device] != nullptr) return world().legacy[device];
  }
  auto* const made = start_stream(device, 0, 0);
  made->legacy = true;
  std::unique_lock lock{world().mutex};
  if (world().legacy[device] == nullptr) return world().legacy[device] = made;
  lock.unlock();
  destroy_stream(made);
  return world().legacy[device];
}

std::vector<CUstream_st*> streams_of(int device) {
  std::shared_lock lock{world().mutex};
  std::vector<CUstream_st*> result;
  for (auto* const each : world().streams)
    if (each->device == device) result.push_back(each);
  return result;
}

/// The legacy stream waits for all blocking streams of its device, and they wait for it.
void order_with_legacy(CUstream_st& stream) {
  if (stream.legacy) {
    for (auto* const each : streams_of(stream.device))
      if (each != &stream && (each->flags & cudaStreamNonBlocking) == 0 && !idle(*each))
        enqueue_wait(stream, enqueue_marker(*each));
  } else if ((stream.flags & cudaStreamNonBlocking) == 0) {
    CUstream_st* legacy = nullptr;
    {
      std::shared_lock lock{world().mutex};
      legacy = world().legacy[stream.device];
    }
    if (legacy != nullptr && !idle(*legacy)) enqueue_wait(stream, enqueue_marker(*legacy));
  }
}

cudaError_t injected_failure(int device) {
  auto& state = world().each[device];
  if (!state.armed.load(std::memory_order_relaxed)) return cudaSuccess;
  std::lock_guard lock{state.mutex};
  auto code = cudaSuccess;
  for (auto& each : state.faults)
    if (each.remaining > 0 && --each.remaining == 0) code = each.code;
  return code;
}

}  // namespace

bool idle(CUstream_st& stream) {
  std::lock_guard lock{stream.mutex};
  return stream.done == stream.issued;
}

bool query(CUstream_st& stream) {
  vector_clock seen;
  {
    std::lock_guard lock{stream.mutex};
    if (stream.done != stream.issued) return false;
    seen = stream.clock;
  }
  host_saw(seen);
  return true;
}

void marker::complete(vector_clock const& clock) {
  {
    std::lock_guard lock{mutex_};
    done_ = true;
    clock_ = clock;
    when_ = std::chrono::steady_clock::now();
  }
  changed_.notify_all();
}

bool marker::wait() {
  std::unique_lock lock{mutex_};
  while (!done_) {
    if (ending()) return false;
    changed_.wait_for(lock, glance);
  }
  return true;
}

bool marker::done() {
  std::lock_guard lock{mutex_};
  return done_;
}

bool ending() noexcept { return world().ending.load(std::memory_order_relaxed); }
int device_count() noexcept { return world().devices.load(std::memory_order_relaxed); }
void count_resource() noexcept { ++world().resources; }
void count_synchronization() noexcept { ++world().synchronizations; }
std::uint64_t host_synchronizations() { return world().synchronizations; }
std::uint64_t resource_creations() { return world().resources; }
cudaError_t device_error(int device) noexcept { return world().each[device].error; }

void fail_device(int device, cudaError_t code) {
  auto expected = cudaSuccess;
  world().each[device].error.compare_exchange_strong(expected, code);
}

void fail_operation(int device, std::uint64_t kth, cudaError_t code) {
  auto& state = world().each[device];
  std::lock_guard lock{state.mutex};
  state.faults.push_back({kth, code});
  state.armed = true;
}

void delay_operations(std::uint64_t seed, std::chrono::microseconds longest) {
  world().seed = seed;
  world().longest_delay = longest;
}

void slow_device(int device, std::chrono::microseconds each) { world().each[device].slow = each; }

void host_saw(vector_clock const& clock) {
  std::lock_guard lock{world().host_mutex};
  world().host_clock.join(clock);
  world().host_snapshot = std::make_shared<vector_clock>(world().host_clock);
  ++world().host_version;
}

void run_operation(run_context& context, operation const& what, run_function const& run) {
  if (what.bookkeeping) {
    run(context);
    return;
  }
  context.clock.set(context.stream, context.clock.at(context.stream) + 1);
  auto const device = what.device >= 0 ? what.device : context.device;
  delay(context);
  if (device_error(device) != cudaSuccess || ending()) return;
  auto failure = injected_failure(device);
  if (failure == cudaSuccess)
    failure = note_accesses(what.reaches_all_devices ? any_device : device, what.accesses, context.stream,
                            context.clock, what.name.c_str());
  if (failure != cudaSuccess) {
    fail_device(device, failure);
    return;
  }
  run(context);
}

void enqueue(CUstream_st& stream, operation what) {
  auto host = host_knowledge();
  {
    std::lock_guard lock{stream.mutex};
    if (what.prepare) what.run = what.prepare();
    stream.queue.emplace_back(std::move(what), std::move(host));
    ++stream.issued;
  }
  stream.changed.notify_all();
}

std::shared_ptr<marker> enqueue_marker(CUstream_st& stream) {
  auto made = std::make_shared<marker>();
  enqueue(stream, {.name = "marker",
                   .run = [made](run_context& context) { context.reached = made; },
                   .bookkeeping = true});
  return made;
}

void enqueue_wait(CUstream_st& stream, std::shared_ptr<marker> until) {
  enqueue(stream, {.name = "wait",
                   .run =
                       [until = std::move(until)](run_context& context) {
                         if (until->wait()) context.clock.join(until->clock());
                       },
                   .bookkeeping = true});
}

cudaError_t submit(CUstream_st& stream, operation what) {
  CUstream_st* const only[] = {&stream};
  return submit_joined(only, std::move(what));
}

cudaError_t submit_joined(std::span<CUstream_st* const> streams, operation what) {
  auto captured = false;
  if (auto const error = capture_operation(streams, what, captured); error != cudaSuccess || captured)
    return error;
  auto& first = *streams.front();
  for (auto* const each : streams) order_with_legacy(*each);
  for (auto* const each : streams)
    if (each != &first) enqueue_wait(first, enqueue_marker(*each));
  enqueue(first, std::move(what));
  if (streams.size() > 1) {
    auto const end = enqueue_marker(first);
    for (auto* const each : streams)
      if (each != &first) enqueue_wait(*each, end);
  }
  return cudaSuccess;
}

cudaError_t record_event(CUevent_st& event, CUstream_st& stream, bool external) {
  if (event.device != stream.device) return cudaErrorInvalidResourceHandle;
  auto captured = false;
  if (auto const error = capture_record(event, stream, external, captured); error != cudaSuccess || captured)
    return error;
  if (external) return cudaErrorIllegalState;
  order_with_legacy(stream);
  auto made = enqueue_marker(stream);
  std::lock_guard lock{event.mutex};
  event.latest = std::move(made);
  return cudaSuccess;
}

cudaError_t wait_event(CUstream_st& stream, CUevent_st& event, bool external) {
  auto captured = false;
  if (auto const error = capture_wait(stream, event, external, captured); error != cudaSuccess || captured)
    return error;
  std::shared_ptr<marker> until;
  {
    std::lock_guard lock{event.mutex};
    until = event.latest;
  }
  if (until) enqueue_wait(stream, std::move(until));
  return cudaSuccess;
}

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority) {
  if (stream == nullptr || (flags & ~unsigned{cudaStreamNonBlocking}) != 0) return cudaErrorInvalidValue;
  count_resource();
  // As documented, a priority outside the range is clamped to it.
  *stream = start_stream(this_thread().device, flags, std::clamp(priority, -5, 0));
  return cudaSuccess;
}

cudaError_t destroy_stream(cudaStream_t stream) {
  {
    std::unique_lock lock{world().mutex};
    if (world().streams.erase(stream) == 0) {
      add_finding("a stream is destroyed that does not exist");
      return cudaErrorInvalidResourceHandle;
    }
    world().ended_streams.push_back(stream);
  }
  invalidate_capture_of(*stream);
  std::lock_guard lock{stream->mutex};
  stream->stopping = true;
  stream->changed.notify_all();
  return cudaSuccess;
}

CUstream_st* stream_of(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) return legacy_stream(this_thread().device);
  std::shared_lock lock{world().mutex};
  if (world().streams.contains(handle)) return handle;
  lock.unlock();
  add_finding("a stream is used that does not exist");
  return nullptr;
}

cudaError_t create_event(cudaEvent_t* event, unsigned flags) {
  constexpr unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (event == nullptr || (flags & ~known) != 0) return cudaErrorInvalidValue;
  if ((flags & cudaEventInterprocess) != 0 && (flags & cudaEventDisableTiming) == 0)
    return cudaErrorInvalidValue;
  count_resource();
  auto* const made = new CUevent_st;
  made->device = this_thread().device;
  made->flags = flags;
  std::unique_lock lock{world().mutex};
  world().events.insert(made);
  *event = made;
  return cudaSuccess;
}

cudaError_t destroy_event(cudaEvent_t event) {
  std::unique_lock lock{world().mutex};
  if (world().events.erase(event) == 0) {
    lock.unlock();
    add_finding("an event is destroyed that does not exist");
    return cudaErrorInvalidResourceHandle;
  }
  delete event;
  return cudaSuccess;
}

bool is_event(cudaEvent_t event) {
  std::shared_lock lock{world().mutex};
  if (world().events.contains(event)) return true;
  lock.unlock();
  add_finding("an event is used that does not exist");
  return false;
}

void wait_idle(CUstream_st& stream) { wait_host(*enqueue_marker(stream)); }

void wait_idle(int device) {
  for (auto* const each : streams_of(device)) wait_idle(*each);
}

void wait_host(marker& until) {
  count_synchronization();
  if (until.wait()) host_saw(until.clock());
}

void end_all_streams() {
  world().ending = true;
  std::list<CUstream_st*> all;
  {
    std::unique_lock lock{world().mutex};
    all.assign(world().streams.begin(), world().streams.end());
    all.splice(all.end(), world().ended_streams);
    world().streams.clear();
    for (auto& each : world().legacy) each = nullptr;
  }
  for (auto* const each : all) {
    {
      std::lock_guard lock{each->mutex};
      each->stopping = true;
    }
    each->changed.notify_all();
    each->worker.join();
    delete each;
  }
  std::unique_lock lock{world().mutex};
  for (auto* const each : world().events) delete each;
  world().events.clear();
}

void restart(int devices) {
  for (auto& each : world().each) {
    each.error = cudaSuccess;
    each.slow = 0us;
    each.faults.clear();
    each.armed = false;
  }
  world().devices = devices;
  world().synchronizations = 0;
  world().resources = 0;
  world().longest_delay = 0us;
  world().next_clock = 0;
  {
    std::lock_guard lock{world().host_mutex};
    world().host_clock = {};
    world().host_snapshot = std::make_shared<vector_clock>();
    ++world().host_version;
  }
  world().ending = false;
}

}  // namespace software_device
