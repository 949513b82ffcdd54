// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The tuned object: what it chooses, when it measures, what it keeps, and how it fails.

#include "../overlap/quick_compile.hpp"

#include "../overlap/rank_outcomes.hpp"
#include "../support/catch.hpp"
#include "../support/counted_new.hpp"
#include "scratch_folder.hpp"
#include "slow_gemm.hpp"

#include <tpoverlap/tuner.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

using namespace tpoverlap;
using namespace tpoverlap_test;
using namespace std::chrono_literals;

// A strategy before and after its author has changed it.
namespace before {
struct spiral {};
constexpr void emit(gather_builder& b, spiral const&) { emit(b, ring{}); }
constexpr void describe(policy_text& text, spiral const&) { text.begin("spiral"); }
}  // namespace before
namespace after {
struct spiral {};
constexpr void emit(gather_builder& b, spiral const&) { emit(b, blocking{}); }
constexpr void describe(policy_text& text, spiral const&) { text.begin("spiral"); }
}  // namespace after

namespace {

using ring1 = producer_before_consumer<ring{.chunks = 1}>;
using ring2 = producer_before_consumer<ring{.chunks = 2}>;
using choices = candidates<ring1, ring2>;
using object = tuned_overlap<choices, world<2>, host::communicator, slow_gemm>;
constexpr gemm_shape shape = gather_operands::shape;

tuning quick(std::string file = "", std::string tag = "") {
  return {.file = std::move(file), .tag = std::move(tag), .rounds = 4, .sample = 0us};
}

// Runs `f(comm, object, operands, stream)` on two ranks.
template <class F>
void on_two(tuning const& how, slow_gemm const& gemm, F f, host::communicator_options const& options = {}) {
  host::run_ranks<2>(
      [&](host::communicator& comm) {
        nan_bytes const workspace{object::workspace_bytes(shape)};
        object up{comm, gemm, shape, workspace.span(), how};
        gather_operands on{comm.rank()};
        host::stream stream;
        f(comm, up, on, stream);
        comm.wait(stream);
      },
      options);
}

void tune(object& up, gather_operands& on, host::stream& stream) {
  up.tune(stream, on.x.view(), on.w.view(), on.y.view());
}

void check_product(host::communicator& comm, object& up, gather_operands& on, host::stream& stream) {
  fill_nan(on.y.view());
  up(stream, on.x.view(), on.w.view(), on.y.view());
  comm.wait(stream);
  on.require_product();
}

// What a tuned object on both ranks throws when it is built.
template <class Tuning>
std::vector<std::exception_ptr> built_with(Tuning tuning_of, gemm_shape const& size = shape) {
  return outcomes_of(2, {}, [&](host::communicator& comm) {
    nan_bytes const workspace{object::workspace_bytes(size)};
    object const up{comm, {}, size, workspace.span(), tuning_of(comm.rank())};
  });
}

template <class Error>
void check_all_told(std::vector<std::exception_ptr> const& outcomes, std::string const& part) {
  for (std::size_t r = 0; r < outcomes.size(); ++r) {
    auto const text = text_of<Error>(outcomes[r]);
    CAPTURE(r, text);
    CHECK(has(text, part));
    CHECK(has(text, "rank " + std::to_string(r) + ": "));
  }
}

}  // namespace

