// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What callers get wrong is told before anything is launched, in words that name the rank and the fix: the same object
//! works in the next call, on every rank.

#include "../support/catch.hpp"
#include "rank_outcomes.hpp"

#include <tpoverlap/tpoverlap.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

using namespace tpoverlap;
using namespace tpoverlap_test;
using namespace std::chrono_literals;

namespace {

constexpr int ranks = 2;
constexpr std::int64_t rows = 10;
constexpr std::int64_t inner = 4;
constexpr std::int64_t columns = 3;
using gemm = host::reference_gemm<float>;

// What one rank passes to one call; a mistake is made by changing it.
struct operands {
  matrix_view<float> x, w, y, gathered;
  std::vector<std::int64_t> shard_rows;
  float beta = 0;
  std::span<std::byte> workspace;
  row_range own;

  [[nodiscard]] call_options options() const { return {.shard_rows = shard_rows, .beta = beta}; }
  [[nodiscard]] matrix_view<float> in_workspace(std::int64_t row_count, std::int64_t column_count) const {
    return {reinterpret_cast<float*>(workspace.data()), row_count, column_count};
  }
};

// One large block, so that operands can be moved about in it; they have 100 elements of room on each side.
class slab {
 public:
  matrix_view<float> take(std::int64_t row_count, std::int64_t column_count) {
    next_ += 100;
    matrix_view<float> const taken{all_.view().data + next_, row_count, column_count};
    next_ += taken.size() + 100;
    return taken;
  }

 private:
  matrix<float> all_{1, 2000};
  std::int64_t next_ = 0;
};

struct mistake {
  std::string name;
  std::function<void(operands&)> make;
  std::vector<std::string> told;
};

// Every mistake is made first by all ranks and then by rank 1 only, each time followed by a right call.
template <class Call, class Check>
void make_mistakes(std::vector<mistake> const& mistakes, host::communicator& comm, operands const& right,
                   Call call, Check check) {
  std::string const me = "rank " + std::to_string(comm.rank()) + ":";
  for (mistake const& each : mistakes) {
    for (bool const all : {true, false}) {
      host::stream stream;
      if (all || comm.rank() == 1) {
        operands wrong = right;
        each.make(wrong);
        auto const told = text_thrown<usage_error>([&] { call(stream, wrong); });
        require(told != "", each.name + ": accepted");
        require(has(told, me), each.name + ": names no rank: " + told);
        for (auto const& part : each.told)
          require(has(told, part), each.name + ": " + told + " lacks " + part);
        require(stream.idle(), each.name + ": something was issued");
      }
      fill_nan(right.y);
      call(stream, right);
      comm.wait(stream);
      try {
        check();
      } catch (std::exception const& failure) {
        throw std::runtime_error{"after " + each.name + ": " + failure.what()};
      }
    }
  }
}

std::vector<mistake> const& row_count_mistakes() {
  static std::vector<mistake> const list{
      {"one row count for two ranks",
       [](operands& o) { o.shard_rows = {10}; },
       {"call_options::shard_rows has 1 entries for 2 ranks", "give one row count for each rank"}},
      {"three row counts for two ranks",
       [](operands& o) {
         o.shard_rows = {3, 3, 3};
       },
       {"has 3 entries for 2"}},
      {"a negative row count",
       [](operands& o) {
         o.shard_rows = {-1, 6};
       },
       {"rank 0's shard has -1 rows", "0 to 6", "largest_shard"}},
      {"a shard that is too large",
       [](operands& o) {
         o.shard_rows = {0, 7};
       },
       {"rank 1's shard has 7 rows", "built for 0 to 6", "larger `largest_shard`"}},
      {"too many rows together",
       [](operands& o) {
         o.shard_rows = {5, 6};
       },
       {"11 rows together", "built for 10", "build it for the largest call"}},
      {"row counts that do not fit the operands",
       [](operands& o) {
         o.shard_rows = {6, 4};
       },
       {"but has to be (", "call_options::shard_rows"}},
  };
  return list;
}

template <class Policy, bool Keep>
void gather_mistakes(std::vector<mistake> const& mistakes) {
  host::run_ranks<ranks>(
      [&](host::communicator& comm) {
        using object = overlap<Policy, world<ranks>, host::communicator, gemm>;
        gemm_shape const shape{.rows = rows, .inner = inner, .columns = columns, .largest_shard = 6};
        // Larger than needed, so that every operand has room in it.
        nan_bytes const workspace{object::workspace_bytes(shape) + 4096};
        object up{comm, {}, shape, workspace.span()};
        row_range const own = shards_of({}, rows, ranks)[static_cast<std::size_t>(comm.rank())];
        slab memory;
        operands const right{memory.take(own.count, inner),
                             memory.take(inner, columns),
                             memory.take(rows, columns),
                             memory.take(rows, inner),
                             {},
                             0,
                             workspace.span(),
                             own};
        fill(right.x, filling::integers, 1, own.first);
        fill(right.w, filling::integers, 2);
        make_mistakes(
            mistakes, comm, right,
            [&](host::stream& stream, operands const& o) {
              if constexpr (Keep) {
                up(stream, o.x, o.w, o.y, o.gathered, o.options());
              } else {
                up(stream, o.x, o.w, o.y, o.options());
              }
            },
            [&] {
              require_equal("y", right.y, [&](std::int64_t i, std::int64_t j) {
                double sum = 0;
                for (std::int64_t k = 0; k < inner; ++k)
                  sum += value(filling::integers, 1, i, k) * value(filling::integers, 2, k, j);
                return sum;
              });
            });
      },
      {.time_limit = 5s});
}

template <class Policy>
void reduction_mistakes(std::vector<mistake> const& mistakes) {
  host::run_ranks<ranks>(
      [&](host::communicator& comm) {
        using object = overlap<Policy, world<ranks>, host::communicator, gemm>;
        gemm_shape const shape{.rows = rows, .inner = inner, .columns = columns, .largest_shard = 6};
        nan_bytes const workspace{object::workspace_bytes(shape) + 4096};
        object down{comm, {}, shape, workspace.span()};
        row_range const own = shards_of({}, rows, ranks)[static_cast<std::size_t>(comm.rank())];
        slab memory;
        operands const right{memory.take(rows, inner),
                             memory.take(inner, columns),
                             memory.take(own.count, columns),
                             {},
                             {},
                             0,
                             workspace.span(),
                             own};
        fill(right.x, filling::integers, 1);
        fill(right.w, filling::integers, 2);
        make_mistakes(
            mistakes, comm, right,
            [&](host::stream& stream, operands const& o) { down(stream, o.x, o.w, o.y, o.options()); },
            [&] {
              require_equal("y", right.y, [&](std::int64_t i, std::int64_t j) {
                double sum = 0;
                for (std::int64_t k = 0; k < inner; ++k)
                  sum +=
                      2 * value(filling::integers, 1, own.first + i, k) * value(filling::integers, 2, k, j);
                return sum;
              });
            });
      },
      {.time_limit = 5s});
}

using ring_gather = producer_before_consumer<ring{.chunks = 2}>;
using slot_gather = producer_before_consumer<ring{.chunks = 2, .depth = 2}>;
using kept_gather = producer_before_consumer<direct{}, gather{.keep_gathered = true}>;
using ring_reduce = consumer_before_reduction<ring{.chunks = 2}>;
using bulk_reduce = consumer_before_reduction<pipeline{.chunks = 2}>;

}  // namespace

