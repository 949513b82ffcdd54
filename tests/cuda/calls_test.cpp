// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What a call of an overlap object calls itself: as little as a loop written by hand would, and nothing that blocks or
//! allocates.
#include "policies.hpp"

#include "../support/counted_new.hpp"

#include <barrier>
#include <map>

using namespace cuda_test;

namespace {

using call_counts = std::map<std::string, std::uint64_t>;

call_counts counts_now() {
  call_counts result;
  for (auto const& [name, count] : device::all_calls()) result[name] = count;
  return result;
}

struct cost {
  call_counts calls;  // of all ranks
  std::uint64_t synchronizations = 0;
  std::uint64_t resources = 0;
  std::atomic<std::uint64_t> allocations{0};
};

/// Operands of either class on rank `me`.
struct operand_set {
  operand_set(cu::nccl_communicator const& comm, std::int64_t share, std::int64_t total)
      : part{comm.device(), share, inner},
        whole{comm.device(), total, inner},
        weight{comm.device(), columns, inner},
        all{comm.device(), total, columns},
        mine{comm.device(), share, columns} {}

  void fill(cu::stream_ref in) const {
    for (auto const* const each : {&part, &whole, &weight})
      each->fill(in, [](auto i, auto j) { return small_integer(1, i, j); });
  }

  device_matrix<float> part, whole, weight, all, mine;
};

struct call_gather {
  template <class Object>
  void operator()(Object& object, cu::stream_ref& in, operand_set const& with) const {
    object(in, with.part.read(), with.weight.read().transposed(), with.all.view(), call_options{});
  }
};

struct call_reduction {
  template <class Object>
  void operator()(Object& object, cu::stream_ref& in, operand_set const& with) const {
    object(in, with.whole.read(), with.weight.read().transposed(), with.mine.view(), call_options{});
  }
};

/// What one call costs all ranks together once everything has been called before.
template <class Policy, int P, class Call>
void measure(cost& found, bool replayed, Call call) {
  using object = overlap<Policy, world<P>, cu::nccl_communicator, cu::cublaslt_gemm<float>>;
  device::reset(P);
  allocation_is_foreign = device::inside_call;
  std::barrier together{P};
  call_counts before;
  check_all(on_ranks(P, {}, [&](cu::nccl_communicator& comm) {
    cu::stream stream{comm.device(), cu::stream_priority::normal};
    gemm_shape const shape{4 * P, inner, columns};
    device_matrix<std::byte> workspace{comm.device(), 1,
                                       static_cast<std::int64_t>(object::workspace_bytes(shape)) + 256};
    object work{comm, cu::cublaslt_gemm<float>{comm.device()}, shape, workspace.span()};
    cu::captured graph{work, comm};
    operand_set const operands{comm, 4, 4 * P};
    operands.fill(stream);
    cu::stream_ref& in = stream;
    auto const once = [&] {
      if (replayed) {
        call(graph, in, operands);
      } else {
        call(work, in, operands);
      }
    };
    for (int i = 0; i < 3; ++i) once();
    comm.wait(stream);
    together.arrive_and_wait();
    if (comm.rank() == 0) {
      before = counts_now();
      found.synchronizations = device::host_synchronizations();
      found.resources = device::resource_creations();
    }
    together.arrive_and_wait();
    auto const allocated = allocations_here;
    once();
    found.allocations += allocations_here - allocated;
    together.arrive_and_wait();
    if (comm.rank() == 0) {
      found.calls = counts_now();
      found.synchronizations = device::host_synchronizations() - found.synchronizations;
      found.resources = device::resource_creations() - found.resources;
    }
    together.arrive_and_wait();
    comm.wait(stream);
  }));
  for (auto const& [name, count] : before)
    if ((found.calls[name] -= count) == 0) found.calls.erase(name);
  // Asking for and choosing the device costs a few nanoseconds and depends on the caller.
  found.calls.erase("cudaGetDevice");
  found.calls.erase("cudaSetDevice");
}

void check_nothing_but(cost& found, call_counts const& exactly) {
  CHECK(found.synchronizations == 0);
  CHECK(found.resources == 0);
  CHECK(found.allocations == 0);
  found.calls.erase("cudaEventRecord");
  found.calls.erase("cudaStreamWaitEvent");
  CHECK(found.calls == exactly);
}

/// Records and waits are those of the schedule, which has no edge that another one implies.
template <class Policy, int P>
void check_events(cost& found) {
  constexpr program_view program = schedule<Policy, P>::program;
  CHECK(found.calls["cudaEventRecord"] == static_cast<std::uint64_t>(P * program.events));
  CHECK(found.calls["cudaStreamWaitEvent"] == static_cast<std::uint64_t>(P * program.wait_count));
}

}  // namespace