TEST_CASE("overlap is chosen where it hides the wire, and kept", "[tuned]") {
  scratch_folder const folder;
  slow_gemm const gemm{.per_row = balanced_row};
  // Blocking takes three shards' times, the ring two.
  on_two(
      quick(folder.file()), gemm,
      [](auto& comm, object& up, auto& on, auto& stream) {
        require(!up.tuned() && up.chosen() == 0 && up.measured().empty(), "starts as blocking");
        check_product(comm, up, on, stream);
        tune(up, on, stream);
        require(up.tuned() && up.chosen() != 0, "chose " + std::to_string(up.chosen()));
        require(up.measured().size() == 3 && up.measured()[0].rounds_won == 0, "has measured");
        check_product(comm, up, on, stream);
      },
      balanced_link());
  auto const kept = tuning_file{folder.file()}.read().entries();
  REQUIRE(kept.size() == 1);
  CHECK(choices::find(kept[0].choice) > 0);
  CHECK(kept[0].nanoseconds < kept[0].blocking_nanoseconds);
  CHECK(has(kept[0].key, "class=producer_before_consumer candidates=3:"));
  CHECK(has(kept[0].key, " ranks=2 rows=64 inner=8 columns=4 largest_shard=0 input=float32 output=float32 "));
  CHECK(has(kept[0].key, "communicator=\"host, emulated link"));
  CHECK(has(kept[0].key, "gemm=\"slow\" tag=\"\" others=same"));

  // The next object finds it: no candidate is run.
  std::atomic<int> calls{0};
  on_two(
      quick(folder.file()), {.calls = &calls},
      [&](auto& comm, object& up, auto& on, auto& stream) {
        require(up.tuned() && up.chosen() == choices::find(kept[0].choice), "found");
        tune(up, on, stream);
        require(up.measured().empty(), "measured although the file knew");
        check_product(comm, up, on, stream);
      },
      balanced_link());
  // Two ranks, each with two shards in one or two chunks.
  CHECK(calls == 2 * 2 * choices::find(kept[0].choice));
}

TEST_CASE("what is too small to be cut is not cut", "[tuned]") {
  scratch_folder const folder;
  on_two(quick(folder.file()), {.per_call = 8ms}, [](auto& comm, object& up, auto& on, auto& stream) {
    tune(up, on, stream);
    require(up.tuned() && up.chosen() == 0, "chose " + std::to_string(up.chosen()));
    check_product(comm, up, on, stream);
  });
  auto const kept = tuning_file{folder.file()}.read().entries();
  REQUIRE(kept.size() == 1);
  CHECK(choices::find(kept[0].choice) == 0);
}

TEST_CASE("all ranks choose by the slowest of them", "[tuned]") {
  // To rank 0 alone the second candidate is the fastest, to rank 1 the third; together neither is.
  constexpr std::chrono::milliseconds pause[2][4] = {{20ms, 2ms, 40ms, 12ms}, {20ms, 40ms, 2ms, 6ms}};
  host::run_ranks<2>([&](host::communicator& comm) {
    host::stream stream;
    tuning const how = quick();
    auto const call = [&](int candidate) {
      auto const time = pause[comm.rank()][candidate];
      stream.enqueue([time] { std::this_thread::sleep_for(time); });
    };
    detail::measurement work{comm, stream, 4, how, call};
    auto const times = work.run();
    auto const all = detail::words_of_all(comm, std::vector<std::uint64_t>(times.begin(), times.end()));
    for (std::size_t i = 0; i < times.size(); ++i) require(all[i] == all[times.size() + i], "other numbers");
    for (std::size_t i = 0; i < 4; ++i) {
      require(times[i] >= 20'000'000 && times[4 + i] >= 40'000'000, "not the slowest rank's");
      require(times[8 + i] >= 40'000'000 && times[12 + i] >= 12'000'000, "not the slowest rank's");
    }
    std::vector<candidate_time> results(4);
    summarize(times, 4, results);
    require(choose(results, 4) == 3, "chose another");
  });
}

TEST_CASE("short calls are repeated within a round", "[tuned]") {
  auto const calls_with = [](std::chrono::microseconds sample) {
    std::atomic<int> calls{0};
    auto how = quick();
    how.sample = sample;
    on_two(how, {.per_call = 1ms, .calls = &calls},
           [](auto&, object& up, auto& on, auto& stream) { tune(up, on, stream); });
    return calls.load();
  };
  // Two ranks; blocking, ring1, ring2 issue 1, 2, 4 GEMMs; one first call, one for the calibration, four rounds.
  CHECK(calls_with(0us) == 2 * (1 + 2 + 4) * (1 + 1 + 4));
  CHECK(calls_with(100ms) > 2 * (1 + 2 + 4) * (1 + 1 + 4));
}