TEST_CASE("wrong row counts are told", "[bad_input]") {
  gather_mistakes<ring_gather, false>(row_count_mistakes());
  reduction_mistakes<ring_reduce>(row_count_mistakes());
}

TEST_CASE("operands of a gather that do not fit are told", "[bad_input]") {
  gather_mistakes<ring_gather, false>({
      {"x with a row too many", [](operands& o) { ++o.x.rows; }, {"x is (6, 4), but has to be (5, 4)"}},
      {"x with a column too few", [](operands& o) { --o.x.columns; }, {"x is (5, 3), but has to be (5, 4)"}},
      {"x with gaps", [](operands& o) { o.x.row_stride = 8; }, {"x has gaps", "row stride 8"}},
      {"x transposed",
       [](operands& o) {
         o.x = matrix_view<float>{o.x.data, 4, 5}.transposed();
       },
       {"x has gaps"}},
      {"x without memory", [](operands& o) { o.x.data = nullptr; }, {"x has no memory (null data)"}},
      {"w with a row too many", [](operands& o) { ++o.w.rows; }, {"w is (5, 3), but has to be (4, 3)"}},
      {"w with a column too few", [](operands& o) { --o.w.columns; }, {"w is (4, 2), but has to be (4, 3)"}},
      {"w without memory", [](operands& o) { o.w.data = nullptr; }, {"w has no memory"}},
      {"y with a row too few", [](operands& o) { --o.y.rows; }, {"y is (9, 3), but has to be (10, 3)"}},
      {"y with a column too many",
       [](operands& o) { ++o.y.columns; },
       {"y is (10, 4), but has to be (10, 3)"}},
      {"y without memory", [](operands& o) { o.y.data = nullptr; }, {"y has no memory"}},
      {"no operands at all",
       [](operands& o) { o.x = o.w = o.y = matrix_view<float>{}; },
       {"x is (0, 0), but has to be (5, 4)"}},
  });
}

