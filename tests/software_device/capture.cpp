// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The rules of stream capture.
#include "capture.hpp"

#include "api_call.hpp"
#include "memory.hpp"

#include <algorithm>
#include <set>

namespace software_device {

struct capture {
  unsigned long long id = 0;
  CUstream_st* origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  std::unique_ptr<CUgraph_st> graph = std::make_unique<CUgraph_st>();
  std::vector<CUstream_st*> members;
  bool invalid = false;
};

namespace {

struct capture_table {
  std::mutex mutex;  // the capture lock
  std::vector<std::unique_ptr<capture>> active;
  std::atomic<int> count{0};
  unsigned long long next_id = 1;
  std::set<CUgraph_st*> graphs;
};

capture_table& table() {
  static auto& here = *new capture_table;
  return here;
}

graph_node* add_node(capture& in, operation what, std::vector<graph_node*> after, bool fork = false) {
  auto made = std::make_unique<graph_node>();
  made->what = std::move(what);
  made->after = std::move(after);
  made->fork = fork;
  in.graph->nodes.push_back(std::move(made));
  return in.graph->nodes.back().get();
}

void add_to(std::vector<graph_node*>& set, std::vector<graph_node*> const& more) {
  for (auto* const each : more)
    if (std::find(set.begin(), set.end(), each) == set.end()) set.push_back(each);
}

void join_capture(capture& in, CUstream_st& stream, std::vector<graph_node*> const& after) {
  stream.capturing = &in;
  stream.captures = true;
  stream.frontier = {add_node(in, {.name = "fork"}, after, true)};
  in.members.push_back(&stream);
}

std::set<graph_node const*> ancestors(std::vector<graph_node*> const& of) {
  std::set<graph_node const*> seen;
  std::vector<graph_node const*> open(of.begin(), of.end());
  while (!open.empty()) {
    auto const* const node = open.back();
    open.pop_back();
    if (!seen.insert(node).second) continue;
    open.insert(open.end(), node->after.begin(), node->after.end());
  }
  return seen;
}

void leave(capture& ended) {
  for (auto* const each : ended.members) {
    each->capturing = nullptr;
    each->captures = false;
    each->frontier.clear();
  }
  std::erase_if(table().active, [&](auto const& each) { return each.get() == &ended; });
  --table().count;
}

/// Edges through forks become edges between nodes.
void contract_forks(CUgraph_st& graph) {
  for (auto& node : graph.nodes) {
    std::vector<graph_node*> real;
    for (auto* const each : node->after) {
      if (each->fork)
        add_to(real, each->after);  // contracted already: nodes are in order of issue
      else
        add_to(real, {each});
    }
    node->after = std::move(real);
  }
  std::erase_if(graph.nodes, [](auto const& node) { return node->fork; });
}

cudaError_t implicit_dependency(CUstream_st const& stream) {
  if (!stream.legacy || table().count == 0) return cudaSuccess;
  std::lock_guard lock{table().mutex};
  auto result = cudaSuccess;
  for (auto& each : table().active) {
    for (auto const* const member : each->members) {
      if ((member->flags & cudaStreamNonBlocking) != 0 || member->device != stream.device) continue;
      each->invalid = true;
      result = cudaErrorStreamCaptureImplicit;
    }
  }
  return result;
}

}  // namespace

cudaError_t capture_operation(std::span<CUstream_st* const> streams, operation& what, bool& captured) {
  captured = false;
  if (std::none_of(streams.begin(), streams.end(), [](auto const* each) { return each->captures.load(); })) {
    for (auto const* const each : streams)
      if (auto const error = implicit_dependency(*each); error != cudaSuccess) return error;
    return cudaSuccess;
  }
  std::lock_guard lock{table().mutex};
  capture* in = nullptr;
  for (auto* const each : streams) {
    if (each->capturing == nullptr) continue;
    if (in != nullptr && in != each->capturing) {
      in->invalid = each->capturing->invalid = true;
      return cudaErrorStreamCaptureMerge;
    }
    in = each->capturing;
  }
  if (in == nullptr) return cudaSuccess;  // the capture has ended meanwhile
  if (in->invalid) return cudaErrorStreamCaptureInvalidated;
  std::vector<graph_node*> after;
  for (auto* const each : streams)
    if (each->capturing != nullptr) add_to(after, each->frontier);
  for (auto* const each : streams)
    if (each->capturing == nullptr) join_capture(*in, *each, after);
  for (auto* const each : streams) add_to(after, each->frontier);
  what.device = streams.front()->device;
  auto* const node = add_node(*in, std::move(what), std::move(after));
  for (auto* const each : streams) each->frontier = {node};
  captured = true;
  return cudaSuccess;
}

cudaError_t capture_record(CUevent_st& event, CUstream_st& stream, bool external, bool& captured) {
  captured = false;
  if (!stream.captures) {
    event.captured_in = 0;
    return implicit_dependency(stream);
  }
  std::lock_guard lock{table().mutex};
  auto* const in = stream.capturing;
  if (in == nullptr) return cudaSuccess;
  if (in->invalid) return cudaErrorStreamCaptureInvalidated;
  captured = true;
  if (!external) {
    event.captured_in = in->id;
    event.captured_at = stream.frontier;
    return cudaSuccess;
  }
  auto const record = [target = &event] {
    auto made = std::make_shared<marker>();
    {
      std::lock_guard own{target->mutex};
      target->latest = made;
    }
    return run_function{[made](run_context& context) { made->complete(context.clock); }};
  };
  stream.frontier = {add_node(*in,
                              {.name = "event record",
                               .type = cudaGraphNodeTypeEventRecord,
                               .prepare = record,
                               .bookkeeping = true,
                               .device = stream.device},
                              stream.frontier)};
  return cudaSuccess;
}

cudaError_t capture_wait(CUstream_st& stream, CUevent_st& event, bool external, bool& captured) {
  captured = false;
  auto const recorded_in = event.captured_in.load();
  if (!stream.captures && recorded_in == 0) return external ? cudaErrorIllegalState : cudaSuccess;
  std::lock_guard lock{table().mutex};
  auto* const in = stream.capturing;
  if (in != nullptr && in->invalid) return cudaErrorStreamCaptureInvalidated;
  if (external) {
    if (in == nullptr) return cudaErrorIllegalState;
    auto const wait = [target = &event] {
      std::lock_guard own{target->mutex};
      return run_function{[until = target->latest](run_context& context) {
        if (until && until->wait()) context.clock.join(until->clock());
      }};
    };
    stream.frontier = {add_node(*in,
                                {.name = "event wait",
                                 .type = cudaGraphNodeTypeWaitEvent,
                                 .prepare = wait,
                                 .bookkeeping = true,
                                 .device = stream.device},
                                stream.frontier)};
    captured = true;
    return cudaSuccess;
  }
  if (recorded_in == 0) {
    std::lock_guard own{event.mutex};
    if (!event.latest) {  // never recorded: a wait for nothing
      captured = true;
      return cudaSuccess;
    }
    in->invalid = true;
    return cudaErrorStreamCaptureIsolation;
  }
  auto const source = std::find_if(table().active.begin(), table().active.end(),
                                   [&](auto const& each) { return each->id == recorded_in; });
  if (source == table().active.end()) {
    if (in != nullptr) in->invalid = true;
    return in != nullptr ? cudaErrorStreamCaptureIsolation : cudaErrorCapturedEvent;
  }
  if (in != nullptr && in != source->get()) {
    in->invalid = (*source)->invalid = true;
    return cudaErrorStreamCaptureMerge;
  }
  if ((*source)->invalid) return cudaErrorStreamCaptureInvalidated;
  if (stream.legacy) {
    (*source)->invalid = true;
    return cudaErrorStreamCaptureImplicit;
  }
  if (in == nullptr)
    join_capture(**source, stream, event.captured_at);
  else
    add_to(stream.frontier, event.captured_at);
  captured = true;
  return cudaSuccess;
}

cudaError_t refuse_unsafe_call() {
  if (table().count == 0) return cudaSuccess;
  auto const mode = this_thread().capture_mode;
  if (mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  std::lock_guard lock{table().mutex};
  auto result = cudaSuccess;
  for (auto& each : table().active) {
    auto const own = each->thread == std::this_thread::get_id();
    auto const forbids =
        own ? each->mode != cudaStreamCaptureModeRelaxed
            : mode == cudaStreamCaptureModeGlobal && each->mode == cudaStreamCaptureModeGlobal;
    if (!forbids) continue;
    each->invalid = true;
    result = cudaErrorStreamCaptureUnsupported;
  }
  return result;
}

cudaError_t refuse_captured(CUstream_st& stream) {
  if (!stream.captures) return implicit_dependency(stream);
  std::lock_guard lock{table().mutex};
  if (stream.capturing == nullptr) return cudaSuccess;
  stream.capturing->invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t refuse_captured(CUevent_st& event) {
  auto const recorded_in = event.captured_in.load();
  if (recorded_in == 0) return cudaSuccess;
  std::lock_guard lock{table().mutex};
  for (auto& each : table().active)
    if (each->id == recorded_in) each->invalid = true;
  return cudaErrorCapturedEvent;
}

void invalidate_capture_of(CUstream_st& stream) {
  if (!stream.captures) return;
  std::lock_guard lock{table().mutex};
  if (auto* const in = stream.capturing; in != nullptr) {
    in->invalid = true;
    std::erase(in->members, &stream);
    if (in->origin == &stream) leave(*in);
  }
}

cudaError_t begin_capture(CUstream_st& stream, cudaStreamCaptureMode mode) {
  if (stream.legacy) return cudaErrorStreamCaptureUnsupported;
  std::lock_guard lock{table().mutex};
  if (stream.capturing != nullptr) return cudaErrorIllegalState;
  auto made = std::make_unique<capture>();
  made->id = table().next_id++;
  made->origin = &stream;
  made->mode = mode;
  made->thread = std::this_thread::get_id();
  made->members = {&stream};
  stream.capturing = made.get();
  stream.captures = true;
  stream.frontier.clear();
  table().active.push_back(std::move(made));
  ++table().count;
  return cudaSuccess;
}

cudaError_t end_capture(CUstream_st& stream, cudaGraph_t* graph) {
  *graph = nullptr;
  std::lock_guard lock{table().mutex};
  auto* const in = stream.capturing;
  if (in == nullptr) return cudaErrorIllegalState;
  if (in->origin != &stream) {
    in->invalid = true;
    return cudaErrorStreamCaptureUnmatched;
  }
  if (in->mode != cudaStreamCaptureModeRelaxed && in->thread != std::this_thread::get_id())
    return cudaErrorStreamCaptureWrongThread;
  auto result = in->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
  auto const joined = ancestors(stream.frontier);
  for (auto const* const member : in->members)
    for (auto const* const last : member->frontier)
      if (result == cudaSuccess && !joined.contains(last)) result = cudaErrorStreamCaptureUnjoined;
  auto finished = std::move(in->graph);
  leave(*in);
  if (result != cudaSuccess) return result;
  contract_forks(*finished);
  count_resource();
  *graph = finished.release();
  table().graphs.insert(*graph);
  return cudaSuccess;
}

cudaStreamCaptureStatus capture_status(CUstream_st& stream, unsigned long long* id) {
  std::lock_guard lock{table().mutex};
  if (stream.capturing == nullptr) return cudaStreamCaptureStatusNone;
  if (id != nullptr) *id = stream.capturing->id;
  return stream.capturing->invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
}

bool is_graph(cudaGraph_t graph) {
  std::lock_guard lock{table().mutex};
  return table().graphs.contains(graph);
}

cudaError_t destroy(cudaGraph_t graph) {
  std::lock_guard lock{table().mutex};
  if (table().graphs.erase(graph) == 0) return cudaErrorInvalidValue;
  delete graph;
  return cudaSuccess;
}

void forget_all_graphs() {
  std::lock_guard lock{table().mutex};
  for (auto* const each : table().graphs) delete each;
  table().graphs.clear();
  table().active.clear();
  table().count = 0;
}

}  // namespace software_device