TEST_CASE("what a choice depends on has a line of its own", "[tuned]") {
  scratch_folder const folder;
  auto const lines = [&] { return tuning_file{folder.file()}.read().entries().size(); };
  auto const run = [&](tuning const& how, slow_gemm const& gemm,
                       host::communicator_options const& options = {}) {
    on_two(
        how, gemm,
        [](auto&, object& up, auto& on, auto& stream) {
          require(!up.tuned(), "not known");
          tune(up, on, stream);
        },
        options);
  };
  auto how = quick(folder.file());
  how.rounds = 1;
  run(how, {});
  CHECK(lines() == 1);
  run(how, {.identity = "another GEMM"});
  CHECK(lines() == 2);
  run(how, {}, {.link = {.gigabits_per_second = 1}});
  CHECK(lines() == 3);
  how.tag = "another machine";
  run(how, {});
  CHECK(lines() == 4);

  // Another list: its choice is none of this program's, or was made among others.
  host::run_ranks<2>([&](host::communicator& comm) {
    using reordered = tuned_overlap<candidates<ring2, ring1>, world<2>, host::communicator, slow_gemm>;
    nan_bytes const workspace{reordered::workspace_bytes(shape)};
    reordered up{comm, {}, shape, workspace.span(), how};
    require(!up.tuned(), "known to another list");
    gather_operands on{comm.rank()};
    host::stream stream;
    up.tune(stream, on.x.view(), on.w.view(), on.y.view());
  });
  CHECK(lines() == 5);

  // One rank of two has another GEMM.
  host::run_ranks<2>([&](host::communicator& comm) {
    nan_bytes const workspace{object::workspace_bytes(shape)};
    object const up{
        comm, {.identity = comm.rank() == 1 ? "another GEMM" : "slow"}, shape, workspace.span(), how};
    require(!up.tuned(), "known to ranks that are alike");
  });
}

TEST_CASE("a kept name that the list does not have is no choice", "[tuned]") {
  scratch_folder const folder;
  auto how = quick(folder.file());
  how.rounds = 1;
  auto const measure = [&] {
    bool known = true;
    on_two(how, {}, [&](auto& comm, object& up, auto& on, auto& stream) {
      if (comm.rank() == 0) known = up.tuned();
      tune(up, on, stream);
    });
    return !known;
  };
  CHECK(measure());
  CHECK(!measure());
  auto entry = tuning_file{folder.file()}.read().entries().at(0);
  entry.choice = "producer_before_consumer<spiral{}>";
  tuning_file{folder.file()}.keep(entry);
  CHECK(measure());
  CHECK(!measure());
}

TEST_CASE("a schedule that has changed is measured anew", "[tuned]") {
  scratch_folder const folder;
  auto how = quick(folder.file());
  how.rounds = 1;
  auto const known = [&]<class Strategy>(Strategy) {
    using list = candidates<producer_before_consumer<Strategy{}>>;
    bool found = false;
    host::run_ranks<2>([&](host::communicator& comm) {
      using spiral_object = tuned_overlap<list, world<2>, host::communicator, slow_gemm>;
      nan_bytes const workspace{spiral_object::workspace_bytes(shape)};
      spiral_object up{comm, {}, shape, workspace.span(), how};
      if (comm.rank() == 0) found = up.tuned();
      gather_operands on{comm.rank()};
      host::stream stream;
      up.tune(stream, on.x.view(), on.w.view(), on.y.view());
    });
    return found;
  };
  CHECK(!known(before::spiral{}));
  CHECK(known(before::spiral{}));
  CHECK(!known(after::spiral{}));
  CHECK(known(after::spiral{}));
}

