// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The software device's NCCL: groups, order, matching, failure.
#include "buffers.hpp"

#include <cuda_bf16.h>

#include <algorithm>
#include <numeric>

using namespace cuda_device_test;

namespace {

ncclUniqueId new_id() {
  ncclUniqueId id{};
  REQUIRE(ncclGetUniqueId(&id) == ncclSuccess);
  return id;
}

/// All ranks of a communicator in one thread; rank r has device r.
std::vector<ncclComm_t> all_ranks(int ranks) {
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(ranks));
  REQUIRE(ncclCommInitAll(comms.data(), ranks, nullptr) == ncclSuccess);
  return comms;
}

struct rank_state {
  ncclComm_t comm;
  cudaStream_t stream;
  int* send;
  int* receive;
};

/// `send` holds 100 · rank + i, `receive` nothing yet.
std::vector<rank_state> ranks_with_buffers(int ranks, int count = 4) {
  std::vector<rank_state> result;
  auto const comms = all_ranks(ranks);
  for (int r = 0; r < ranks; ++r) {
    REQUIRE(cudaSetDevice(r) == cudaSuccess);
    std::vector<int> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), 100 * r);
    result.push_back({comms[static_cast<std::size_t>(r)], new_stream(), device_copy(values),
                      device_copy<int>(std::vector<int>(static_cast<std::size_t>(count * ranks), -1))});
  }
  return result;
}

template <class Body>
void in_group(Body body) {
  REQUIRE(ncclGroupStart() == ncclSuccess);
  body();
  REQUIRE(ncclGroupEnd() == ncclSuccess);
}

void finish(std::vector<rank_state> const& ranks) {
  for (auto const& each : ranks) REQUIRE(cudaStreamSynchronize(each.stream) == cudaSuccess);
}

ncclResult_t error_of(ncclComm_t comm) {
  auto error = ncclSuccess;
  REQUIRE(ncclCommGetAsyncError(comm, &error) == ncclSuccess);
  return error;
}

/// Waits until the error is there; a test that waits in vain is ended by its time limit.
ncclResult_t error_in_time(ncclComm_t comm) {
  while (error_of(comm) == ncclSuccess) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  return error_of(comm);
}

bool stays_busy(cudaStream_t stream) {
  for (int i = 0; i < 30; ++i) {
    if (cudaStreamQuery(stream) != cudaErrorNotReady) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return true;
}

void abort_all(std::vector<rank_state> const& ranks) {
  for (auto const& each : ranks) REQUIRE(ncclCommAbort(each.comm) == ncclSuccess);
}

}  // namespace

TEST_CASE("ranks meet by unique id, in any order, on threads or in one group") {
  device::reset(4);
  auto const id = new_id();
  std::vector<ncclComm_t> comms(4);
  auto const good = on_ranks(4, [&](int r) {
    auto config = ncclConfig_t NCCL_CONFIG_INITIALIZER;
    config.maxCTAs = 4 + r;
    auto& comm = comms[static_cast<std::size_t>(r)];
    int rank = -1;
    int size = -1;
    int where = -1;
    return ncclCommInitRankConfig(&comm, 4, id, r, &config) == ncclSuccess &&
           ncclCommUserRank(comm, &rank) == ncclSuccess && rank == r &&
           ncclCommCount(comm, &size) == ncclSuccess && size == 4 &&
           ncclCommCuDevice(comm, &where) == ncclSuccess && where == r;
  });
  CHECK(good == all_good(4));
  CHECK(device::configuration(comms[2]).maxCTAs == 6);

  auto const second = new_id();
  in_group([&] {
    for (int r = 0; r < 2; ++r) {
      REQUIRE(cudaSetDevice(r) == cudaSuccess);
      REQUIRE(ncclCommInitRank(&comms[static_cast<std::size_t>(r)], 2, second, r) == ncclSuccess);
    }
  });
  CHECK(device::findings().empty());
}

