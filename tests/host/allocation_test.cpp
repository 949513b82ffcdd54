// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Nothing is allocated on the call path: not by the caller, not by a stream, not by a lane.

#include "../support/catch.hpp"
#include "../support/counted_new.hpp"
#include "rank_check.hpp"

#include <tpoverlap/blas.hpp>
#include <tpoverlap/host.hpp>

#include <atomic>
#include <cstdint>
#include <vector>

using namespace tpoverlap;

namespace {

// Waits for every rank without an allocation.
void meet(std::atomic<int>& arrived, int target) {
  ++arrived;
  arrived.notify_all();
  for (int now = arrived; now < target; now = arrived) arrived.wait(now);
}

}  // namespace

TEST_CASE("the counter counts", "[allocation]") {
  auto const before = allocations.load();
  ::operator delete(::operator new(10));  // unlike a new-expression, this may not be optimized away
  delete new host::event;                 // its shared state
  auto const counted = allocations.load() - before;
  CHECK(counted >= 2);
}

TEST_CASE("calls allocate nothing after the first use of a lane", "[allocation]") {
  std::atomic<int> arrived{0};
  std::atomic<std::uint64_t> during{0};
  host::run_ranks<3>([&](host::communicator& comm) {
    constexpr std::int64_t count = 500;
    std::vector<float> data(3 * count, 1.0F);
    std::vector<float> other(count);
    std::vector<float> result(count);
    std::vector<piece> const pieces{
        {data.data(), count}, {data.data() + count, count}, {data.data() + 2 * count, count}};
    message const group[] = {send_to((comm.rank() + 1) % 3, data.data(), count),
                             receive_from((comm.rank() + 2) % 3, other.data(), count)};
    host::stream compute;
    host::event issued;
    host::event done;
    matrix_view<float const> const a{other.data(), 20, 25};
    matrix_view<float const> const b{other.data(), 25, 20};
    matrix_view<float> const c{result.data(), 20, 20};
    auto const call = [&] {
      host::backend::copy(compute, result.data(), other.data(), count);
      host::backend::add(compute, result.data(), result.data(), other.data(), count);
      host::reference_gemm<float>{}(compute, a, b, c, 0);
      host::backend::record(issued, compute);
      host::backend::wait(comm.lane(1), issued);
      comm.exchange(1, group);
      comm.all_gather(1, data.data() + comm.rank() * count, pieces, element::float32);
      comm.reduce_scatter(1, pieces, result.data(), element::float32);
      comm.all_reduce(1, pieces, element::float32);
      host::backend::record(done, comm.lane(1));
      host::backend::wait(compute, done);
      comm.wait(compute);
    };
    call();
    meet(arrived, 3);
    auto const before = allocations.load();
    for (int i = 0; i < 50; ++i) call();
    meet(arrived, 6);
    if (comm.rank() == 0) during = allocations.load() - before;
    meet(arrived, 9);
  });
  CHECK(during == 0);
}
