// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The model of a machine: prices, played schedules, and what is recommended on them, much of it while compiling.

#include "../support/catch.hpp"

#include <tpoverlap/tuner.hpp>

#include <vector>

using namespace tpoverlap;

namespace {

// 100 GFLOP/s, 1 GB/s each way.
constexpr machine_model machine{.flops_per_second = 1e11,
                                .half_speed_rows = 8,
                                .link_bytes_per_second = 1e9,
                                .latency_seconds = 20e-6,
                                .memory_bytes_per_second = 1e10,
                                .launch_seconds = 5e-6,
                                .issue_seconds = 1e-6};

// GEMM time and wire time alike: 2 · columns / 1e11 a byte of x beside (P - 1) / P · 4 / 1e9.
constexpr gather_problem balanced{.ranks = 4, .shape = {.rows = 8192, .inner = 4096, .columns = 150}};
constexpr recommendation of_balanced = recommend(balanced, machine);
static_assert(of_balanced.strategy == strategy_kind::ring && of_balanced.chunks >= 2);
static_assert(of_balanced.speedup() > 1.6 && of_balanced.speedup() < 2);

// Too small to be cut: latency and launches are all there is.
constexpr gather_problem tiny{.ranks = 4, .shape = {.rows = 16, .inner = 32, .columns = 32}};
static_assert(recommend(tiny, machine).strategy == strategy_kind::blocking);
static_assert(recommend(tiny, machine).speedup() == 1);

// Nothing to hide: communication is less than 2 % of the whole.
constexpr gather_problem compute_bound{.ranks = 4, .shape = {.rows = 8192, .inner = 4096, .columns = 30'000}};
static_assert(recommend(compute_bound, machine).strategy == strategy_kind::blocking);

// One rank communicates nothing.
static_assert(recommend(gather_problem{.ranks = 1, .shape = balanced.shape}, machine).strategy ==
              strategy_kind::blocking);

constexpr reduction_problem balanced_reduction{.ranks = 4,
                                               .shape = {.rows = 8192, .inner = 150, .columns = 4096}};
constexpr recommendation of_reduction = recommend(balanced_reduction, machine);
static_assert(of_reduction.strategy != strategy_kind::blocking && of_reduction.speedup() > 1.5);
static_assert(recommend(reduction_problem{.ranks = 4, .shape = tiny.shape}, machine).strategy ==
              strategy_kind::blocking);

// Fused additions serialize a ring of one chunk, so that it takes chunks, or another strategy.
constexpr recommendation of_fused = recommend(
    reduction_problem{
        .ranks = 4, .shape = balanced_reduction.shape, .options = {.accumulate = accumulation::fused}},
    machine);
static_assert(of_fused.strategy != strategy_kind::ring || of_fused.chunks > 1);

// Gathered along the contraction, what is sent and multiplied is the same.
static_assert(recommend(gather_problem{.ranks = 4,
                                       .shape = {.rows = 4096, .inner = 8192, .columns = 150},
                                       .options = {.dimension = gathered_dimension::contraction}},
                        machine)
                  .blocking == of_balanced.blocking);

// More ranks, for compilers that count the steps of a constant expression.
static_assert(recommend(gather_problem{.ranks = 8, .shape = balanced.shape}, machine).chunks >= 1);

using choices =
    candidates<producer_before_consumer<ring{.chunks = 2}>, producer_before_consumer<ring{.chunks = 8}>,
               producer_before_consumer<pipeline{.chunks = 3}>>;
constexpr recommendation wanting(strategy_kind kind, int chunks) {
  return {.strategy = kind, .chunks = chunks, .ratio = {}, .predicted = {}, .blocking = {}};
}
static_assert(nearest_candidate<choices>(wanting(strategy_kind::ring, 1)) == 1);
static_assert(nearest_candidate<choices>(wanting(strategy_kind::ring, 4)) == 1);
static_assert(nearest_candidate<choices>(wanting(strategy_kind::ring, 5)) == 2);
static_assert(nearest_candidate<choices>(wanting(strategy_kind::pipeline, 8)) == 3);
static_assert(nearest_candidate<choices>(wanting(strategy_kind::direct, 2)) == 0);
static_assert(nearest_candidate<choices>(wanting(strategy_kind::blocking, 1)) == 0);

// Of candidates with as many chunks, the one that is graded as recommended; otherwise the first.
using graded_choices = candidates<producer_before_consumer<ring{.chunks = 4}>,
                                  producer_before_consumer<ring{.chunks = 4, .ratio = {2, 1}}>>;
static_assert(nearest_candidate<graded_choices>({.strategy = strategy_kind::ring,
                                                 .chunks = 4,
                                                 .ratio = {2, 1},
                                                 .predicted = {},
                                                 .blocking = {}}) == 2);
static_assert(nearest_candidate<graded_choices>(wanting(strategy_kind::ring, 4)) == 1);

static_assert(recommended_candidate<choices, 4>(tiny, machine) == 0);
static_assert(recommended_candidate<choices, 4>(balanced, machine) > 0);

// A tile of the GEMM and a message take one second each, everything else nothing: the critical path's units.
template <class Policy, int Ranks>
void check_against_critical_path() {
  constexpr program_view program = schedule<Policy, Ranks>::program;
  schedule_work const work{.rows = Ranks * program.chunks,
                           .flops_per_row = 1,
                           .row_bytes = {1, 1, 1},
                           .product_flops = Ranks * program.chunks,
                           .product_rows = Ranks * program.chunks};
  machine_model const units{.flops_per_second = 1, .link_bytes_per_second = 1, .links = 1e9};
  predicted_time const time = predict(program, work, units);
  CAPTURE(Ranks, program.chunks, program.operation_count);
  CHECK(time.seconds == schedule<Policy, Ranks>::path.longest.total());
  CHECK(time.gemm_seconds == schedule<Policy, Ranks>::path.serial.gemm_tiles);
  CHECK(time.link_seconds == schedule<Policy, Ranks>::path.serial.messages);
}

template <class Policy>
void check_worlds() {
  check_against_critical_path<Policy, 1>();
  check_against_critical_path<Policy, 2>();
  check_against_critical_path<Policy, 3>();
  check_against_critical_path<Policy, 4>();
}

predicted_time predicted(gather_problem const& problem, machine_model const& on) {
  return predict(schedule<producer_before_consumer<ring{.chunks = 2}>, 4>::program, problem.work(), on);
}

}  // namespace

TEST_CASE("with unit costs a played schedule takes as long as its critical path", "[predict]") {
  constexpr gather contraction{.dimension = gathered_dimension::contraction};
  constexpr reduction everywhere{.result = reduction_result::all_reduce};
  constexpr reduction fused{.accumulate = accumulation::fused};
  check_worlds<producer_before_consumer<blocking{}>>();
  check_worlds<producer_before_consumer<ring{.chunks = 3}>>();
  check_worlds<producer_before_consumer<ring{.chunks = 2, .way = direction::both}>>();
  check_worlds<producer_before_consumer<direct{.chunks = 2}, contraction>>();
  check_worlds<producer_before_consumer<pipeline{.chunks = 3}>>();
  check_worlds<consumer_before_reduction<blocking{}>>();
  check_worlds<consumer_before_reduction<ring{.chunks = 2}, fused>>();
  check_worlds<consumer_before_reduction<ring{.chunks = 2}, everywhere>>();
  check_worlds<consumer_before_reduction<direct{}>>();
  check_worlds<consumer_before_reduction<pipeline{.chunks = 2}>>();
  check_worlds<independent_side_work<all_gather{}>>();
  check_worlds<independent_side_work<all_reduce{}>>();
}

TEST_CASE("a blocking gather costs its collective and its GEMM", "[predict]") {
  auto const time =
      predict(schedule<producer_before_consumer<blocking{}>, 4>::program, balanced.work(), machine);
  double const shard_bytes = 2048.0 * 4096 * 4;
  double const wire = 5e-6 + 3 * (20e-6 + shard_bytes / 1e9);
  double const gemm = 5e-6 + (8192.0 + 8) * 2 * 4096 * 150 / 1e11;
  CHECK(time.link_seconds == Approx(wire));
  CHECK(time.gemm_seconds == Approx(gemm));
  CHECK(time.seconds == Approx(1e-6 + wire + gemm));
  CHECK(time.exposed() == Approx(time.seconds - gemm));
}

TEST_CASE("whatever costs more makes the call no shorter", "[predict]") {
  double const before = predicted(balanced, machine).seconds;
  auto const worse = [&](auto change) {
    machine_model other = machine;
    change(other);
    return predicted(balanced, other).seconds;
  };
  CHECK(worse([](machine_model& m) { m.flops_per_second /= 2; }) > before);
  CHECK(worse([](machine_model& m) { m.half_speed_rows *= 100; }) > before);
  CHECK(worse([](machine_model& m) { m.link_bytes_per_second /= 2; }) > before);
  CHECK(worse([](machine_model& m) { m.latency_seconds *= 1000; }) > before);
  CHECK(worse([](machine_model& m) { m.launch_seconds *= 1000; }) > before);
  CHECK(worse([](machine_model& m) { m.issue_seconds *= 10'000; }) > before);
  auto const reduction_time = [](double memory) {
    machine_model other = machine;
    other.memory_bytes_per_second = memory;
    return predict(schedule<consumer_before_reduction<direct{}>, 4>::program, balanced_reduction.work(),
                   other)
        .seconds;
  };
  CHECK(reduction_time(1e7) > reduction_time(1e10));
}

TEST_CASE("graded chunks leave less of a balanced GEMM exposed, as their ratio promises", "[predict]") {
  // A shard is multiplied in one second and sent in two.
  schedule_work const work{.rows = 2 * 15 * 16, .flops_per_row = 1, .row_bytes = {1, 1, 1}};
  machine_model const machine{.flops_per_second = 15 * 16, .link_bytes_per_second = 15 * 8};
  auto const exposed = [&]<chunk_ratio Ratio>() {
    using policy = producer_before_consumer<ring{.chunks = 4, .ratio = Ratio}>;
    return predict(schedule<policy, 2>::program, work, machine).seconds - 2;
  };
  CHECK(exposed.operator()<chunk_ratio{}>() == Approx(1.0 / 4));
  CHECK(exposed.operator()<chunk_ratio{2, 1}>() == Approx(1.0 / 15));
}

TEST_CASE("sending two ways at once takes links for both", "[predict]") {
  auto const time = [](double links) {
    machine_model other = machine;
    other.links = links;
    constexpr auto program = schedule<producer_before_consumer<ring{.way = direction::both}>, 3>::program;
    return predict(program, balanced.work(), other).link_seconds;
  };
  CHECK(time(1) == Approx(2 * time(2)).epsilon(0.01));
  CHECK(time(3) == Approx(time(2)));
}

TEST_CASE("what is played is shown in issue order, waits before what waits", "[predict]") {
  constexpr program_view program = schedule<producer_before_consumer<ring{.chunks = 2}>, 4>::program;
  std::vector<double> starts, ends;
  auto const time = play(program, balanced.work(), machine, [&](int i, double start, double end) {
    REQUIRE(i == static_cast<int>(starts.size()));
    starts.push_back(start);
    ends.push_back(end);
  });
  REQUIRE(static_cast<int>(starts.size()) == program.operation_count);
  CHECK(ends.back() == time.seconds);
  for (int i = 0; i < program.operation_count; ++i) {
    operation const& op = program.operations[i];
    for (int w = op.first_wait; w < op.first_wait + op.waits; ++w)
      CHECK(starts[static_cast<std::size_t>(i)] >= ends[static_cast<std::size_t>(program.waits[w])]);
  }
}

TEST_CASE("no recommendation is slower than blocking on the machine it is made for", "[recommend]") {
  for (int const ranks : {2, 3, 4}) {
    for (std::int64_t rows = 1; rows <= 65536; rows *= 8) {
      for (std::int64_t columns = 1; columns <= 4096; columns *= 16) {
        gather_problem const up{.ranks = ranks, .shape = {rows, 512, columns}};
        reduction_problem const down{.ranks = ranks, .shape = {rows, columns, 512}};
        for (auto const& each : {recommend(up, machine), recommend(down, machine)}) {
          CAPTURE(ranks, rows, columns, name_of(each.strategy), each.chunks);
          CHECK(each.predicted.seconds <= each.blocking.seconds);
          bool const blocks = each.strategy == strategy_kind::blocking;
          CHECK((blocks || each.speedup() > 1.02));
          CHECK(each.chunks <= (rows > ranks ? rows / ranks : 1));
        }
      }
    }
  }
}
