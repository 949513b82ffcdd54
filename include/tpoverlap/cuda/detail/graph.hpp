// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Owners of what a stream capture yields: the graph, and the graph made executable.
#pragma once

#include <tpoverlap/cuda/error.hpp>
#include <tpoverlap/cuda/stream.hpp>

#include <cuda_runtime_api.h>

#include <memory>
#include <type_traits>

namespace tpoverlap::inline v0::cu::detail {

struct graph_destroy {
  void operator()(cudaGraph_t made) const { (void)cudaGraphDestroy(made); }
  void operator()(cudaGraphExec_t made) const { (void)cudaGraphExecDestroy(made); }
};
using owned_graph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, graph_destroy>;
using owned_executable = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, graph_destroy>;

/// A capture that ends with its scope, if not before: an exception must not leave the caller's stream capturing.
class open_capture {
 public:
  /// Other threads may go on with what cannot be captured: they have streams of their own.
  explicit open_capture(stream_ref in) : in_{in} {
    check(cudaStreamBeginCapture(in_.handle(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  }
  open_capture(open_capture const&) = delete;
  open_capture& operator=(open_capture const&) = delete;
  ~open_capture() {
    if (!open_) return;
    cudaGraph_t made = nullptr;
    (void)cudaStreamEndCapture(in_.handle(), &made);
    (void)cudaGetLastError();  // the exception on its way out says what went wrong
    owned_graph const dropped{made};
  }

  owned_graph end() {
    open_ = false;
    cudaGraph_t made = nullptr;
    cudaError_t const code = cudaStreamEndCapture(in_.handle(), &made);
    owned_graph graph{made};
    check(code, "cudaStreamEndCapture");
    return graph;
  }

 private:
  stream_ref in_;
  bool open_ = true;
};

inline owned_executable instantiate(cudaGraph_t graph) {
  cudaGraphExec_t made = nullptr;
  check(cudaGraphInstantiate(&made, graph, 0), "cudaGraphInstantiate");
  return owned_executable{made};
}

/// Whether the executable could take over the graph's parameters; it cannot where the nodes are others.
inline bool update(cudaGraphExec_t executable, cudaGraph_t graph) {
  cudaGraphExecUpdateResultInfo why{};
  cudaError_t const code = cudaGraphExecUpdate(executable, graph, &why);
  if (code != cudaErrorGraphExecUpdateFailure) check(code, "cudaGraphExecUpdate");
  (void)cudaGetLastError();
  return code == cudaSuccess;
}

}  // namespace tpoverlap::inline v0::cu::detail