TEST_CASE("a choice can be measured anew", "[tuned]") {
  scratch_folder const folder;
  auto how = quick(folder.file());
  on_two(
      how, {.per_row = balanced_row}, [](auto&, object& up, auto& on, auto& stream) { tune(up, on, stream); },
      balanced_link());
  how.measure_anew = true;
  on_two(
      how, {.per_call = 60ms},
      [](auto&, object& up, auto& on, auto& stream) {
        require(!up.tuned(), "will be measured");
        tune(up, on, stream);
        require(up.chosen() == 0, "cutting costs more than the wire by now");
        tune(up, on, stream);
      },
      balanced_link());
  auto const kept = tuning_file{folder.file()}.read().entries();
  REQUIRE(kept.size() == 1);
  CHECK(choices::find(kept[0].choice) == 0);
}

TEST_CASE("until it is tuned, the candidate that one starts with is in use", "[tuned]") {
  auto how = quick();
  how.start = 2;
  std::atomic<int> calls{0};
  on_two(how, {.calls = &calls}, [&](auto& comm, object& up, auto& on, auto& stream) {
    require(!up.tuned() && up.chosen() == 2, "starts with the third");
    check_product(comm, up, on, stream);
  });
  CHECK(calls == 2 * 4);
}

TEST_CASE("one rank has nothing to choose", "[tuned]") {
  scratch_folder const folder;
  host::run_ranks<1>([&](host::communicator& comm) {
    using alone = tuned_overlap<candidates<ring2>, world<1>, host::communicator, slow_gemm>;
    std::atomic<int> calls{0};
    nan_bytes const workspace{alone::workspace_bytes({4, 8, 4})};
    alone up{comm, {.calls = &calls}, {4, 8, 4}, workspace.span(), quick(folder.file())};
    require(up.tuned() && up.chosen() == 0, "blocking");
    matrix<float> x{4, 8}, w{8, 4}, y{4, 4};
    host::stream stream;
    up.tune(stream, x.view(), w.view(), y.view());
    require(calls == 0, "measured");
    up(stream, x.view(), w.view(), y.view());
    comm.wait(stream);
    require(calls == 1, "one GEMM");
  });
  CHECK(std::filesystem::is_empty(std::filesystem::path{folder.file()}.parent_path()));
}

TEST_CASE("a file that cannot be used is an error on every rank", "[tuned][errors]") {
  scratch_folder const folder;
  put(folder.file(), "tpoverlap tuning file, format 1\nnonsense\nend of 1\n");
  // Only rank 0's file counts; the others may not even have one.
  auto const outcomes =
      built_with([&](int rank) { return quick(rank == 0 ? folder.file() : "/no/such/file"); });
  check_all_told<tuning_file_error>(outcomes, "line 2 of the tuning file: its checksum does not fit");
  check_all_told<tuning_file_error>(outcomes, folder.file());
  for (auto const& each : outcomes) {
    try {
      std::rethrow_exception(each);
    } catch (tuning_file_error const& failure) {
      CHECK(failure.line() == 2);
    }
  }
  check_all_told<tuning_file_error>(
      built_with([&](int rank) { return quick(rank == 0 ? folder.file() : ""); }), "line 2");
  for (auto const& each : built_with([&](int rank) { return quick(rank == 0 ? "" : folder.file()); }))
    CHECK(!each);
}

TEST_CASE("a file that could not be written stops a measurement before it begins", "[tuned][errors]") {
  scratch_folder const folder;
  std::atomic<int> calls{0};
  auto const outcomes = outcomes_of(2, {}, [&](host::communicator& comm) {
    nan_bytes const workspace{object::workspace_bytes(shape)};
    object up{comm, {.calls = &calls}, shape, workspace.span(), quick(folder.file("nowhere/tuning.txt"))};
    gather_operands on{comm.rank()};
    host::stream stream;
    auto const told = text_thrown<tuning_file_error>([&] { tune(up, on, stream); });
    require(has(told, "make its folder") && has(told, "rank " + std::to_string(comm.rank()) + ": "), told);
    require(calls == 0 && !up.tuned() && up.chosen() == 0, "as it was");
    (void)detail::word_of_all(comm, 0);  // both have looked at the count
    check_product(comm, up, on, stream);
  });
  for (auto const& each : outcomes) CHECK(text_of<std::exception>(each) == "");
}