TEST_CASE("a communicator with wrong arguments is not made") {
  device::reset(2);
  ncclComm_t comm = nullptr;
  auto id = new_id();
  CHECK(ncclCommInitRank(&comm, 2, id, 2) == ncclInvalidArgument);
  CHECK(ncclCommInitRank(&comm, 1, ncclUniqueId{}, 0) == ncclInvalidArgument);
  auto config = ncclConfig_t NCCL_CONFIG_INITIALIZER;
  config.minCTAs = 8;
  config.maxCTAs = 4;
  CHECK(ncclCommInitRankConfig(&comm, 1, id, 0, &config) == ncclInvalidArgument);
  ncclConfig_t uninitialised{};
  CHECK(ncclCommInitRankConfig(&comm, 1, id, 0, &uninitialised) == ncclInvalidArgument);
  // Two ranks on one device.
  std::atomic<int> refused{0};
  (void)on_ranks(2, [&](int r) {
    ncclComm_t mine = nullptr;
    (void)cudaSetDevice(0);
    if (ncclCommInitRank(&mine, 2, id, r) == ncclInvalidUsage) ++refused;
    return true;
  });
  CHECK(refused == 2);
}

TEST_CASE("messages are matched in the order of issue between two ranks, and sizes may be zero") {
  device::reset(2);
  device::delay_operations(3, std::chrono::microseconds{300});
  auto const ranks = ranks_with_buffers(2);
  for (std::size_t round = 0; round < 5; ++round)
    in_group([&] {
      for (int r = 0; r < 2; ++r) {
        auto const& me = ranks[static_cast<std::size_t>(r)];
        REQUIRE(ncclSend(me.send, 2, ncclInt32, 1 - r, me.comm, me.stream) == ncclSuccess);
        REQUIRE(ncclSend(me.send + 2, 1, ncclInt32, 1 - r, me.comm, me.stream) == ncclSuccess);
        REQUIRE(ncclSend(me.send, 0, ncclInt32, 1 - r, me.comm, me.stream) == ncclSuccess);
        REQUIRE(ncclRecv(me.receive, 2, ncclInt32, 1 - r, me.comm, me.stream) == ncclSuccess);
        REQUIRE(ncclRecv(me.receive + 2, 1, ncclInt32, 1 - r, me.comm, me.stream) == ncclSuccess);
        REQUIRE(ncclRecv(me.receive, 0, ncclInt32, 1 - r, me.comm, me.stream) == ncclSuccess);
      }
    });
  finish(ranks);
  CHECK(host_copy(ranks[0].receive, 4) == std::vector<int>{100, 101, 102, -1});
  CHECK(host_copy(ranks[1].receive, 4) == std::vector<int>{0, 1, 2, -1});
  CHECK(device::findings().empty());
}

TEST_CASE("a send and a receive that must overlap need one group") {
  device::reset(2);
  auto const ranks = ranks_with_buffers(2);
  for (int r = 0; r < 2; ++r) {
    auto const& me = ranks[static_cast<std::size_t>(r)];
    REQUIRE(ncclSend(me.send, 1, ncclInt32, 1 - r, me.comm, me.stream) == ncclSuccess);
    REQUIRE(ncclRecv(me.receive, 1, ncclInt32, 1 - r, me.comm, me.stream) == ncclSuccess);
  }
  CHECK(stays_busy(ranks[0].stream));
  abort_all(ranks);
  finish(ranks);
}

TEST_CASE("operations of one communicator run one after another, on different streams, too") {
  device::reset(2);
  auto const ranks = ranks_with_buffers(2);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  auto const second = new_stream();
  // Rank 0 sends on one stream, then on another; the second message may not pass the first.
  REQUIRE(ncclSend(ranks[0].send, 1, ncclInt32, 1, ranks[0].comm, ranks[0].stream) == ncclSuccess);
  REQUIRE(ncclAllGather(ranks[0].send, ranks[0].receive, 1, ncclInt32, ranks[0].comm, second) == ncclSuccess);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  gate closed{ranks[1].stream};
  auto const ahead = new_stream();
  SECTION("in the same order on all ranks") {
    REQUIRE(ncclRecv(ranks[1].receive, 1, ncclInt32, 0, ranks[1].comm, ranks[1].stream) == ncclSuccess);
    REQUIRE(ncclAllGather(ranks[1].send, ranks[1].receive + 4, 1, ncclInt32, ranks[1].comm, ahead) ==
            ncclSuccess);
    CHECK(stays_busy(ahead));
    closed.open();
    finish(ranks);
    REQUIRE(cudaStreamSynchronize(ahead) == cudaSuccess);
    CHECK(host_copy(ranks[1].receive, 6) == std::vector<int>{0, -1, -1, -1, 0, 100});
    CHECK(device::findings().empty());
  }
  SECTION("in another order they hang") {
    closed.open();
    REQUIRE(ncclAllGather(ranks[1].send, ranks[1].receive + 4, 1, ncclInt32, ranks[1].comm, ahead) ==
            ncclSuccess);
    REQUIRE(ncclRecv(ranks[1].receive, 1, ncclInt32, 0, ranks[1].comm, ranks[1].stream) == ncclSuccess);
    CHECK(stays_busy(ahead));
    abort_all(ranks);
  }
}

