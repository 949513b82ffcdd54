// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A call allocates nothing and waits for nobody; and how long a lane sleeps.

#include "../support/catch.hpp"
#include "../support/counted_new.hpp"
#include "transfers.hpp"

#include <tpoverlap/host/reference_gemm.hpp>
#include <tpoverlap/overlap.hpp>

using namespace tpoverlap_test;
using namespace std::chrono_literals;
using mpi::detail::pace;

TEST_CASE("the counter counts", "[allocation]") {
  auto const before = allocations.load();
  ::operator delete(::operator new(10));
  CHECK(allocations.load() - before >= 1);
}

TEST_CASE("calls allocate nothing after the first, on no thread", "[allocation]") {
  CHECK(faults({.segment_bytes = 1024}, [](mpi::communicator& comm) {
          dispatch_world<1, 2, 3, 4>(comm.size(), [&]<int P>(world<P>) {
            using gemm = host::reference_gemm<float>;
            using up_type =
                overlap<producer_before_consumer<ring{.chunks = 2}>, world<P>, mpi::communicator, gemm>;
            using down_type =
                overlap<consumer_before_reduction<pipeline{.chunks = 2}>, world<P>, mpi::communicator, gemm>;
            gemm_shape const shape{8 * P, 40, 30};
            std::vector<std::byte> room(up_type::workspace_bytes(shape) + down_type::workspace_bytes(shape) +
                                        256);
            auto const half = up_type::workspace_bytes(shape);
            up_type up{comm, {}, shape, std::span{room}.first(half)};
            down_type down{comm, {}, shape, std::span{room}.subspan(half)};
            std::vector<float> x(8 * 40, 1), all(8 * P * 40, 1), w(40 * 30, 1), y(8 * P * 30), z(8 * 30);
            std::vector<piece> pieces;
            for (int s = 0; s < P; ++s) pieces.push_back({y.data() + 8 * 30 * s, 8 * 30});
            host::stream stream;
            auto const call = [&] {
              up(stream, {x.data(), 8, 40}, {w.data(), 40, 30}, {y.data(), 8 * P, 30});
              down(stream, {all.data(), 8 * P, 40}, {w.data(), 40, 30}, {z.data(), 8, 30});
              comm.wait(stream);
              comm.all_reduce(1, pieces, element::float32);
              comm.wait(comm.lane(1));
            };
            for (int i = 0; i < 3; ++i) call();
            auto const before = allocations.load();
            for (int i = 0; i < 20; ++i) call();
            auto const during = allocations.load() - before;
            require(during == 0, std::to_string(during) + " allocations");
          });
        }) == "");
}

