// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Stream capture keeps the rules that make capturing an overlapped call hard.
#include "buffers.hpp"

using namespace cuda_device_test;

namespace {

struct two_streams {
  cudaStream_t main = new_stream();
  cudaStream_t side = new_stream();
  cudaEvent_t out = new_event();
  cudaEvent_t back = new_event();
  int* data = device_copy<int>({0, 0});

  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) const {
    REQUIRE(cudaStreamBeginCapture(main, mode) == cudaSuccess);
  }
  void go_out() const {
    REQUIRE(cudaEventRecord(out, main) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(side, out, 0) == cudaSuccess);
  }
  void come_back() const {
    REQUIRE(cudaEventRecord(back, side) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(main, back, 0) == cudaSuccess);
  }
  cudaError_t end() const {
    cudaGraph_t graph = nullptr;
    auto const result = cudaStreamEndCapture(main, &graph);
    CHECK((graph != nullptr) == (result == cudaSuccess));
    return result;
  }
};

std::size_t nodes_of(cudaGraph_t graph) {
  std::size_t count = 0;
  REQUIRE(cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess);
  return count;
}

}  // namespace

TEST_CASE("captured work does not run; a graph of it runs as often as it is launched") {
  device::reset();
  two_streams f;
  f.begin();
  REQUIRE(add_to(f.main, f.data, 1, 1) == cudaSuccess);
  f.go_out();
  REQUIRE(add_to(f.side, f.data, 1, 10) == cudaSuccess);
  REQUIRE(add_to(f.main, f.data + 1, 1, 100) == cudaSuccess);
  f.come_back();
  REQUIRE(cudaMemsetAsync(f.data + 1, 0, 4, f.main) == cudaSuccess);
  cudaStreamCaptureStatus status{};
  CHECK(cudaStreamIsCapturing(f.side, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusActive);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(f.main, &graph) == cudaSuccess);
  CHECK(cudaStreamIsCapturing(f.side, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusNone);
  CHECK(host_copy(f.data, 1).front() == 0);
  CHECK(nodes_of(graph) == 4);

  std::vector<cudaGraphNode_t> nodes(4);
  std::size_t count = 4;
  REQUIRE(cudaGraphGetNodes(graph, nodes.data(), &count) == cudaSuccess);
  std::size_t dependencies = 0;
  REQUIRE(cudaGraphNodeGetDependencies(nodes[3], nullptr, nullptr, &dependencies) == cudaSuccess);
  CHECK(dependencies == 2);
  cudaGraphNodeType type{};
  REQUIRE(cudaGraphNodeGetType(nodes[3], &type) == cudaSuccess);
  CHECK(type == cudaGraphNodeTypeMemset);

  cudaGraphExec_t exec = nullptr;
  REQUIRE(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);  // the executable keeps what it needs
  for (int i = 0; i < 3; ++i) REQUIRE(cudaGraphLaunch(exec, f.main) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(f.main) == cudaSuccess);
  CHECK(host_copy(f.data, 2) == std::vector<int>{33, 0});
  CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
  CHECK(device::findings().empty());
}

TEST_CASE("launches of one executable graph follow each other on any streams") {
  device::reset();
  two_streams f;
  f.begin();
  REQUIRE(add_to(f.main, f.data, 1, 1) == cudaSuccess);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(f.main, &graph) == cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  REQUIRE(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(exec, f.main) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(exec, f.side) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(f.side) == cudaSuccess);
  CHECK(host_copy(f.data, 1).front() == 2);
  CHECK(device::findings().empty());
}

TEST_CASE("a side stream has to be joined") {
  device::reset();
  two_streams f;
  f.begin();
  f.go_out();
  SECTION("its work is not") {
    REQUIRE(add_to(f.side, f.data, 1, 1) == cudaSuccess);
    CHECK(f.end() == cudaErrorStreamCaptureUnjoined);
  }
  SECTION("it has none, and is not") { CHECK(f.end() == cudaErrorStreamCaptureUnjoined); }
  SECTION("work after the join is not") {
    REQUIRE(add_to(f.side, f.data, 1, 1) == cudaSuccess);
    f.come_back();
    REQUIRE(add_to(f.side, f.data, 1, 1) == cudaSuccess);
    CHECK(f.end() == cudaErrorStreamCaptureUnjoined);
  }
  SECTION("it is") {
    REQUIRE(add_to(f.side, f.data, 1, 1) == cudaSuccess);
    f.come_back();
    CHECK(f.end() == cudaSuccess);
  }
  // Whatever happened, the streams are free again.
  REQUIRE(add_to(f.side, f.data, 1, 1) == cudaSuccess);
  CHECK(cudaStreamSynchronize(f.side) == cudaSuccess);
}

TEST_CASE("no dependency crosses the border of a capture") {
  device::reset();
  two_streams f;
  SECTION("in") {
    REQUIRE(cudaEventRecord(f.back, f.side) == cudaSuccess);
    f.begin();
    CHECK(cudaStreamWaitEvent(f.main, f.back, 0) == cudaErrorStreamCaptureIsolation);
    CHECK(add_to(f.main, f.data, 1, 1) == cudaErrorStreamCaptureInvalidated);
    CHECK(f.end() == cudaErrorStreamCaptureInvalidated);
  }
  SECTION("out, after the end") {
    f.begin();
    f.go_out();
    f.come_back();
    CHECK(f.end() == cudaSuccess);
    CHECK(cudaEventQuery(f.out) == cudaErrorCapturedEvent);
    CHECK(cudaStreamWaitEvent(f.side, f.out, 0) == cudaErrorCapturedEvent);
    REQUIRE(cudaEventRecord(f.out, f.main) == cudaSuccess);  // recorded anew it is an event like any other
    CHECK(cudaStreamWaitEvent(f.side, f.out, 0) == cudaSuccess);
    CHECK(cudaEventSynchronize(f.out) == cudaSuccess);
  }
  SECTION("from one capture to another") {
    f.begin();
    REQUIRE(cudaEventRecord(f.out, f.main) == cudaSuccess);
    REQUIRE(cudaStreamBeginCapture(f.side, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(f.side, f.out, 0) == cudaErrorStreamCaptureMerge);
    CHECK(f.end() == cudaErrorStreamCaptureInvalidated);
  }
}

TEST_CASE("calls that cannot be captured spoil the capture") {
  device::reset();
  two_streams f;
  f.begin();
  SECTION("synchronize") { CHECK(cudaStreamSynchronize(f.main) == cudaErrorStreamCaptureUnsupported); }
  SECTION("query") { CHECK(cudaStreamQuery(f.main) == cudaErrorStreamCaptureUnsupported); }
  SECTION("device synchronize") { CHECK(cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported); }
  SECTION("allocate") {
    void* memory = nullptr;
    CHECK(cudaMalloc(&memory, 4) == cudaErrorStreamCaptureUnsupported);
  }
  SECTION("query a captured event") {
    REQUIRE(cudaEventRecord(f.out, f.main) == cudaSuccess);
    CHECK(cudaEventQuery(f.out) == cudaErrorCapturedEvent);
  }
  CHECK(f.end() == cudaErrorStreamCaptureInvalidated);
}

TEST_CASE("whom a capture forbids what depends on its mode") {
  device::reset();
  two_streams f;
  auto const other_thread_allocates = [] {
    auto result = cudaSuccess;
    std::thread{[&] {
      void* memory = nullptr;
      result = cudaMalloc(&memory, 4);
    }}.join();
    return result;
  };
  SECTION("global: all threads") {
    f.begin(cudaStreamCaptureModeGlobal);
    CHECK(other_thread_allocates() == cudaErrorStreamCaptureUnsupported);
    CHECK(f.end() == cudaErrorStreamCaptureInvalidated);
  }
  SECTION("thread local: this one") {
    f.begin(cudaStreamCaptureModeThreadLocal);
    CHECK(other_thread_allocates() == cudaSuccess);
    CHECK(f.end() == cudaSuccess);
  }
  SECTION("relaxed: none") {
    f.begin(cudaStreamCaptureModeRelaxed);
    void* memory = nullptr;
    CHECK(cudaMalloc(&memory, 4) == cudaSuccess);
    CHECK(f.end() == cudaSuccess);
  }
  SECTION("a thread may relax its own mode") {
    f.begin(cudaStreamCaptureModeGlobal);
    auto mode = cudaStreamCaptureModeRelaxed;
    REQUIRE(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
    CHECK(mode == cudaStreamCaptureModeGlobal);
    void* memory = nullptr;
    CHECK(cudaMalloc(&memory, 4) == cudaSuccess);
    REQUIRE(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
    CHECK(f.end() == cudaSuccess);
  }
}

TEST_CASE("a capture begins and ends in one stream and one thread") {
  device::reset();
  two_streams f;
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(f.main, &graph) == cudaErrorIllegalState);
  CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
  f.begin();
  CHECK(cudaStreamBeginCapture(f.main, cudaStreamCaptureModeGlobal) == cudaErrorIllegalState);
  std::thread{[&] {
    CHECK(cudaStreamEndCapture(f.main, &graph) == cudaErrorStreamCaptureWrongThread);
  }}.join();
  f.go_out();
  CHECK(cudaStreamEndCapture(f.side, &graph) == cudaErrorStreamCaptureUnmatched);
  CHECK(f.end() == cudaErrorStreamCaptureInvalidated);
}

TEST_CASE("the legacy stream must not be drawn into a capture of a blocking stream") {
  device::reset();
  cudaStream_t blocking = nullptr;
  REQUIRE(cudaStreamCreate(&blocking) == cudaSuccess);
  auto* const data = device_copy<int>({0});
  REQUIRE(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  CHECK(add_to(nullptr, data, 1, 1) == cudaErrorStreamCaptureImplicit);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(blocking, &graph) == cudaErrorStreamCaptureInvalidated);
  CHECK(add_to(nullptr, data, 1, 1) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("an executable graph is updated by a graph of the same form, and by no other") {
  device::reset();
  two_streams f;
  auto const capture = [&](int* data, bool twice) {
    f.begin();
    REQUIRE(add_to(f.main, data, 1, 1) == cudaSuccess);
    if (twice) REQUIRE(add_to(f.main, data, 1, 1) == cudaSuccess);
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(f.main, &graph) == cudaSuccess);
    return graph;
  };
  cudaGraphExec_t exec = nullptr;
  REQUIRE(cudaGraphInstantiate(&exec, capture(f.data, false), 0) == cudaSuccess);
  cudaGraphExecUpdateResultInfo info{};
  CHECK(cudaGraphExecUpdate(exec, capture(f.data, true), &info) == cudaErrorGraphExecUpdateFailure);
  CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  REQUIRE(cudaGraphLaunch(exec, f.main) == cudaSuccess);
  CHECK(cudaGraphExecUpdate(exec, capture(f.data + 1, false), &info) == cudaSuccess);
  CHECK(info.result == cudaGraphExecUpdateSuccess);
  REQUIRE(cudaGraphLaunch(exec, f.main) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(f.main) == cudaSuccess);
  CHECK(host_copy(f.data, 2) == std::vector<int>{1, 1});
}

TEST_CASE("a graph whose edges leave two nodes on one memory unordered is found out") {
  device::reset();
  two_streams f;
  f.begin();
  f.go_out();
  REQUIRE(add_to(f.side, f.data, 1, 1) == cudaSuccess);
  REQUIRE(add_to(f.main, f.data, 1, 1) == cudaSuccess);
  f.come_back();
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(f.main, &graph) == cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  REQUIRE(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
  CHECK(device::findings().size() == 1);
}
