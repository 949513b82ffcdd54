// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Ranks that die, come late, or fail in their GEMM. Every other rank gets a typed error in time, and none takes a
//! result for valid.

#include "../support/catch.hpp"
#include "rank_outcomes.hpp"

#include <tpoverlap/tpoverlap.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

using namespace tpoverlap;
using namespace tpoverlap_test;
using namespace std::chrono_literals;

namespace {

constexpr int ranks = 3;
constexpr gemm_shape shape{.rows = 12, .inner = 5, .columns = 4};
using clock_type = std::chrono::steady_clock;

// Fails in its task, or already when it is issued, from call `fails_at` on.
struct failing_gemm {
  using input_type = float;
  using output_type = float;
  enum class failure { none, in_task, when_issued };

  failure kind = failure::none;

  void operator()(host::stream& in, matrix_view<float const> a, matrix_view<float const> b,
                  matrix_view<float> c, float beta) const {
    if (kind == failure::when_issued) throw std::runtime_error{"this GEMM cannot be issued"};
    if (kind == failure::in_task) in.enqueue([] { throw std::runtime_error{"this GEMM went wrong"}; });
    host::reference_gemm<float>{}(in, a, b, c, beta);
  }
};

template <class Policy>
inline constexpr bool reduces = requires {
  Policy::options.reduce_in;
};

// One rank's object and operands.
template <class Policy>
struct participant {
  using object = overlap<Policy, world<ranks>, host::communicator, failing_gemm>;

  explicit participant(host::communicator& comm, failing_gemm::failure kind = failing_gemm::failure::none)
      : comm_{comm},
        workspace_{object::workspace_bytes(shape)},
        work_{comm, {kind}, shape, workspace_.span()},
        in_{reduces<Policy> ? 12 : 4, 5},
        w_{5, 4},
        y_{reduces<Policy> ? 4 : 12, 4} {
    std::int64_t const first = reduces<Policy> ? 0 : 4 * comm.rank();
    fill(in_.view(), filling::integers, 1, first);
    fill(w_.view(), filling::integers, 2);
  }
  ~participant() { settle(comm_); }

  void call() { work_(stream_, in_.view(), w_.view(), y_.view()); }
  void wait() { comm_.wait(stream_); }
  void check() {
    require_equal("y", y_.view(), [&](std::int64_t i, std::int64_t j) {
      double sum = 0;
      std::int64_t const row = reduces<Policy> ? 4 * comm_.rank() + i : i;
      for (std::int64_t k = 0; k < 5; ++k)
        sum += (reduces<Policy> ? ranks : 1) * value(filling::integers, 1, row, k) *
               value(filling::integers, 2, k, j);
      return sum;
    });
  }

  host::communicator& comm_;
  nan_bytes workspace_;
  object work_;
  matrix<float> in_, w_, y_;
  host::stream stream_;
};

using ring_gather = producer_before_consumer<ring{.chunks = 2}>;
using direct_gather = producer_before_consumer<direct{}>;
using bulk_gather = producer_before_consumer<pipeline{.chunks = 2}>;
using ring_reduce = consumer_before_reduction<ring{.chunks = 2}>;
using direct_reduce = consumer_before_reduction<direct{}>;
using bulk_reduce = consumer_before_reduction<pipeline{.chunks = 2}>;

template <class F>
void with_every_policy(F f) {
  SECTION("ring gather") { f(ring_gather{}); }
  SECTION("direct gather") { f(direct_gather{}); }
  SECTION("pipeline gather") { f(bulk_gather{}); }
  SECTION("ring reduction") { f(ring_reduce{}); }
  SECTION("direct reduction") { f(direct_reduce{}); }
  SECTION("pipeline reduction") { f(bulk_reduce{}); }
}

// A timeout or an abort that tells who, where, for whom, and what to do.
void check_names_everything(std::exception_ptr const& outcome, int rank, int dead) {
  try {
    REQUIRE(outcome);
    std::rethrow_exception(outcome);
  } catch (tpoverlap::error const& failure) {
    std::string const text = failure.what();
    CAPTURE(text);
    CHECK(failure.rank() == rank);
    CHECK(has(text, "rank " + std::to_string(rank) + ": "));
    CHECK(has(text, "(operation "));
    CHECK(has(text, "waited"));
    CHECK(has(text, "for rank "));
    CHECK(has(text, "look for the rank that did not call, or raise communicator_options::time_limit"));
    if (dynamic_cast<timeout_error const*>(&failure) != nullptr) {
      CHECK(failure.peer() >= 0);
      CHECK(failure.where().index >= 0);
      CHECK(failure.where().operation != std::string{});
    } else {
      CHECK(dynamic_cast<aborted_error const*>(&failure) != nullptr);
    }
    static_cast<void>(dead);
  }
}

}  // namespace