TEST_CASE("messages that do not match end in an asynchronous error, and never end") {
  device::reset(2);
  auto const ranks = ranks_with_buffers(2);
  auto const receive_as =
      GENERATE(std::pair{std::size_t{3}, ncclInt32}, std::pair{std::size_t{2}, ncclFloat32});
  REQUIRE(ncclSend(ranks[0].send, 2, ncclInt32, 1, ranks[0].comm, ranks[0].stream) == ncclSuccess);
  REQUIRE(ncclRecv(ranks[1].receive, receive_as.first, receive_as.second, 0, ranks[1].comm,
                   ranks[1].stream) == ncclSuccess);
  CHECK(error_in_time(ranks[0].comm) == ncclInvalidUsage);
  CHECK(error_in_time(ranks[1].comm) == ncclInvalidUsage);
  CHECK(stays_busy(ranks[1].stream));
  CHECK(device::findings().size() == 1);
  abort_all(ranks);
  finish(ranks);
}

TEST_CASE("collectives that differ end in an asynchronous error") {
  device::reset(2);
  auto const ranks = ranks_with_buffers(2);
  auto const& a = ranks[0];
  auto const& b = ranks[1];
  REQUIRE(ncclAllReduce(a.send, a.receive, 4, ncclInt32, ncclSum, a.comm, a.stream) == ncclSuccess);
  SECTION("in kind") {
    REQUIRE(ncclAllGather(b.send, b.receive, 4, ncclInt32, b.comm, b.stream) == ncclSuccess);
  }
  SECTION("in count") {
    REQUIRE(ncclAllReduce(b.send, b.receive, 3, ncclInt32, ncclSum, b.comm, b.stream) == ncclSuccess);
  }
  SECTION("in operation") {
    REQUIRE(ncclAllReduce(b.send, b.receive, 4, ncclInt32, ncclMax, b.comm, b.stream) == ncclSuccess);
  }
  CHECK(error_in_time(a.comm) == ncclInvalidUsage);
  CHECK(error_in_time(b.comm) == ncclInvalidUsage);
  abort_all(ranks);
  finish(ranks);
}

TEST_CASE("collectives compute what they are called") {
  device::reset(3);
  device::delay_operations(11, std::chrono::microseconds{300});
  auto const ranks = ranks_with_buffers(3, 6);
  auto const each_rank = [&](auto body) {
    in_group([&] {
      for (auto const& me : ranks) REQUIRE(body(me) == ncclSuccess);
    });
    finish(ranks);
  };
  auto const received = [&](std::size_t rank, std::size_t count) {
    return host_copy(ranks[rank].receive, count);
  };

  each_rank([](auto& me) { return ncclAllGather(me.send, me.receive, 2, ncclInt32, me.comm, me.stream); });
  for (std::size_t r = 0; r < 3; ++r) CHECK(received(r, 7) == std::vector<int>{0, 1, 100, 101, 200, 201, -1});
  each_rank([](auto& me) {
    return ncclReduceScatter(me.send, me.receive, 2, ncclInt32, ncclSum, me.comm, me.stream);
  });
  for (int r = 0; r < 3; ++r)
    CHECK(received(static_cast<std::size_t>(r), 3) == std::vector<int>{300 + 6 * r, 303 + 6 * r, 100});
  each_rank(
      [](auto& me) { return ncclAllReduce(me.send, me.receive, 6, ncclInt32, ncclSum, me.comm, me.stream); });
  for (std::size_t r = 0; r < 3; ++r) CHECK(received(r, 6) == std::vector<int>{300, 303, 306, 309, 312, 315});
  each_rank([](auto& me) { return ncclBroadcast(me.send, me.receive, 2, ncclInt32, 1, me.comm, me.stream); });
  for (std::size_t r = 0; r < 3; ++r) CHECK(received(r, 3) == std::vector<int>{100, 101, 306});
  each_rank(
      [](auto& me) { return ncclReduce(me.send, me.receive, 1, ncclInt32, ncclMax, 2, me.comm, me.stream); });
  CHECK(received(0, 1).front() == 100);
  CHECK(received(2, 1).front() == 200);
  // In place, as the documentation allows.
  std::size_t rank = 0;
  each_rank([&](auto& me) {
    return ncclReduceScatter(me.send, me.send + 2 * rank++, 2, ncclInt32, ncclSum, me.comm, me.stream);
  });
  CHECK(host_copy(ranks[1].send, 6) == std::vector<int>{100, 101, 306, 309, 104, 105});
  each_rank(
      [](auto& me) { return ncclAllReduce(me.send, me.send, 0, ncclInt32, ncclSum, me.comm, me.stream); });
  CHECK(device::findings().empty());
}