TEST_CASE("a choice that could not be kept is not made", "[tuned][errors]") {
  scratch_folder const folder;
  std::filesystem::create_directory(folder.file() + ".new");
  auto const outcomes = outcomes_of(2, {}, [&](host::communicator& comm) {
    nan_bytes const workspace{object::workspace_bytes(shape)};
    object up{comm, {}, shape, workspace.span(), quick(folder.file())};
    gather_operands on{comm.rank()};
    host::stream stream;
    auto const told = text_thrown<tuning_file_error>([&] { tune(up, on, stream); });
    require(has(told, "opening PATH.new failed"), told);
    require(!up.tuned() && up.measured().empty(), "as it was");
    check_product(comm, up, on, stream);
  });
  for (auto const& each : outcomes) CHECK(text_of<std::exception>(each) == "");
  CHECK(!std::filesystem::exists(folder.file()));
}

TEST_CASE("ranks that tune differently are told so", "[tuned][errors]") {
  auto const differ = [](auto change, std::string const& part) {
    check_all_told<usage_error>(built_with([&](int rank) {
                                  auto how = quick();
                                  if (rank == 1) change(how);
                                  return how;
                                }),
                                "rank 1 tunes with another " + part + " than rank 0;");
  };
  differ([](tuning& how) { how.rounds = 5; }, "tuning::rounds");
  differ([](tuning& how) { how.sample = 1us; }, "tuning::sample");
  differ([](tuning& how) { how.measure_anew = true; }, "tuning::measure_anew");
  differ([](tuning& how) { how.start = 1; }, "tuning::start");
  check_all_told<usage_error>(
      outcomes_of(2, {},
                  [](host::communicator& comm) {
                    using other = tuned_overlap<candidates<ring2>, world<2>, host::communicator, slow_gemm>;
                    nan_bytes const workspace{object::workspace_bytes(shape)};
                    if (comm.rank() == 0) {
                      object const up{comm, {}, shape, workspace.span()};
                    } else {
                      other const up{comm, {}, shape, workspace.span()};
                    }
                  }),
      "rank 1 tunes with another list of candidates than rank 0;");
}