TEST_CASE("a ring AllGather on eight ranks: eight GEMMs, seven groups, two records and waits a step",
          "[cuda][calls]") {
  constexpr std::uint64_t ranks = 8;
  cost found;
  measure<producer_before_consumer<ring{}>, 8>(found, false, call_gather{});
  CHECK(found.calls["cudaEventRecord"] <= ranks * (2 * 7 + 2));
  CHECK(found.calls["cudaStreamWaitEvent"] <= ranks * (2 * 7 + 2));
  check_events<producer_before_consumer<ring{}>, 8>(found);
  check_nothing_but(found, {{"cublasLtMatmul", ranks * 8},
                            {"ncclGroupStart", ranks * 7},
                            {"ncclGroupEnd", ranks * 7},
                            {"ncclSend", ranks * 7},
                            {"ncclRecv", ranks * 7}});
}

TEST_CASE("a blocking AllGather: one GEMM and one collective", "[cuda][calls]") {
  cost found;
  measure<producer_before_consumer<blocking{}>, 4>(found, false, call_gather{});
  check_events<producer_before_consumer<blocking{}>, 4>(found);
  check_nothing_but(found, {{"cublasLtMatmul", 4}, {"ncclAllGather", 4}});
}

TEST_CASE("a ring ReduceScatter on four ranks: four GEMMs, three groups, three additions", "[cuda][calls]") {
  constexpr std::uint64_t ranks = 4;
  cost found;
  measure<consumer_before_reduction<ring{}>, 4>(found, false, call_reduction{});
  check_events<consumer_before_reduction<ring{}>, 4>(found);
  check_nothing_but(found, {{"cublasLtMatmul", ranks * 4},
                            {"launch", ranks * 3},
                            {"ncclGroupStart", ranks * 3},
                            {"ncclGroupEnd", ranks * 3},
                            {"ncclSend", ranks * 3},
                            {"ncclRecv", ranks * 3}});
}

TEST_CASE("a replay is one launch", "[cuda][calls]") {
  cost found;
  measure<producer_before_consumer<ring{}>, 4>(found, true, call_gather{});
  found.calls.erase("cudaStreamIsCapturing");  // the caller may capture, too
  check_nothing_but(found, {{"cudaGraphLaunch", 4}});
}

TEST_CASE("each wait of a call is needed, and its absence is found", "[cuda][calls]") {
  constexpr int ranks = 3;
  auto const shards = cuts(ranks).front();
  using policy = producer_before_consumer<ring{}>;
  auto const waits_of_two_calls = [&] {
    device::reset(ranks);
    run_gather<float, float, policy, ranks>(shards, {});
    return device::calls("cudaStreamWaitEvent");
  }();
  REQUIRE(waits_of_two_calls > 0);
  for (std::uint64_t k = 1; k <= waits_of_two_calls; ++k) {
    device::reset(ranks);
    device::skip_call("cudaStreamWaitEvent", k);
    (void)gather_outcomes<float, float, policy, ranks>(shards, {});
    CAPTURE(k);
    CHECK_FALSE(device::findings().empty());
  }
}