TEST_CASE("a rank that never calls ends every other rank's call in time", "[failure]") {
  with_every_policy([]<class Policy>(Policy) {
    std::atomic<int> valid{0};
    auto const start = clock_type::now();
    auto const outcomes = outcomes_of(ranks, {.time_limit = 300ms}, [&](host::communicator& comm) {
      participant<Policy> me{comm};
      if (comm.rank() == 2) {
        while (!comm.shared().aborted()) std::this_thread::sleep_for(1ms);
        return;
      }
      me.call();
      me.wait();
      ++valid;
    });
    auto const took = clock_type::now() - start;
    CHECK(valid == 0);
    CHECK(took < 10s);  // a busy machine is slow; a hang is not ten seconds
    CHECK(!outcomes[2]);
    check_names_everything(outcomes[0], 0, 2);
    check_names_everything(outcomes[1], 1, 2);
  });
}

TEST_CASE("a rank that is late but within the limit spoils nothing", "[failure]") {
  with_every_policy([]<class Policy>(Policy) {
    auto const outcomes = outcomes_of(ranks, {.time_limit = 20s}, [](host::communicator& comm) {
      participant<Policy> me{comm};
      for (int late = 0; late < ranks; ++late) {
        if (comm.rank() == late) std::this_thread::sleep_for(60ms);
        fill_nan(me.y_.view());
        me.call();
        me.wait();
        me.check();
      }
    });
    for (auto const& each : outcomes) CHECK(text_of<std::exception>(each) == "");
  });
}

TEST_CASE("a rank that comes after the limit is refused, as everybody else", "[failure]") {
  with_every_policy([]<class Policy>(Policy) {
    std::atomic<int> valid{0};
    auto const outcomes = outcomes_of(ranks, {.time_limit = 300ms}, [&](host::communicator& comm) {
      participant<Policy> me{comm};
      if (comm.rank() == 1) {
        while (!comm.shared().aborted()) std::this_thread::sleep_for(1ms);
      }
      me.call();
      me.wait();
      ++valid;
    });
    CHECK(valid == 0);
    check_names_everything(outcomes[0], 0, 1);
    check_names_everything(outcomes[2], 2, 1);
    auto const late = text_of<aborted_error>(outcomes[1]);
    CAPTURE(late);
    CHECK(has(late, "rank 1: "));
    CHECK(has(late, "aborted by rank "));
    CHECK(has(late, "waited 300 ms for rank "));
  });
}

TEST_CASE("after an abort an object takes no more calls, on any rank", "[failure]") {
  std::atomic<int> through{0};
  auto const outcomes = outcomes_of(ranks, {.time_limit = 10s}, [&](host::communicator& comm) {
    participant<ring_gather> me{comm};
    me.call();
    me.wait();
    me.check();
    ++through;  // so that the abort meets no rank in its first call
    while (through < ranks) std::this_thread::sleep_for(1ms);
    if (comm.rank() == 1) comm.abort("the loss is not finite");
    while (!comm.shared().aborted()) std::this_thread::sleep_for(1ms);
    for (int i = 0; i < 3; ++i) {
      auto const refused = text_thrown<aborted_error>([&] { me.call(); });
      require(has(refused, "aborted by rank 1: the loss is not finite"), "refused: " + refused);
    }
    auto const rebuilt = text_thrown<aborted_error>([&] { participant<ring_reduce> const other{comm}; });
    require(has(rebuilt, "the loss is not finite"), "a new object: " + rebuilt);
    me.wait();
  });
  for (std::size_t r = 0; r < outcomes.size(); ++r) {
    auto const text = text_of<aborted_error>(outcomes[r]);
    CAPTURE(text);
    CHECK(has(text, "rank " + std::to_string(r) + ": wait: aborted by rank 1: the loss is not finite"));
  }
}

TEST_CASE("a GEMM that fails while it runs fails its rank, and no sum that lacks it is valid", "[failure]") {
  auto const run = []<class Policy>(Policy) {
    std::atomic<int> valid{0};
    auto const outcomes = outcomes_of(ranks, {.time_limit = 300ms}, [&](host::communicator& comm) {
      participant<Policy> me{comm,
                             comm.rank() == 1 ? failing_gemm::failure::in_task : failing_gemm::failure::none};
      me.call();
      me.wait();
      ++valid;
    });
    CHECK(valid == 0);
    CHECK(text_of<std::runtime_error>(outcomes[1]) == "this GEMM went wrong");
    check_names_everything(outcomes[0], 0, 1);
    check_names_everything(outcomes[2], 2, 1);
  };
  SECTION("ring") { run(ring_reduce{}); }
  SECTION("direct") { run(direct_reduce{}); }
  SECTION("pipeline") { run(bulk_reduce{}); }
}