TEST_CASE("operands of a gather that overlap are told", "[bad_input]") {
  gather_mistakes<ring_gather, false>({
      {"y on x",
       [](operands& o) { o.y.data = o.x.data; },
       {"y and x overlap in memory", "memory of their own"}},
      {"y ends in x", [](operands& o) { o.y.data = o.x.data - (rows * columns - 1); }, {"y and x overlap"}},
      {"y begins in x", [](operands& o) { o.y.data = o.x.data + 5 * 4 - 1; }, {"y and x overlap"}},
      {"y on w", [](operands& o) { o.y.data = o.w.data; }, {"y and the other operand overlap"}},
      {"y in the workspace",
       [](operands& o) { o.y = o.in_workspace(rows, columns); },
       {"y and the workspace overlap"}},
      {"x in the workspace",
       [](operands& o) { o.x = o.in_workspace(5, inner); },
       {"x and the workspace overlap"}},
  });
}

TEST_CASE("a weight that lies in the workspace is told", "[bad_input]") {
  gather_mistakes<slot_gather, false>({{"w in the workspace",
                                        [](operands& o) { o.w = o.in_workspace(inner, columns); },
                                        {"workspace overlap"}}});
}

TEST_CASE("operands of a gather that keeps what it gathers are told", "[bad_input]") {
  gather_mistakes<kept_gather, true>({
      {"gathered with a row too few",
       [](operands& o) { --o.gathered.rows; },
       {"gathered is (9, 4), but has to be"}},
      {"gathered with gaps", [](operands& o) { o.gathered.row_stride = 5; }, {"gathered has gaps"}},
      {"gathered without memory", [](operands& o) { o.gathered.data = nullptr; }, {"gathered has no memory"}},
      {"x at another place in gathered",
       [](operands& o) { o.x = o.gathered.row_range(o.own.first == 0 ? 1 : 0, 5); },
       {"x and gathered overlap"}},
      {"y on gathered", [](operands& o) { o.y.data = o.gathered.data + 8; }, {"y and gathered overlap"}},
  });
}

TEST_CASE("a weight that lies in the gathered matrix is told", "[bad_input]") {
  gather_mistakes<kept_gather, true>({{"w in gathered",
                                       [](operands& o) {
                                         o.w = {o.gathered.data + 4, inner, columns};
                                       },
                                       {"gathered overlap"}}});
}

TEST_CASE("operands of a reduction that do not fit are told", "[bad_input]") {
  std::vector<mistake> const mistakes{
      {"a with a row too few", [](operands& o) { --o.x.rows; }, {"a is (9, 4), but has to be (10, 4)"}},
      {"a with a column too many",
       [](operands& o) { ++o.x.columns; },
       {"a is (10, 5), but has to be (10, 4)"}},
      {"a without memory", [](operands& o) { o.x.data = nullptr; }, {"a has no memory"}},
      {"w with a row too few", [](operands& o) { --o.w.rows; }, {"w is (3, 3), but has to be (4, 3)"}},
      {"w without memory", [](operands& o) { o.w.data = nullptr; }, {"w has no memory"}},
      {"y with all rows", [](operands& o) { o.y.rows = rows; }, {"y is (10, 3), but has to be (5, 3)"}},
      {"y with a column too few", [](operands& o) { --o.y.columns; }, {"y is (5, 2), but has to be (5, 3)"}},
      {"y with gaps", [](operands& o) { o.y.row_stride = 4; }, {"y has gaps"}},
      {"y without memory", [](operands& o) { o.y.data = nullptr; }, {"y has no memory"}},
      {"beta", [](operands& o) { o.beta = 1; }, {"takes beta = 0 only", "add the old result afterwards"}},
      {"y on a", [](operands& o) { o.y.data = o.x.data + 7; }, {"y and a overlap"}},
      {"y on w", [](operands& o) { o.y.data = o.w.data + 11; }, {"y and w overlap"}},
      {"y in the workspace",
       [](operands& o) { o.y = o.in_workspace(5, columns); },
       {"y and the workspace overlap"}},
  };
  reduction_mistakes<ring_reduce>(mistakes);
  reduction_mistakes<bulk_reduce>(mistakes);
}