TEST_CASE("a call returns before any other rank has made it", "[allocation]") {
  if (world_size() == 1) return;
  CHECK(faults({.time_limit = 30s}, [](mpi::communicator& comm) {
          // Each rank in turn issues everything first, and the others begin when it says so.
          for (int first = 0; first < comm.size(); ++first) {
            messages_of group{comm.rank()};
            for (int step = 1; step < comm.size(); ++step) {
              group.send((comm.rank() + step) % comm.size(), 300'000);
              group.receive((comm.rank() + comm.size() - step) % comm.size(), 300'000);
            }
            std::vector<float> data(static_cast<std::size_t>(comm.size()) * 50'000, 1);
            std::vector<piece> pieces;
            for (int s = 0; s < comm.size(); ++s) pieces.push_back({data.data() + 50'000 * s, 50'000});
            auto const issue = [&] {
              comm.exchange(1, group.halves());
              comm.all_reduce(1, pieces, element::float32);
              comm.all_reduce(2, pieces, element::float32);
            };
            // A call that waited would never come to its end: the others have not even begun.
            if (comm.rank() == first) issue();
            meet();
            if (comm.rank() != first) issue();
            comm.wait(comm.lane(1));
            comm.wait(comm.lane(2));
            group.check("issued first by rank " + std::to_string(first));
          }
        }) == "");
}

namespace {

using time_point = std::chrono::steady_clock::time_point;

/// Lets a lane receive `segments` segments on a clock of its own, and returns how long its sleeps were in the end.
/// `came(slept, now)` says how many segments each sleep has brought.
template <class Came>
std::chrono::steady_clock::duration last_sleep(pace& lane, int segments, Came came) {
  constexpr std::size_t segment = 32768;
  time_point now{1s};
  lane.begin(now);
  std::chrono::steady_clock::duration slept{};
  // The last ones are left out: sleeps get short towards the end of an operation.
  for (int left = 2 * segments; left > segments;) {
    slept = lane.next_sleep(static_cast<std::size_t>(left) * segment, now);
    now += slept;
    for (int i = came(slept, now); i > 0; --i, --left) lane.moved(segment, now);
  }
  return slept;
}

}  // namespace

TEST_CASE("a lane that waits for its peers asks less and less often", "[pace]") {
  pace waiting{{.shortest = 50us, .longest = 2000us}, 8};
  time_point now{1s};
  waiting.begin(now);
  auto before = waiting.next_sleep(100, now);
  CHECK(before == 50us);
  for (int i = 0; i < 40; ++i) {
    now += before;
    waiting.moved(now);  // its own messages go, which says nothing of the peer's
    auto const sleep = waiting.next_sleep(100, now);
    CHECK(sleep >= before);
    before = sleep;
  }
  CHECK(before == 2000us);
}

TEST_CASE("a lane whose peer stops in the middle, or whose next peer is late, asks less and less often",
          "[pace]") {
  pace lane{{.shortest = 50us, .longest = 2000us}, 8};
  time_point now{1s};
  lane.begin(now);
  for (int i = 0; i < 8; ++i) {
    now += 100us;
    lane.moved(32768, now);
  }
  auto const left =
      GENERATE(std::size_t{100}, std::size_t{32768}, std::size_t{1} << 20, std::size_t{1} << 25);
  CAPTURE(left);
  // The rest is overdue after a tenth of a second at the latest; another second is waited for it in vain.
  auto const end = now + 1200ms;
  int asked = 0;
  auto sleep = 0us + lane.next_sleep(left, now);
  for (; now < end; now += sleep, ++asked) sleep = lane.next_sleep(left, now);
  CHECK(sleep == 2000us);
  CHECK(asked < 1000);  // of 24000 at the shortest
}

TEST_CASE("behind a wire, whose buffers go on meanwhile, a lane learns to sleep long", "[pace]") {
  pace lane{{.shortest = 50us, .longest = 2000us}, 8};
  time_point arrived{1s};
  auto const wire = [&](auto, time_point now) {
    int came = 0;
    for (; arrived + 1ms <= now; arrived += 1ms) ++came;
    return came;
  };
  CHECK(last_sleep(lane, 512, wire) >= 1000us);
}

TEST_CASE("where nothing goes on while a lane sleeps, its sleeps stay short", "[pace]") {
  pace lane{{.shortest = 50us, .longest = 2000us}, 8};
  int trials = 0;
  auto const one_each = [&](auto slept, time_point) {
    trials += slept > 100us ? 1 : 0;
    return 1;
  };
  (void)last_sleep(lane, 4096, one_each);
  CHECK(trials == 0);  // 100 us were tried, found to halve the rate, and given up
}

TEST_CASE("a lane finds its way back to short sleeps when they begin to pay", "[pace]") {
  pace lane{{.shortest = 50us, .longest = 2000us}, 8};
  time_point arrived{1s};
  REQUIRE(last_sleep(lane, 512, [&](auto, time_point now) {
            int came = 0;
            for (; arrived + 1ms <= now; arrived += 1ms) ++came;
            return came;
          }) >= 1000us);
  CHECK(last_sleep(lane, 8192, [](auto, time_point) { return 1; }) <= 100us);
}

TEST_CASE("a sleep lies within its limits, and is no longer the less is left", "[pace]") {
  mpi::polling const limits{.shortest = 20us, .longest = 5000us};
  pace moving{limits, 1000};
  time_point now{1s};
  moving.begin(now);
  moving.moved(1000, now);
  now += 2ms;
  moving.moved(1000, now);
  for (std::size_t left = 1; left < (std::size_t{1} << 40); left *= 4) {
    CAPTURE(left);
    auto const sleep = moving.next_sleep(left, now);
    CHECK(sleep >= limits.shortest);
    CHECK(sleep <= limits.longest);
    CHECK(moving.next_sleep(0, now) <= sleep);
  }
}

TEST_CASE("limits that leave no choice are kept to, and a lane never spins", "[pace]") {
  pace fixed{{.shortest = 700us, .longest = 700us}, 8};
  CHECK(last_sleep(fixed, 512, [](auto, time_point) { return 1; }) == 700us);
  pace eager{{.shortest = 0us, .longest = 0us}, 8};
  CHECK(last_sleep(eager, 64, [](auto, time_point) { return 1; }) >= 1us);
}
