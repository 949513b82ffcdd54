// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A call allocates nothing with a recorder attached, whether or not there is room for it.

#include "../support/catch.hpp"
#include "../support/counted_new.hpp"
#include "traced_run.hpp"

#include <atomic>
#include <cstdint>

namespace {

struct instant_gemm : sleeping_gemm {
  void operator()(tpoverlap::host::stream&, tpoverlap::matrix_view<float const>,
                  tpoverlap::matrix_view<float const>, tpoverlap::matrix_view<float>, float) const {}
};

// Waits for every rank without an allocation.
void meet(std::atomic<int>& arrived, int target) {
  ++arrived;
  arrived.notify_all();
  for (int now = arrived; now < target; now = arrived) arrived.wait(now);
}

}  // namespace

using namespace tpoverlap;

namespace {

// Allocations of `calls` calls on two ranks, with room for `kept`, after a first one that is not counted.
template <class Policy>
std::uint64_t allocations_of(int calls, int kept) {
  std::atomic<int> arrived{0};
  std::uint64_t during = 0;
  host::run_ranks<2>([&](host::communicator& comm) {
    operands data{2};
    using recorder = trace::recorder<host::backend>;
    using overlapped = overlap<Policy, world<2>, host::communicator, instant_gemm, recorder>;
    auto const shape = operands::shape(Policy{}, data.rows);
    std::vector<std::byte> workspace(overlapped::workspace_bytes(shape));
    recorder record{{.calls = kept}};
    host::stream stream;
    overlapped work{Policy{}, world<2>{}, comm, instant_gemm{}, shape, workspace, record};
    auto const call = [&] {
      data.call(Policy{}, work, stream);
      comm.wait(stream);
    };
    call();
    meet(arrived, 2);
    auto const before = allocations.load();
    for (int i = 0; i < calls; ++i) call();
    meet(arrived, 4);
    if (comm.rank() == 0) during = allocations.load() - before;
    meet(arrived, 6);
  });
  return during;
}

}  // namespace

TEST_CASE("the counter counts", "[allocation]") {
  auto const before = allocations.load();
  ::operator delete(::operator new(10));
  CHECK(allocations == before + 1);
}

TEMPLATE_TEST_CASE("recording allocates nothing on the call path", "[allocation]",
                   producer_before_consumer<ring{.chunks = 2}>, consumer_before_reduction<pipeline{}>,
                   independent_side_work<all_reduce{}>) {
  CHECK(allocations_of<TestType>(20, 30) == 0);
  CHECK(allocations_of<TestType>(20, 5) == 0);
}
