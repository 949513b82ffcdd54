// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Tokens of side work that is joined later, moved, or dropped, and worlds whose size is known at run time.

#include "../support/catch.hpp"
#include "rank_outcomes.hpp"

#include <tpoverlap/tpoverlap.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

using namespace tpoverlap;
using namespace tpoverlap_test;
using namespace std::chrono_literals;

namespace {

using bulk_gather = independent_side_work<all_gather{}>;
using bulk_reduce = independent_side_work<reduce_scatter{}>;
using gemm = host::reference_gemm<float>;
using side = overlap<bulk_gather, world<2>, host::communicator, gemm>;

static_assert(std::is_nothrow_move_constructible_v<side::token> &&
              std::is_nothrow_move_assignable_v<side::token>);
static_assert(!std::is_copy_constructible_v<side::token> && !std::is_copy_assignable_v<side::token>);
static_assert(!std::is_move_constructible_v<side>, "a token points to its object");

constexpr std::int64_t rows = 7;
constexpr std::int64_t columns = 3;

// Operands of a gather beside a product.
struct operands {
  explicit operands(int rank, int ranks = 2)
      : own{shards_of({}, rows, ranks)[static_cast<std::size_t>(rank)]}, source{own.count, columns} {
    fill(source.view(), filling::integers, 1, own.first);
    fill(a.view(), filling::integers, 2);
    fill(b.view(), filling::integers, 3);
  }
  void check() const {
    require_equal("target", target.view(),
                  [](std::int64_t i, std::int64_t j) { return value(filling::integers, 1, i, j); });
    check_product();
  }
  void check_product() const {
    require_equal("c", c.view(), [](std::int64_t i, std::int64_t j) {
      double sum = 0;
      for (std::int64_t k = 0; k < 6; ++k)
        sum += value(filling::integers, 2, i, k) * value(filling::integers, 3, k, j);
      return sum;
    });
  }
  [[nodiscard]] side::token start(side& work, host::stream& in) {
    return work.start(in, source.view(), target.view(), a.view(), b.view(), c.view());
  }

  row_range own;
  matrix<float> source, target{rows, columns}, a{5, 6}, b{6, 4}, c{5, 4};
};

}  // namespace

TEST_CASE("side work is joined through its token", "[in_flight]") {
  host::run_ranks<2>([](host::communicator& comm) {
    operands on{comm.rank()};
    side work{comm, {}, {rows, columns}};
    host::stream stream;
    auto token = on.start(work, stream);
    require(token.pending(), "there is something to join");
    token.join(stream);
    require(!token.pending(), "joined once");
    token.join(stream);  // does nothing
    comm.wait(stream);
    on.check();
  });
}

TEST_CASE("a stream goes on without side work until it joins it", "[in_flight]") {
  std::atomic<bool> partner_may_start{false};
  host::run_ranks<2>([&](host::communicator& comm) {
    operands on{comm.rank()};
    side work{comm, {}, {rows, columns}};
    host::stream stream;
    if (comm.rank() == 1) partner_may_start.wait(false);
    auto token = on.start(work, stream);
    if (comm.rank() == 0) {
      comm.wait(stream);  // the product; the collective cannot have ended, as the partner has not called
      on.check_product();
      require(std::isnan(on.target.view()(rows - 1, 0)), "the partner's rows have not arrived");
      partner_may_start = true;
      partner_may_start.notify_all();
    }
    token.join(stream);
    comm.wait(stream);
    on.check();
  });
}

TEST_CASE("a token can be moved, and what it held is joined when it is assigned to", "[in_flight]") {
  host::run_ranks<2>([](host::communicator& comm) {
    operands first{comm.rank()};
    operands second{comm.rank()};
    side one{comm, {}, {rows, columns}};
    side two{comm, {}, {rows, columns}};
    host::stream stream;
    auto token = first.start(one, stream);
    auto moved = std::move(token);
    require(!token.pending() && moved.pending(), "moved");  // NOLINT(bugprone-use-after-move)
    token.join(stream);
    require(moved.pending(), "a token that was moved from joins nothing");
    moved = second.start(two, stream);  // joins the first
    comm.wait(stream);
    first.check();
    auto& same = moved;
    moved = std::move(same);
    require(moved.pending(), "assigned to itself");
    moved.join(stream);
    comm.wait(stream);
    second.check();
    auto again = first.start(one, stream);  // the object is free again
    again.join(stream);
    comm.wait(stream);
  });
}

