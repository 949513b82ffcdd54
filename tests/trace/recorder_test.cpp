// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What a recorder keeps, what it drops, and what it costs.

#include "../support/catch.hpp"
#include "findings.hpp"
#include "traced_run.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

using namespace tpoverlap;

namespace {

using recorder = trace::recorder<host::backend>;
using gather_ring = producer_before_consumer<ring{}>;

static_assert(recorder_for<recorder, host::stream>);
static_assert(has_timestamps<host::backend>);

struct timeless_backend {
  using stream = host::stream;
  using event = host::event;
  static void record(event& mark, stream& in) { host::backend::record(mark, in); }
  static void wait(stream& in, event const& mark) { host::backend::wait(in, mark); }
  static void copy(stream& in, float* to, float const* from, std::int64_t count) {
    host::backend::copy(in, to, from, count);
  }
  static void add(stream& in, float* to, float const* a, float const* b, std::int64_t count) {
    host::backend::add(in, to, a, b, count);
  }
};
static_assert(backend<timeless_backend> && !has_timestamps<timeless_backend>);

// Without a recorder nothing is kept and nothing is called.
static_assert(std::is_empty_v<recording<no_recorder>> && !std::is_empty_v<recording<recorder>>);
static_assert(!recorder_for<no_recorder, host::stream> && std::is_empty_v<no_recorder>);

struct failing_gemm : sleeping_gemm {
  void operator()(host::stream& on, matrix_view<float const>, matrix_view<float const>, matrix_view<float>,
                  float) const {
    on.enqueue([] { throw std::runtime_error{"this GEMM fails"}; });
  }
};

}  // namespace

TEST_CASE("the time is written in stream order", "[trace]") {
  std::int64_t at[3]{};
  std::atomic<bool> between{false};
  host::stream stream;
  host::backend::timestamp(stream, &at[0]);
  stream.enqueue([&] { between = at[0] != 0 && at[1] == 0; });
  host::backend::timestamp(stream, &at[1]);
  stream.enqueue([] { throw std::runtime_error{"failed"}; });
  host::backend::timestamp(stream, &at[2]);
  CHECK_THROWS_AS(stream.synchronize(), std::runtime_error);
  CHECK(between);
  CHECK(at[0] > 0);
  CHECK(at[1] >= at[0]);
  CHECK(at[2] >= at[1]);
}

TEST_CASE("calls beyond the room of a recorder are counted, not lost", "[trace]") {
  auto const events = traced<gather_ring, 2>(5, 2, {});
  CHECK(completeness_fault(events, schedule<gather_ring, 2>::program, 2).empty());
  CHECK(order_fault(events).empty());
  CHECK(std::ranges::all_of(events, [](auto const& each) { return each.dropped_calls == 3; }));
  CHECK_THROWS_AS(recorder{{.calls = 0}}, usage_error);
}

TEST_CASE("tiles are named by the rank that owns them", "[trace]") {
  auto const events = traced<gather_ring, 4>(1, 1, {});
  int gemms = 0;
  int exchanges = 0;
  for (auto const& each : events) {
    CAPTURE(each.rank, each.operation, each.action);
    CHECK(each.schedule_name == "producer_before_consumer");
    if (each.kind == operation_kind::fork) gemms = exchanges = 0;
    if (each.kind == operation_kind::join) CHECK((gemms == 4 && exchanges == 3));
    if (!is_gemm(each) && !each.communicates()) {
      CHECK((each.shard == -1 && each.chunk == -1));
      continue;
    }
    // The own shard is multiplied first, then those that arrive from ever farther back.
    int const hops = is_gemm(each) ? gemms++ : ++exchanges;
    CHECK(each.shard == (each.rank + 4 - hops) % 4);
    CHECK(each.chunk == 0);
    if (!is_gemm(each))
      CHECK(each.action.find("from rank " + std::to_string((each.rank + 3) % 4)) != std::string::npos);
  }
  for (auto const& each : traced<producer_before_consumer<blocking{}>, 2>(1, 1, {}))
    if (is_gemm(each)) CHECK((each.shard == -1 && each.chunk == 0));
}

TEST_CASE("one recorder serves several objects, tokens, and a warm-up", "[trace]") {
  std::vector<std::vector<trace::event>> of_ranks(2);
  std::vector<std::int64_t> dropped(2);
  host::run_ranks<2>([&](host::communicator& comm) {
    operands data{2};
    operands more{2};
    gemm_shape const shape{data.rows, width, width};
    recorder record{{.calls = 2}};
    host::stream stream;
    using side_policy = independent_side_work<all_gather{}>;
    overlap side{side_policy{}, world<2>{}, comm, tiles<float>{}, {data.rows, width}, {}, record};
    using gather_type = overlap<gather_ring, world<2>, host::communicator, sleeping_gemm, recorder>;
    std::vector<std::byte> workspace(gather_type::workspace_bytes(shape));
    gather_type up{gather_ring{}, world<2>{}, comm, sleeping_gemm{}, shape, workspace, record};

    for (int i = 0; i < 3; ++i) data.call(gather_ring{}, up, stream);
    comm.wait(stream);
    dropped[static_cast<std::size_t>(comm.rank())] = record.dropped_calls();
    record.clear();
    auto token =
        side.start(stream, {data.all.data(), shard_rows, width}, {data.one.data(), data.rows, width});
    more.call(gather_ring{}, up, stream);
    token.join(stream);
    comm.wait(stream);
    if (record.dropped_calls() != 0) throw std::runtime_error{"clear() keeps what was dropped"};
    of_ranks[static_cast<std::size_t>(comm.rank())] = record.events();
  });
  CHECK(dropped == std::vector<std::int64_t>{1, 1});
  for (auto const& events : of_ranks) {
    constexpr int side_count = schedule<independent_side_work<all_gather{}>, 2>::program.operation_count;
    constexpr int gather_count = schedule<gather_ring, 2>::program.operation_count;
    REQUIRE(events.size() == side_count + gather_count);
    for (std::size_t i = 0; i < events.size(); ++i) {
      CAPTURE(i);
      CHECK(events[i].schedule == (i < side_count ? 0 : 1));
      CHECK(events[i].call == 0);
      CHECK(events[i].dropped_calls == 0);
      CHECK(events[i].ended != trace::event::never);
    }
    // The token was joined behind the other object's call.
    CHECK(events[side_count - 1].kind == operation_kind::join);
    CHECK(events[side_count - 1].started >= events.back().ended);
  }
}

TEST_CASE("a call that failed has its times, too", "[trace]") {
  std::vector<trace::event> events;
  host::run_ranks<1>([&](host::communicator& comm) {
    operands data{1};
    gemm_shape const shape{data.rows, width, width};
    recorder record;
    host::stream stream;
    overlap<gather_ring, world<1>, host::communicator, failing_gemm, recorder> up{
        gather_ring{}, world<1>{}, comm, failing_gemm{}, shape, {}, record};
    data.call(gather_ring{}, up, stream);
    bool failed = false;
    try {
      comm.wait(stream);
    } catch (std::runtime_error const&) {
      failed = true;
    }
    if (failed) events = record.events();
  });
  CHECK_FALSE(events.empty());
  CHECK(order_fault(events).empty());
}