TEST_CASE("sums of small types are rounded at every step") {
  device::reset(3);
  auto const comms = all_ranks(3);
  std::vector<__nv_bfloat16*> data;
  std::vector<cudaStream_t> streams;
  float const values[] = {256, 1, 1};  // bfloat16 has no 257
  for (int r = 0; r < 3; ++r) {
    REQUIRE(cudaSetDevice(r) == cudaSuccess);
    data.push_back(device_copy(std::vector<__nv_bfloat16>{__float2bfloat16(values[r])}));
    streams.push_back(new_stream());
  }
  in_group([&] {
    for (std::size_t r = 0; r < 3; ++r)
      REQUIRE(ncclAllReduce(data[r], data[r], 1, ncclBfloat16, ncclSum, comms[r], streams[r]) == ncclSuccess);
  });
  for (auto* const each : streams) REQUIRE(cudaStreamSynchronize(each) == cudaSuccess);
  // One element belongs to the last rank: (256 + 1) + 1, each sum rounded to even.
  CHECK(__bfloat162float(host_copy(data[0], 1).front()) == 256);
}

TEST_CASE("nothing is launched before the group ends, and nothing of a group with an error") {
  device::reset(2);
  auto const ranks = ranks_with_buffers(2);
  REQUIRE(ncclGroupStart() == ncclSuccess);
  REQUIRE(ncclGroupStart() == ncclSuccess);
  for (auto const& me : ranks)
    REQUIRE(ncclAllGather(me.send, me.receive, 1, ncclInt32, me.comm, me.stream) == ncclSuccess);
  REQUIRE(ncclGroupEnd() == ncclSuccess);  // the inner one
  finish(ranks);
  CHECK(host_copy(ranks[0].receive, 1).front() == -1);
  SECTION("and then it is") {
    REQUIRE(ncclGroupEnd() == ncclSuccess);
    finish(ranks);
    CHECK(host_copy(ranks[0].receive, 2) == std::vector<int>{0, 100});
  }
  SECTION("a wrong peer") {
    CHECK(ncclSend(ranks[0].send, 1, ncclInt32, 2, ranks[0].comm, ranks[0].stream) == ncclInvalidArgument);
    CHECK(ncclGroupEnd() == ncclInvalidArgument);
    finish(ranks);
    CHECK(host_copy(ranks[0].receive, 1).front() == -1);
  }
  SECTION("a send to oneself that nobody receives") {
    REQUIRE(ncclSend(ranks[0].send, 1, ncclInt32, 0, ranks[0].comm, ranks[0].stream) == ncclSuccess);
    CHECK(ncclGroupEnd() == ncclInvalidUsage);
  }
  SECTION("a stream of another device") {
    REQUIRE(ncclAllGather(ranks[0].send, ranks[0].receive, 1, ncclInt32, ranks[0].comm, ranks[1].stream) ==
            ncclSuccess);
    CHECK(ncclGroupEnd() == ncclUnhandledCudaError);
  }
  CHECK(ncclGroupEnd() == ncclInvalidUsage);
}

TEST_CASE("an injected failure of the end of a group ends it without launching") {
  device::reset(2);
  auto const ranks = ranks_with_buffers(2);
  device::fail_call("ncclGroupEnd", 1, ncclSystemError);
  REQUIRE(ncclGroupStart() == ncclSuccess);
  REQUIRE(ncclSend(ranks[0].send, 1, ncclInt32, 1, ranks[0].comm, ranks[0].stream) == ncclSuccess);
  CHECK(ncclGroupEnd() == ncclSystemError);
  finish(ranks);
  CHECK(ncclGroupEnd() == ncclInvalidUsage);
}

