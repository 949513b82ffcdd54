// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Exported: streams, events, host functions, capture and graphs of the CUDA runtime.
#include "api_call.hpp"
#include "capture.hpp"
#include "memory.hpp"

#include <cuda_runtime_api.h>

using namespace software_device;

namespace {

/// Looks a stream up and hands it to `body`.
template <class Body>
cudaError_t with_stream(cudaStream_t handle, Body&& body) {
  auto* const stream = stream_of(handle);
  return stream != nullptr ? body(*stream) : cudaErrorInvalidResourceHandle;
}

cudaError_t record(cudaEvent_t event, cudaStream_t handle, unsigned flags) {
  if (!is_event(event)) return cudaErrorInvalidResourceHandle;
  if ((flags & ~unsigned{cudaEventRecordExternal}) != 0) return cudaErrorInvalidValue;
  return with_stream(handle, [&](CUstream_st& stream) {
    return record_event(*event, stream, (flags & cudaEventRecordExternal) != 0);
  });
}

std::shared_ptr<marker> latest_of(CUevent_st& event) {
  std::lock_guard lock{event.mutex};
  return event.latest;
}

}  // namespace

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return call<"cudaStreamCreate">([&] { return create_stream(stream, 0, 0); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call<"cudaStreamCreateWithFlags">([&] { return create_stream(stream, flags, 0); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return call<"cudaStreamCreateWithPriority">([&] { return create_stream(stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call<"cudaStreamDestroy">([&] {
    if (stream == nullptr || stream == cudaStreamLegacy) return cudaErrorInvalidResourceHandle;
    return destroy_stream(stream);
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return call<"cudaStreamGetDevice">([&] {
    return with_stream(handle, [&](CUstream_st& stream) {
      *device = stream.device;
      return cudaSuccess;
    });
  });
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  return call<"cudaStreamGetId">([&] {
    return with_stream(handle, [&](CUstream_st& stream) {
      *id = stream.id;
      return cudaSuccess;
    });
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return call<"cudaStreamGetPriority">([&] {
    return with_stream(handle, [&](CUstream_st& stream) {
      *priority = stream.priority;
      return cudaSuccess;
    });
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return call<"cudaStreamGetFlags">([&] {
    return with_stream(handle, [&](CUstream_st& stream) {
      *flags = stream.flags;
      return cudaSuccess;
    });
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return call<"cudaStreamSynchronize">([&] {
    return with_stream(handle, [&](CUstream_st& stream) {
      if (auto const error = refuse_captured(stream); error != cudaSuccess) return error;
      if (auto const error = refuse_unsafe_call(); error != cudaSuccess) return error;
      wait_idle(stream);
      return device_error(stream.device);
    });
  });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return call<"cudaStreamQuery">([&] {
    return with_stream(handle, [&](CUstream_st& stream) {
      if (auto const error = refuse_captured(stream); error != cudaSuccess) return error;
      if (auto const error = refuse_unsafe_call(); error != cudaSuccess) return error;
      if (auto const error = device_error(stream.device); error != cudaSuccess) return error;
      return query(stream) ? device_error(stream.device) : cudaErrorNotReady;
    });
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned flags) {
  return call<"cudaStreamWaitEvent">([&] {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    if ((flags & ~unsigned{cudaEventWaitExternal}) != 0) return cudaErrorInvalidValue;
    return with_stream(handle, [&](CUstream_st& stream) {
      return wait_event(stream, *event, (flags & cudaEventWaitExternal) != 0);
    });
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return call<"cudaEventCreate">([&] { return create_event(event, cudaEventDefault); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call<"cudaEventCreateWithFlags">([&] { return create_event(event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call<"cudaEventDestroy">([&] { return destroy_event(event); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call<"cudaEventRecord">([&] { return record(event, stream, cudaEventRecordDefault); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return call<"cudaEventRecordWithFlags">([&] { return record(event, stream, flags); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call<"cudaEventQuery">([&] {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    if (auto const error = refuse_captured(*event); error != cudaSuccess) return error;
    if (auto const error = refuse_unsafe_call(); error != cudaSuccess) return error;
    auto const latest = latest_of(*event);
    if (latest && !latest->done()) return cudaErrorNotReady;
    if (latest) host_saw(latest->clock());
    return device_error(event->device);
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call<"cudaEventSynchronize">([&] {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    if (auto const error = refuse_captured(*event); error != cudaSuccess) return error;
    if (auto const error = refuse_unsafe_call(); error != cudaSuccess) return error;
    if (auto const latest = latest_of(*event)) wait_host(*latest);
    return device_error(event->device);
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call<"cudaEventElapsedTime">([&] {
    if (!is_event(start) || !is_event(end)) return cudaErrorInvalidResourceHandle;
    if (((start->flags | end->flags) & cudaEventDisableTiming) != 0) return cudaErrorInvalidResourceHandle;
    auto const from = latest_of(*start);
    auto const to = latest_of(*end);
    if (!from || !to) return cudaErrorInvalidResourceHandle;
    if (!from->done() || !to->done()) return cudaErrorNotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(to->when() - from->when()).count();
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  return call<"cudaLaunchHostFunc">([&] {
    if (function == nullptr) return cudaErrorInvalidValue;
    return with_stream(handle, [&](CUstream_st& stream) {
      return submit(stream, {.name = "host function",
                             .type = cudaGraphNodeTypeHost,
                             .run = [=](run_context&) { function(data); }});
    });
  });
}

namespace software_device {

cudaError_t launch(cudaStream_t handle, char const* name, std::span<memory_access const> touched,
                   std::function<void()> kernel) {
  return call<"launch">([&] {
    return with_stream(handle, [&](CUstream_st& stream) {
      if (stream.device != this_thread().device) return cudaErrorInvalidResourceHandle;
      return submit(stream, {.name = name,
                             .accesses = {touched.begin(), touched.end()},
                             .run = [body = std::move(kernel)](run_context&) { body(); }});
    });
  });
}

}  // namespace software_device

// --- Capture and graphs ---------------------------------------------------------------------------------------

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return call<"cudaStreamBeginCapture">(
      [&] { return with_stream(handle, [&](CUstream_st& stream) { return begin_capture(stream, mode); }); });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return call<"cudaStreamEndCapture">([&] {
    if (graph == nullptr) return cudaErrorInvalidValue;
    return with_stream(handle, [&](CUstream_st& stream) { return end_capture(stream, graph); });
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return call<"cudaStreamIsCapturing">([&] {
    return with_stream(handle, [&](CUstream_st& stream) {
      *status = capture_status(stream);
      return cudaSuccess;
    });
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call<"cudaThreadExchangeStreamCaptureMode">([&] {
    if (mode == nullptr) return cudaErrorInvalidValue;
    std::swap(*mode, this_thread().capture_mode);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  return call<"cudaGraphInstantiate">([&] { return instantiate(exec, graph); });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  return call<"cudaGraphInstantiateWithFlags">([&] { return instantiate(exec, graph); });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  return call<"cudaGraphExecUpdate">([&] {
    if (info == nullptr) return cudaErrorInvalidValue;
    return update(exec, graph, *info);
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  return call<"cudaGraphLaunch">(
      [&] { return with_stream(handle, [&](CUstream_st& stream) { return launch_graph(exec, stream); }); });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call<"cudaGraphDestroy">([&] { return destroy(graph); });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return call<"cudaGraphExecDestroy">([&] { return destroy(exec); });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return call<"cudaGraphGetNodes">([&] {
    if (!is_graph(graph) || count == nullptr) return cudaErrorInvalidValue;
    if (nodes != nullptr)
      for (std::size_t i = 0; i < *count; ++i)
        nodes[i] = i < graph->nodes.size() ? graph->nodes[i].get() : nullptr;
    *count = nodes != nullptr ? (std::min)(*count, graph->nodes.size()) : graph->nodes.size();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return call<"cudaGraphNodeGetType">([&] {
    if (node == nullptr || type == nullptr) return cudaErrorInvalidValue;
    *type = node->what.type;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                         cudaGraphEdgeData* edges, std::size_t* count) {
  return call<"cudaGraphNodeGetDependencies">([&] {
    if (node == nullptr || count == nullptr) return cudaErrorInvalidValue;
    auto const& after = node->after;
    if (dependencies != nullptr)
      for (std::size_t i = 0; i < *count; ++i) {
        dependencies[i] = i < after.size() ? after[i] : nullptr;
        if (edges != nullptr) edges[i] = {};
      }
    *count = dependencies != nullptr ? (std::min)(*count, after.size()) : after.size();
    return cudaSuccess;
  });
}