TEST_CASE("a token that is dropped joins by itself", "[in_flight]") {
  host::run_ranks<2>(
      [](host::communicator& comm) {
        operands on{comm.rank()};
        side work{comm, {}, {rows, columns}};
        host::stream stream;
        { [[maybe_unused]] auto const token = on.start(work, stream); }
        comm.wait(stream);
        on.check();
        for (int i = 0; i < 5; ++i) {
          on.target.resize(rows, columns);
          std::optional<side::token> token{on.start(work, stream)};
          token.reset();
          comm.wait(stream);
          on.check();
        }
      },
      {.straggler_seed = 5, .straggler_max = 2ms});
}

TEST_CASE("joining on another stream orders all of the work before it", "[in_flight]") {
  host::run_ranks<2>([](host::communicator& comm) {
    operands on{comm.rank()};
    side work{comm, {}, {rows, columns}};
    host::stream started;
    host::stream other;
    started.enqueue([] { std::this_thread::sleep_for(50ms); });  // the product is late, too
    auto token = on.start(work, started);
    token.join(other);
    comm.wait(other);
    std::exception_ptr failure;
    try {
      on.check();
    } catch (...) {
      failure = std::current_exception();
    }
    comm.wait(started);
    if (failure) std::rethrow_exception(failure);
  });
}

TEST_CASE("an object takes no call while its side work is in flight", "[in_flight]") {
  host::run_ranks<2>([](host::communicator& comm) {
    operands on{comm.rank()};
    operands more{comm.rank()};
    side work{comm, {}, {rows, columns}};
    host::stream stream;
    auto token = on.start(work, stream);
    auto const refused = text_thrown<usage_error>([&] { (void)more.start(work, stream); });
    require(has(refused, "still in flight; join its token before the next call"), refused);
    require(has(refused, comm.rank() == 0 ? "rank 0" : "rank 1"), refused);
    auto const called = text_thrown<usage_error>([&] {
      work(stream, more.source.view(), more.target.view(), more.a.view(), more.b.view(), more.c.view());
    });
    require(has(called, "still in flight"), called);
    token.join(stream);
    comm.wait(stream);
    on.check();
    more.start(work, stream).join(stream);
    comm.wait(stream);
    more.check();
  });
}

TEST_CASE("side work runs beside other overlapped work on the same communicator", "[in_flight]") {
  host::run_ranks<3>(
      [](host::communicator& comm) {
        constexpr std::int64_t m = 12;
        using ring_gather = producer_before_consumer<ring{.chunks = 2}>;
        using up_type = overlap<ring_gather, world<3>, host::communicator, gemm>;
        using reduce_type = overlap<bulk_reduce, world<3>, host::communicator, tiles<float>>;
        nan_bytes const workspace{up_type::workspace_bytes({m, 4, 5})};
        up_type up{comm, {}, {m, 4, 5}, workspace.span()};
        reduce_type reduce{comm, {}, {m, 2}};
        matrix<float> x{4, 4}, w{4, 5}, y{m, 5}, partial{m, 2}, sum{4, 2};
        fill(x.view(), filling::integers, 1, 4 * comm.rank());
        fill(w.view(), filling::integers, 2);
        fill(partial.view(), filling::integers, 20 + static_cast<std::uint64_t>(comm.rank()));
        host::stream stream;
        for (int i = 0; i < 4; ++i) {
          auto token = reduce.start(stream, partial.view(), sum.view());
          up(stream, x.view(), w.view(), y.view());
          up(stream, x.view(), w.view(), y.view());
          token.join(stream);
          comm.wait(stream);
          require_equal("y", y.view(), [](std::int64_t row, std::int64_t column) {
            double all = 0;
            for (std::int64_t k = 0; k < 4; ++k)
              all += value(filling::integers, 1, row, k) * value(filling::integers, 2, k, column);
            return all;
          });
          require_equal("sum", sum.view(), [&](std::int64_t row, std::int64_t column) {
            double all = 0;
            for (std::uint64_t r = 0; r < 3; ++r)
              all += value(filling::integers, 20 + r, 4 * comm.rank() + row, column);
            return all;
          });
          fill_nan(y.view());
          fill_nan(sum.view());
        }
      },
      {.straggler_seed = 9, .straggler_max = 500us});
}