TEST_CASE("operands of a reduction that lie in the workspace are told", "[bad_input]") {
  reduction_mistakes<ring_reduce>({{"a in the workspace",
                                    [](operands& o) { o.x = o.in_workspace(rows, inner); },
                                    {"workspace overlap"}}});
}

TEST_CASE("a weight of a reduction that lies in the workspace is told", "[bad_input]") {
  reduction_mistakes<ring_reduce>({{"w in the workspace",
                                    [](operands& o) { o.w = o.in_workspace(inner, columns); },
                                    {"workspace overlap"}}});
}

TEST_CASE("column ranges of one matrix do not overlap", "[bad_input]") {
  host::run_ranks<ranks>([](host::communicator& comm) {
    using object = overlap<ring_gather, world<ranks>, host::communicator, gemm>;
    nan_bytes const workspace{object::workspace_bytes({rows, inner, columns})};
    object up{comm, {}, {rows, inner, columns}, workspace.span()};
    // w and y are side by side in one large matrix: not a mistake.
    matrix<float> both{rows, 2 * columns};
    matrix<float> x{5, inner};
    auto const y = both.view().column_range(0, columns);
    auto const w = both.view().row_range(0, inner).column_range(columns, columns);
    fill(x.view(), filling::integers, 1, 5 * comm.rank());
    fill(w, filling::integers, 2);
    host::stream stream;
    up(stream, x.view(), w, y);
    comm.wait(stream);
    require_equal("y", y, [&](std::int64_t i, std::int64_t j) {
      double sum = 0;
      for (std::int64_t k = 0; k < inner; ++k)
        sum += value(filling::integers, 1, i, k) * value(filling::integers, 2, k, j);
      return sum;
    });
  });
}

TEST_CASE("operands of side work that do not fit or overlap are told", "[bad_input]") {
  host::run_ranks<ranks>([](host::communicator& comm) {
    using object = overlap<independent_side_work<all_gather{}>, world<ranks>, host::communicator, gemm>;
    object work{comm, {}, {rows, inner}};
    struct side_operands {
      matrix_view<float> source, target, a, b, c;
    };
    slab memory;
    side_operands const right{memory.take(5, inner), memory.take(rows, inner), memory.take(6, 5),
                              memory.take(5, 7), memory.take(6, 7)};
    fill(right.source, filling::integers, 1, 5 * comm.rank());
    fill(right.a, filling::integers, 2);
    fill(right.b, filling::integers, 3);
    host::stream stream;
    auto const call = [&](side_operands const& o) { work(stream, o.source, o.target, o.a, o.b, o.c); };
    auto const told = [&](auto change, char const* part) {
      side_operands wrong = right;
      change(wrong);
      auto const text = text_thrown<usage_error>([&] { call(wrong); });
      require(has(text, part) && has(text, comm.rank() == 0 ? "rank 0:" : "rank 1:"),
              std::string{part} + " expected, told: " + text);
      call(right);
      comm.wait(stream);
      require_equal("target", right.target,
                    [](std::int64_t i, std::int64_t j) { return value(filling::integers, 1, i, j); });
      fill_nan(right.target);
    };
    told([](side_operands& o) { ++o.source.rows; }, "source is (6, 4), but has to be (5, 4)");
    told([](side_operands& o) { --o.target.rows; }, "target is (9, 4), but has to be (10, 4)");
    told([](side_operands& o) { o.source.data = nullptr; }, "source has no memory");
    told([](side_operands& o) { o.target.data = nullptr; }, "target has no memory");
    told([](side_operands& o) { o.target.row_stride = 6; }, "target has gaps");
    told([](side_operands& o) { --o.b.rows; }, "b is (4, 7), but has to be (5, 7)");
    told([](side_operands& o) { --o.a.rows; }, "a is (5, 5), but has to be (6, 5)");
    told([](side_operands& o) { --o.c.columns; }, "b is (5, 7), but has to be (5, 6)");
    told([](side_operands& o) { o.c.data = nullptr; }, "c has no memory");
    told([](side_operands& o) { o.c.data = o.a.data; }, "c and a overlap");
    told([](side_operands& o) { o.c.data = o.b.data; }, "c and b overlap");
    told([](side_operands& o) { o.c.data = o.target.data + 20; }, "c and what the collective writes overlap");
    told([](side_operands& o) { o.c.data = o.source.data + 3; }, "c and what the collective reads overlap");
    told([](side_operands& o) { o.a.data = o.target.data; }, "a and what the collective writes overlap");
    told([](side_operands& o) { o.b.data = o.target.data; }, "b and what the collective writes overlap");
    told([&](side_operands& o) { o.source.data = o.target.data + (comm.rank() == 0 ? 20 : 0); },
         "source and target overlap");
  });
}