TEST_CASE("tasks of one group may not touch the same memory") {
  device::reset(2);
  auto const ranks = ranks_with_buffers(2);
  in_group([&] {
    for (int r = 0; r < 2; ++r) {
      auto const& me = ranks[static_cast<std::size_t>(r)];
      REQUIRE(ncclSend(me.send, 2, ncclInt32, 1 - r, me.comm, me.stream) == ncclSuccess);
      REQUIRE(ncclRecv(r == 0 ? me.send + 1 : me.receive, 2, ncclInt32, 1 - r, me.comm, me.stream) ==
              ncclSuccess);
    }
  });
  finish(ranks);
  CHECK(device::findings().size() == 1);
}

TEST_CASE("a group on several streams begins after all of them and holds them all up") {
  device::reset(2);
  auto const ranks = ranks_with_buffers(2);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  auto const second = new_stream();
  {
    gate closed{second};
    in_group([&] {
      REQUIRE(ncclSend(ranks[0].send, 1, ncclInt32, 1, ranks[0].comm, ranks[0].stream) == ncclSuccess);
      REQUIRE(ncclRecv(ranks[0].receive, 1, ncclInt32, 1, ranks[0].comm, second) == ncclSuccess);
    });
    in_group([&] {
      REQUIRE(ncclSend(ranks[1].send, 1, ncclInt32, 0, ranks[1].comm, ranks[1].stream) == ncclSuccess);
      REQUIRE(ncclRecv(ranks[1].receive, 1, ncclInt32, 0, ranks[1].comm, ranks[1].stream) == ncclSuccess);
    });
    CHECK(stays_busy(ranks[0].stream));
  }
  REQUIRE(cudaStreamSynchronize(second) == cudaSuccess);
  CHECK(host_copy(ranks[0].receive, 1).front() == 100);
}

TEST_CASE("an abort ends the rank's own operations and lets nobody use the communicator again") {
  device::reset(2);
  auto const ranks = ranks_with_buffers(2);
  for (auto const& me : ranks)
    for (int i = 0; i < 2; ++i)
      REQUIRE(ncclRecv(me.receive, 1, ncclInt32, &me == &ranks[0] ? 1 : 0, me.comm, me.stream) ==
              ncclSuccess);
  CHECK(stays_busy(ranks[0].stream));
  REQUIRE(ncclCommAbort(ranks[0].comm) == ncclSuccess);
  CHECK(cudaStreamSynchronize(ranks[0].stream) == cudaSuccess);
  CHECK(stays_busy(ranks[1].stream));  // peers learn nothing
  CHECK(device::findings().empty());
  auto error = ncclSuccess;
  CHECK(ncclCommGetAsyncError(ranks[0].comm, &error) == ncclInvalidArgument);
  CHECK(device::findings().size() == 1);
  REQUIRE(ncclCommAbort(ranks[1].comm) == ncclSuccess);
}

TEST_CASE("an operation can be told to fail or to hang") {
  device::reset(2);
  auto const ranks = ranks_with_buffers(2);
  auto const gather = [&] {
    for (auto const& me : ranks)
      REQUIRE(ncclAllGather(me.send, me.receive, 1, ncclInt32, me.comm, me.stream) == ncclSuccess);
  };
  auto const code = GENERATE(ncclRemoteError, ncclSuccess);
  device::fail_communicator(1, 2, code);
  gather();
  finish(ranks);
  gather();
  CHECK(stays_busy(ranks[0].stream));
  CHECK(stays_busy(ranks[1].stream));
  CHECK(error_of(ranks[1].comm) == code);
  CHECK(error_of(ranks[0].comm) == ncclSuccess);
  abort_all(ranks);
  finish(ranks);
}

TEST_CASE("a communicator is split by color and ordered by key") {
  device::reset(4);
  auto const comms = all_ranks(4);
  auto const good = on_ranks(4, [&](int r) {
    ncclComm_t child = nullptr;
    auto const color = r == 3 ? NCCL_SPLIT_NOCOLOR : r % 2;
    if (ncclCommSplit(comms[static_cast<std::size_t>(r)], color, -r, &child, nullptr) != ncclSuccess)
      return false;
    if (r == 3) return child == nullptr;
    int rank = -1;
    int size = -1;
    (void)ncclCommUserRank(child, &rank);
    (void)ncclCommCount(child, &size);
    auto const as_expected = r == 1 ? size == 1 && rank == 0 : size == 2 && rank == (r == 2 ? 0 : 1);
    return as_expected && ncclCommDestroy(child) == ncclSuccess;
  });
  CHECK(good == all_good(4));
}