TEST_CASE("tuning that makes no sense is refused on all ranks", "[tuned][errors]") {
  auto const refused = [](auto change, std::string const& part) {
    check_all_told<usage_error>(built_with([&](int) {
                                  auto how = quick();
                                  change(how);
                                  return how;
                                }),
                                part);
  };
  refused([](tuning& how) { how.rounds = 0; }, "tuning::rounds is 0; measure in 1 to 10000 rounds");
  refused([](tuning& how) { how.rounds = 10'001; }, "tuning::rounds is 10001");
  refused([](tuning& how) { how.sample = -1us; }, "tuning::sample is negative");
  refused([](tuning& how) { how.start = 3; },
          "tuning::start is 3; the candidates are numbered 0 (blocking) to 2");
  refused([](tuning& how) { how.start = -1; }, "tuning::start is -1");
}

TEST_CASE("the workspace is the largest that a candidate needs", "[tuned]") {
  constexpr auto bytes = []<class Policy>(Policy) {
    return overlap<Policy, world<2>, host::communicator, slow_gemm>::workspace_bytes(shape);
  };
  auto const largest = std::max({bytes(choices::policy<0>{}), bytes(ring1{}), bytes(ring2{})});
  CHECK(object::workspace_bytes(shape) == largest);
  REQUIRE(largest > 0);
  check_all_told<usage_error>(outcomes_of(2, {},
                                          [&](host::communicator& comm) {
                                            nan_bytes const workspace{largest - 1};
                                            object const up{comm, {}, shape, workspace.span()};
                                          }),
                              "but the candidates need up to " + std::to_string(largest));
}

TEST_CASE("operands that all ranks refuse end the measurement, not the communicator", "[tuned][errors]") {
  auto const outcomes = outcomes_of(2, {}, [](host::communicator& comm) {
    nan_bytes const workspace{object::workspace_bytes(shape)};
    object up{comm, {}, shape, workspace.span(), quick()};
    gather_operands on{comm.rank()};
    host::stream stream;
    auto const told =
        text_thrown<usage_error>([&] { up.tune(stream, on.x.view(), on.w.view(), on.y.top(3)); });
    require(has(told, "y is (3, 4), but has to be (64, 4)"), told);
    require(!up.tuned() && up.chosen() == 0, "as it was");
    tune(up, on, stream);
    check_product(comm, up, on, stream);
  });
  for (auto const& each : outcomes) CHECK(text_of<std::exception>(each) == "");
}

TEST_CASE("operands that one rank refuses end the measurement on all", "[tuned][errors]") {
  auto const started = std::chrono::steady_clock::now();
  auto const outcomes = outcomes_of(2, {.time_limit = 60s}, [](host::communicator& comm) {
    nan_bytes const workspace{object::workspace_bytes(shape)};
    object up{comm, {}, shape, workspace.span(), quick()};
    gather_operands on{comm.rank()};
    host::stream stream;
    up.tune(stream, on.x.view(), on.w.view(), on.y.top(comm.rank() == 1 ? 3 : gather_operands::rows));
  });
  CHECK(has(text_of<aborted_error>(outcomes[0]), "a measurement failed on rank 1"));
  CHECK(has(text_of<usage_error>(outcomes[1]), "y is (3, 4)"));
  CHECK(std::chrono::steady_clock::now() - started < 30s);  // nobody has waited for the time limit
}

TEST_CASE("a GEMM that fails while it is measured ends the measurement on all", "[tuned][errors]") {
  struct failing_gemm : slow_gemm {
    int fails_at = -1;
    void operator()(host::stream& in, matrix_view<float const> a, matrix_view<float const> b,
                    matrix_view<float> c, float beta) const {
      if (++*calls == fails_at) in.enqueue([] { throw std::runtime_error{"out of order"}; });
      slow_gemm{}(in, a, b, c, beta);
    }
  };
  for (int const fails_at : {1, 9}) {
    CAPTURE(fails_at);
    auto const outcomes = outcomes_of(2, {.time_limit = 60s}, [&](host::communicator& comm) {
      using failing = tuned_overlap<candidates<ring1>, world<2>, host::communicator, failing_gemm>;
      std::atomic<int> calls{0};
      nan_bytes const workspace{failing::workspace_bytes(shape)};
      failing up{
          comm, {{.calls = &calls}, comm.rank() == 1 ? fails_at : -1}, shape, workspace.span(), quick()};
      gather_operands on{comm.rank()};
      host::stream stream;
      up.tune(stream, on.x.view(), on.w.view(), on.y.view());
    });
    CHECK(text_of<std::exception>(outcomes[1]) == "out of order");
    CHECK(has(text_of<aborted_error>(outcomes[0]), "a measurement failed on rank 1"));
  }
}

TEST_CASE("a rank that does not come to the measurement is missed within the time limit", "[tuned][errors]") {
  auto const outcomes = outcomes_of(2, {.time_limit = 300ms}, [](host::communicator& comm) {
    nan_bytes const workspace{object::workspace_bytes(shape)};
    object up{comm, {}, shape, workspace.span(), quick()};
    gather_operands on{comm.rank()};
    host::stream stream;
    if (comm.rank() == 0) tune(up, on, stream);
  });
  CHECK(has(text_of<timeout_error>(outcomes[0]), "for rank 1"));
}

TEST_CASE("a tuned call allocates nothing", "[tuned][allocation]") {
  on_two(quick(), {}, [](auto& comm, object& up, auto& on, auto& stream) {
    tune(up, on, stream);
    auto const call = [&] { up(stream, on.x.view(), on.w.view(), on.y.view()); };
    for (int i = 0; i < 4; ++i) call();
    comm.wait(stream);
    auto const before = allocations_here;
    for (int i = 0; i < 24; ++i) call();
    auto const during = allocations_here - before;
    comm.wait(stream);
    require(during == 0, std::to_string(during) + " allocations");
  });
}