namespace {

template <class Policy, int P>
void gather_on(host::communicator& comm) {
  std::int64_t const m = 3 * P + 1;
  using object = overlap<Policy, world<P>, host::communicator, gemm>;
  nan_bytes const workspace{object::workspace_bytes({m, 4, 3})};
  object up{comm, {}, {m, 4, 3}, workspace.span()};
  row_range const own = shards_of({}, m, P)[static_cast<std::size_t>(comm.rank())];
  matrix<float> x{own.count, 4}, w{4, 3}, y{m, 3};
  fill(x.view(), filling::integers, 1, own.first);
  fill(w.view(), filling::integers, 2);
  host::stream stream;
  up(stream, x.view(), w.view(), y.view());
  comm.wait(stream);
  require_equal("y", y.view(), [](std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (std::int64_t k = 0; k < 4; ++k)
      sum += value(filling::integers, 1, i, k) * value(filling::integers, 2, k, j);
    return sum;
  });
}

template <class Policy, int P>
void reduce_on(host::communicator& comm) {
  std::int64_t const m = 3 * P + 1;
  using object = overlap<Policy, world<P>, host::communicator, gemm>;
  nan_bytes const workspace{object::workspace_bytes({m, 4, 3})};
  object down{comm, {}, {m, 4, 3}, workspace.span()};
  row_range const own = shards_of({}, m, P)[static_cast<std::size_t>(comm.rank())];
  matrix<float> a{m, 4}, w{4, 3}, y{own.count, 3};
  fill(a.view(), filling::integers, 10 + static_cast<std::uint64_t>(comm.rank()));
  fill(w.view(), filling::integers, 2);
  host::stream stream;
  down(stream, a.view(), w.view(), y.view());
  comm.wait(stream);
  require_equal("y", y.view(), [&](std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (std::uint64_t r = 0; r < P; ++r)
      for (std::int64_t k = 0; k < 4; ++k)
        sum += value(filling::integers, 10 + r, own.first + i, k) * value(filling::integers, 2, k, j);
    return sum;
  });
}

// Right up to 16 ranks, so that only a run-time proof can find what is wrong beyond.
struct wrong_from_17 {
  friend constexpr bool operator==(wrong_from_17 const&, wrong_from_17 const&) = default;
};
constexpr void emit(gather_builder& b, wrong_from_17 const&) {
  emit(b, ring{});
  if (b.ranks() > 16) b.consume(b.landed(0, 1, 0));  // a second time, into the same rows
  if (b.ranks() > 16) b.exchange(message_group{}.send(b.own(0), 1));
}

}  // namespace

TEST_CASE("a world size known at run time is dispatched to a compiled one", "[dispatch]") {
  int const ranks = GENERATE(1, 2, 4);
  host::run_ranks(ranks, [](host::communicator& comm) {
    int const size = dispatch_world<1, 2, 4>(comm.size(), [&]<class World>(World) {
      gather_on<producer_before_consumer<ring{}>, World::size>(comm);
      return World::size;
    });
    require(size == comm.size(), "the size that was asked for");
  });
  auto const refused = text_thrown<usage_error>(
      [] { dispatch_world<1, 2, 4>(3, [](auto) { throw std::runtime_error{"called"}; }); });
  CHECK(has(refused, "compiled for worlds of 1 2 4 ranks, but runs on 3"));
  CHECK(has(refused, "add 3 to the list"));
}

TEST_CASE("a refused dispatch names no rank, as it knows none", "[dispatch]") {
  int rank = 0;
  try {
    dispatch_world<1, 2, 4>(3, [](auto) {});
  } catch (usage_error const& failure) {
    rank = failure.rank();
  }
  CHECK(rank == -1);
}

TEST_CASE("a dispatched function may return nothing or a reference", "[dispatch]") {
  int called = 0;
  dispatch_world<2, 3>(3, [&](auto w) { called = decltype(w)::size; });
  CHECK(called == 3);
  int& same = dispatch_world<2, 3>(2, [&](auto) -> int& { return called; });
  CHECK(&same == &called);
}

TEST_CASE("twenty ranks are proven when the object is built, and run", "[dispatch][large]") {
  using forward = producer_before_consumer<ring{}>;
  using both = producer_before_consumer<ring{.chunks = 2, .way = direction::both}>;
  using sum = consumer_before_reduction<ring{.chunks = 2}>;
  static_assert(!schedule<forward, 20>::proven_at_compile_time &&
                schedule<forward, 16>::proven_at_compile_time);
  host::run_ranks<20>(
      [](host::communicator& comm) {
        gather_on<forward, 20>(comm);
        gather_on<both, 20>(comm);
        reduce_on<sum, 20>(comm);
      },
      {.time_limit = 60s});
}

TEST_CASE("a wrong schedule for twenty ranks is refused when the object is built", "[dispatch][large]") {
  using wrong = producer_before_consumer<wrong_from_17{}>;
  static_assert(schedule<wrong, 2>::verdict.verified());
  auto const outcomes = outcomes_of(20, {}, [](host::communicator& comm) { gather_on<wrong, 20>(comm); });
  for (std::size_t r = 0; r < outcomes.size(); ++r) {
    auto const text = text_of<schedule_error>(outcomes[r]);
    CAPTURE(r, text);
    CHECK(has(text, "rank " + std::to_string(r)));
    CHECK(has(text, "the schedule breaks the rule 'matching'"));
    CHECK(has(text, "explain_schedule"));
  }
}