TEST_CASE("a workspace that does not serve is told when the object is built", "[bad_input]") {
  auto const build = [](auto change, char const* part, char const* fix) {
    auto const outcomes = outcomes_of(ranks, {}, [&](host::communicator& comm) {
      using object = overlap<slot_gather, world<ranks>, host::communicator, gemm>;
      gemm_shape const shape{rows, inner, columns};
      std::size_t const needed = object::workspace_bytes(shape);
      nan_bytes const workspace{needed + 64};
      object const up{comm, {}, shape, change(workspace.span().first(needed))};
    });
    for (std::size_t r = 0; r < ranks; ++r) {
      auto const text = text_of<usage_error>(outcomes[r]);
      CAPTURE(r, text);
      CHECK(has(text, part));
      CHECK(has(text, fix));
      CHECK(has(text, "rank " + std::to_string(r) + ":"));
    }
  };
  using bytes = std::span<std::byte>;
  build([](bytes all) { return all.first(all.size() - 1); }, "but this schedule needs",
        "allocate workspace_bytes(shape)");
  build([](bytes) { return bytes{}; }, "the workspace has 0 bytes", "allocate workspace_bytes(shape)");
  build([](bytes all) { return bytes{all.data() + 8, all.size()}; }, "not aligned", "multiple of 16 bytes");
  build([](bytes all) { return bytes{all.data() + 1, all.size()}; }, "not aligned", "multiple of 16 bytes");
}

TEST_CASE("a largest shard that the even split exceeds is told", "[bad_input]") {
  auto const outcomes = outcomes_of(ranks, {.time_limit = 2s}, [](host::communicator& comm) {
    using object = overlap<ring_reduce, world<ranks>, host::communicator, gemm>;
    gemm_shape const shape{.rows = rows, .inner = inner, .columns = columns, .largest_shard = 2};
    // Room enough that the test itself stays within its memory.
    nan_bytes const workspace{object::workspace_bytes(shape) + 8192};
    object down{comm, {}, shape, workspace.span()};
    matrix<float> a{rows, inner}, w{inner, columns}, y{5, columns};
    host::stream stream;
    down(stream, a.view(), w.view(), y.view());  // shards of 5 rows, for which no slot has room
    comm.wait(stream);
  });
  for (auto const& each : outcomes) CHECK(has(text_of<usage_error>(each), "largest"));
}

TEST_CASE("a communicator of another size is told", "[bad_input]") {
  auto const outcomes = outcomes_of(3, {}, [](host::communicator& comm) {
    using object = overlap<ring_gather, world<2>, host::communicator, gemm>;
    nan_bytes const workspace{object::workspace_bytes({rows, inner, columns})};
    object const up{comm, {}, {rows, inner, columns}, workspace.span()};
  });
  for (std::size_t r = 0; r < 3; ++r) {
    auto const text = text_of<usage_error>(outcomes[r]);
    CAPTURE(r, text);
    CHECK(has(text, "rank " + std::to_string(r) +
                        ": the communicator has 3 ranks, but this object was built for "
                        "world<2>; use world<3>, or dispatch_world"));
  }
}

TEST_CASE("a negative size is told, and the others do not wait for ever", "[bad_input]") {
  auto const outcomes = outcomes_of(ranks, {.time_limit = 200ms}, [](host::communicator& comm) {
    using object = overlap<ring_gather, world<ranks>, host::communicator, gemm>;
    gemm_shape const shape{rows, comm.rank() == 0 ? -1 : inner, columns};
    nan_bytes const workspace{8192};
    object const up{comm, {}, shape, workspace.span()};
  });
  CHECK(has(text_of<usage_error>(outcomes[0]), "rank 0: inner is -1; sizes are not negative"));
  CHECK(has(text_of<timeout_error>(outcomes[1]), "rank 1: host_all_gather: waited 200 ms for rank 0"));
}

TEST_CASE("a negative size that ranks need not agree on is told, too", "[bad_input]") {
  auto const outcomes = outcomes_of(ranks, {.time_limit = 200ms}, [](host::communicator& comm) {
    using object = overlap<ring_gather, world<ranks>, host::communicator, gemm>;
    nan_bytes const workspace{8192};
    object const up{comm, {}, {rows, inner, -1}, workspace.span()};
  });
  for (auto const& each : outcomes) CHECK(has(text_of<usage_error>(each), "columns is -1"));
}
