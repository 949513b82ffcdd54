// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Stream capture and graphs: what a captured stream is given becomes nodes, and what cannot be captured says so.
#pragma once

#include "stream.hpp"

#include <memory>
#include <span>
#include <vector>

struct CUgraphNode_st {
  software_device::operation what;
  std::vector<CUgraphNode_st*> after;
  /// Where a stream came into the capture. It is no node of the finished graph, but has to be joined like one, so that a
  /// stream that was forked and got nothing to do counts as not joined.
  bool fork = false;
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  // in the order of issue
};

struct CUgraphExec_st;

namespace software_device {

// Called by every submission. `captured` says that the work has become part of a graph and must not run now.
cudaError_t capture_operation(std::span<CUstream_st* const> streams, operation& what, bool& captured);
cudaError_t capture_record(CUevent_st& event, CUstream_st& stream, bool external, bool& captured);
cudaError_t capture_wait(CUstream_st& stream, CUevent_st& event, bool external, bool& captured);

/// For calls that a capture forbids to the calling thread: cudaErrorStreamCaptureUnsupported, and the capture is
/// invalid from now on.
cudaError_t refuse_unsafe_call();
/// For calls on a stream that may not be captured at all.
cudaError_t refuse_captured(CUstream_st& stream);
/// cudaErrorCapturedEvent if the event's last record is part of a capture.
cudaError_t refuse_captured(CUevent_st& event);
void invalidate_capture_of(CUstream_st& stream);

cudaError_t begin_capture(CUstream_st& stream, cudaStreamCaptureMode mode);
cudaError_t end_capture(CUstream_st& stream, cudaGraph_t* graph);
cudaStreamCaptureStatus capture_status(CUstream_st& stream, unsigned long long* id = nullptr);

cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph);
cudaError_t update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo& info);
cudaError_t launch_graph(cudaGraphExec_t exec, CUstream_st& stream);
cudaError_t destroy(cudaGraph_t graph);
cudaError_t destroy(cudaGraphExec_t exec);
bool is_graph(cudaGraph_t graph);

void forget_all_graphs();

}  // namespace software_device