TEST_CASE("NCCL's operations are captured, and keep their order among those that are not") {
  device::reset(2);
  auto const ranks = ranks_with_buffers(2);
  std::vector<cudaGraphExec_t> execs;
  for (int r = 0; r < 2; ++r) {
    auto const& me = ranks[static_cast<std::size_t>(r)];
    REQUIRE(cudaStreamBeginCapture(me.stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    in_group([&] {
      REQUIRE(ncclSend(me.send, 1, ncclInt32, 1 - r, me.comm, me.stream) == ncclSuccess);
      REQUIRE(ncclRecv(me.receive, 1, ncclInt32, 1 - r, me.comm, me.stream) == ncclSuccess);
    });
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(me.stream, &graph) == cudaSuccess);
    execs.emplace_back();
    REQUIRE(cudaGraphInstantiate(&execs.back(), graph, 0) == cudaSuccess);
  }
  for (int i = 0; i < 3; ++i)
    for (std::size_t r = 0; r < 2; ++r) {
      auto const& me = ranks[r];
      REQUIRE(cudaGraphLaunch(execs[r], me.stream) == cudaSuccess);
      REQUIRE(ncclAllGather(me.send, me.receive + 2, 1, ncclInt32, me.comm, me.stream) == ncclSuccess);
    }
  finish(ranks);
  CHECK(host_copy(ranks[0].receive, 4) == std::vector<int>{100, -1, 0, 100});
  CHECK(device::findings().empty());
}

TEST_CASE("registration is checked and used buffers are known to be registered or not") {
  device::reset(2);
  auto const ranks = ranks_with_buffers(2);
  void* handle = nullptr;
  int host = 0;
  CHECK(ncclCommRegister(ranks[0].comm, &host, sizeof host, &handle) == ncclInvalidArgument);
  CHECK(ncclCommRegister(ranks[0].comm, ranks[0].send, 1000, &handle) == ncclInvalidArgument);
  REQUIRE(ncclCommRegister(ranks[0].comm, ranks[0].send, 16, &handle) == ncclSuccess);
  for (auto const& me : ranks)
    REQUIRE(ncclAllGather(me.send, me.receive, 1, ncclInt32, me.comm, me.stream) == ncclSuccess);
  finish(ranks);
  CHECK(device::unregistered_buffers(ranks[0].comm) == 1);  // receive
  CHECK(device::unregistered_buffers(ranks[1].comm) == 2);
  CHECK(ncclCommDeregister(ranks[0].comm, handle) == ncclSuccess);
  CHECK(ncclCommDeregister(ranks[0].comm, handle) == ncclInvalidArgument);
  // A window wants NCCL's own memory, and every rank.
  ncclWindow_t window = nullptr;
  CHECK(ncclCommWindowRegister(ranks[0].comm, ranks[0].send, 16, &window, NCCL_WIN_COLL_SYMMETRIC) ==
        ncclInvalidArgument);
  auto const good = on_ranks(2, [&](int r) {
    void* memory = nullptr;
    ncclWindow_t mine = nullptr;
    auto* const comm = ranks[static_cast<std::size_t>(r)].comm;
    return ncclMemAlloc(&memory, 4096) == ncclSuccess &&
           ncclCommWindowRegister(comm, memory, 4096, &mine, NCCL_WIN_COLL_SYMMETRIC) == ncclSuccess &&
           ncclCommWindowDeregister(comm, mine) == ncclSuccess && ncclMemFree(memory) == ncclSuccess;
  });
  CHECK(good == all_good(2));
}

TEST_CASE("NCCL says which version it is, or which it is told to be") {
  device::reset(1);
  int version = 0;
  REQUIRE(ncclGetVersion(&version) == ncclSuccess);
  CHECK(version == NCCL_VERSION_CODE);
  device::report_nccl_version(21805);
  REQUIRE(ncclGetVersion(&version) == ncclSuccess);
  CHECK(version == 21805);
}