TEST_CASE("a GEMM that fails while it runs leaves no rank of a gather with a wrong result", "[failure]") {
  auto const run = []<class Policy>(Policy) {
    auto const outcomes = outcomes_of(ranks, {.time_limit = 300ms}, [&](host::communicator& comm) {
      participant<Policy> me{comm,
                             comm.rank() == 1 ? failing_gemm::failure::in_task : failing_gemm::failure::none};
      me.call();
      me.wait();
      me.check();  // what is handed out as valid has to be right
    });
    CHECK(text_of<std::runtime_error>(outcomes[1]) == "this GEMM went wrong");
    for (std::size_t r : {0U, 2U})
      if (outcomes[r]) CHECK(has(text_of<tpoverlap::error>(outcomes[r]), "rank "));
  };
  SECTION("ring") { run(ring_gather{}); }
  SECTION("direct") { run(direct_gather{}); }
  SECTION("pipeline") { run(bulk_gather{}); }
}

TEST_CASE("a rank whose stream has failed never takes a later result for valid", "[failure]") {
  auto const outcomes = outcomes_of(ranks, {.time_limit = 300ms}, [&](host::communicator& comm) {
    participant<ring_reduce> me{comm, comm.rank() == 1 ? failing_gemm::failure::in_task
                                                       : failing_gemm::failure::none};
    for (int i = 0; i < 3; ++i) {
      auto const failed = text_thrown<std::exception>([&] {
        me.call();
        me.wait();
      });
      require(failed != "", "call " + std::to_string(i) + " has to fail");
    }
  });
  for (auto const& each : outcomes) CHECK(text_of<std::exception>(each) == "");
}

TEST_CASE("a GEMM that cannot be issued fails its rank, and the others in time", "[failure]") {
  auto const run = []<class Policy>(Policy, bool others_fail) {
    std::atomic<int> valid{0};
    auto const outcomes = outcomes_of(ranks, {.time_limit = 300ms}, [&](host::communicator& comm) {
      participant<Policy> me{comm, comm.rank() == 1 ? failing_gemm::failure::when_issued
                                                    : failing_gemm::failure::none};
      me.call();
      me.wait();
      me.check();
      ++valid;
    });
    CHECK(text_of<std::runtime_error>(outcomes[1]) == "this GEMM cannot be issued");
    if (others_fail) {
      CHECK(valid == 0);
      check_names_everything(outcomes[0], 0, 1);
      check_names_everything(outcomes[2], 2, 1);
    }
  };
  SECTION("ring gather") { run(ring_gather{}, true); }
  SECTION("direct gather") { run(direct_gather{}, true); }
  SECTION("ring reduction") { run(ring_reduce{}, true); }
  SECTION("direct reduction") { run(direct_reduce{}, true); }
  SECTION("pipeline reduction") { run(bulk_reduce{}, true); }
}

TEST_CASE("a dead partner of side work is told through the join", "[failure]") {
  auto const outcomes = outcomes_of(ranks, {.time_limit = 300ms}, [](host::communicator& comm) {
    overlap<independent_side_work<all_reduce{}>, world<ranks>, host::communicator, tiles<float>> work{
        comm, {}, {9, 4}};
    matrix<float> shared{9, 4};
    host::stream stream;
    if (comm.rank() == 0) {
      while (!comm.shared().aborted()) std::this_thread::sleep_for(1ms);
      return;
    }
    auto token = work.start(stream, shared.view());
    settle(comm);
    token.join(stream);
    comm.wait(stream);
  });
  CHECK(!outcomes[0]);
  for (int r : {1, 2}) {
    auto const text = text_of<tpoverlap::error>(outcomes[static_cast<std::size_t>(r)]);
    CAPTURE(text);
    CHECK(has(text, "rank " + std::to_string(r) + ": "));
    CHECK(has(text, "all_reduce (operation "));
  }
}

TEST_CASE("every rank is refused what a GEMM says it cannot run, before anything is launched", "[failure]") {
  host::run_ranks<ranks>([](host::communicator& comm) {
    struct picky_gemm : host::reference_gemm<float> {
      [[nodiscard]] static char const* can_run(matrix_view<float const>, matrix_view<float const> b,
                                               matrix_view<float>) {
        return b.row_stride == 4 ? nullptr : "b has to be packed; pack it";
      }
    };
    using object = overlap<ring_gather, world<ranks>, host::communicator, picky_gemm>;
    nan_bytes const workspace{object::workspace_bytes(shape)};
    object up{comm, {}, shape, workspace.span()};
    matrix<float> x{4, 5}, w{5, 8}, y{12, 4};
    fill(x.view(), filling::integers, 1);
    fill(w.view(), filling::integers, 2);
    host::stream stream;
    auto const refused =
        text_thrown<usage_error>([&] { up(stream, x.view(), w.view().column_range(0, 4), y.view()); });
    require(has(refused, "rank " + std::to_string(comm.rank()) + ": b has to be packed; pack it"), refused);
    require(stream.idle(), "nothing was issued");
    up(stream, x.view(), {w.view().data, 5, 4}, y.view());
    comm.wait(stream);
  });
}
