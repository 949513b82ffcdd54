// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What users bring: a communicator with nothing but messages, a GEMM of ten lines, functors on tiles, a strategy.

#include "../support/catch.hpp"
#include "values.hpp"

#include <tpoverlap/tpoverlap.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

using namespace tpoverlap;
using namespace tpoverlap_test;

namespace {

// Stands for an engine's own kernel.
void engine_gemm(std::int64_t m, std::int64_t n, std::int64_t k, float const* a, std::int64_t lda,
                 float const* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = beta == 0 ? 0 : beta * c[i * ldc + j];
      for (std::int64_t l = 0; l < k; ++l) sum += a[i * lda + l] * b[l * ldb + j];
      c[i * ldc + j] = sum;
    }
  }
}

// [own_gemm begin]
struct own_gemm {
  using input_type = float;
  using output_type = float;

  void operator()(host::stream& in, matrix_view<float const> a, matrix_view<float const> b,
                  matrix_view<float> c, float beta) const {
    in.enqueue([=] {
      engine_gemm(c.rows, c.columns, a.columns, a.data, a.row_stride, b.data, b.row_stride, beta, c.data,
                  c.row_stride);
    });
  }
};
// [own_gemm end]

// [own_communicator begin]
/// All that a ring needs of a transport.
class own_communicator {
 public:
  using backend = host::backend;

  explicit own_communicator(host::communicator& transport) : transport_{&transport} {}

  [[nodiscard]] int rank() const { return transport_->rank(); }
  [[nodiscard]] int size() const { return transport_->size(); }
  host::stream& lane(int index) { return transport_->lane(index); }
  void exchange(int lane, std::span<message const> messages, call_site where) {
    transport_->exchange(lane, messages, where);
  }

 private:
  host::communicator* transport_;
};
// [own_communicator end]

static_assert(communicator<own_communicator>);
static_assert(!has_all_gather<own_communicator> && !has_reduce_scatter<own_communicator> &&
              !has_all_reduce<own_communicator> && !has_host_all_gather<own_communicator> &&
              !has_abort<own_communicator> && !has_bounded_wait<own_communicator> &&
              !has_registration<own_communicator>);

constexpr std::int64_t inner = 5;
constexpr std::int64_t columns = 4;

double product(std::int64_t row, std::int64_t column, std::uint64_t a_seed, std::uint64_t w_seed) {
  double sum = 0;
  for (std::int64_t k = 0; k < inner; ++k)
    sum += value(filling::integers, a_seed, row, k) * value(filling::integers, w_seed, k, column);
  return sum;
}

// With the real communicator, or with one that has messages only.
template <class Policy, int P, class Communicator = own_communicator>
void gather_with_own_parts() {
  constexpr std::int64_t rows = 5 * P + 2;
  host::run_ranks<P>([](host::communicator& real) {
    own_communicator messages{real};
    auto& comm = [&]() -> Communicator& {
      if constexpr (std::is_same_v<Communicator, own_communicator>) {
        return messages;
      } else {
        return real;
      }
    }();
    using object = overlap<Policy, world<P>, Communicator, own_gemm>;
    nan_bytes const workspace{object::workspace_bytes({rows, inner, columns})};
    object up{comm, {}, {rows, inner, columns}, workspace.span()};
    row_range const own = shards_of({}, rows, P)[static_cast<std::size_t>(comm.rank())];
    matrix<float> x{own.count, inner};
    matrix<float> w{inner, columns};
    matrix<float> y{rows, columns};
    fill(x.view(), filling::integers, 1, own.first);
    fill(w.view(), filling::integers, 2);
    host::stream stream;
    up(stream, x.view(), w.view(), y.view());
    real.wait(stream);
    require_equal("y", y.view(), [](std::int64_t i, std::int64_t j) { return product(i, j, 1, 2); });
    require_equal("x", x.view(), [&](std::int64_t i, std::int64_t j) {
      return value(filling::integers, 1, own.first + i, j);
    });
  });
}

template <class Policy, int P>
void reduce_with_own_parts() {
  constexpr std::int64_t rows = 5 * P + 2;
  constexpr bool everywhere = Policy::options.result == reduction_result::all_reduce;
  host::run_ranks<P>([](host::communicator& real) {
    own_communicator comm{real};
    using object = overlap<Policy, world<P>, own_communicator, own_gemm>;
    nan_bytes const workspace{object::workspace_bytes({rows, inner, columns})};
    object down{comm, {}, {rows, inner, columns}, workspace.span()};
    row_range const own =
        everywhere ? row_range{0, rows} : shards_of({}, rows, P)[static_cast<std::size_t>(comm.rank())];
    matrix<float> a{rows, inner};
    matrix<float> w{inner, columns};
    matrix<float> y{own.count, columns};
    fill(a.view(), filling::integers, static_cast<std::uint64_t>(10 + comm.rank()));
    fill(w.view(), filling::integers, static_cast<std::uint64_t>(50 + comm.rank()));
    host::stream stream;
    down(stream, a.view(), w.view(), y.view());
    real.wait(stream);
    require_equal("y", y.view(), [&](std::int64_t i, std::int64_t j) {
      double sum = 0;
      for (std::uint64_t r = 0; r < P; ++r) sum += product(own.first + i, j, 10 + r, 50 + r);
      return sum;
    });
  });
}

// A strategy of the user's own: the collective for everything, in the simplest words.
struct gather_at_once {
  friend constexpr bool operator==(gather_at_once const&, gather_at_once const&) = default;
};
constexpr void emit(gather_builder& b, gather_at_once const&) {
  b.all_gather(0, b.chunks());
  b.consume(b.gathered(0, 0, b.chunks()));
}

// Shards come straight from their owners, the farthest first, in one exchange.
struct farthest_first {
  int chunks = 1;
  friend constexpr bool operator==(farthest_first const&, farthest_first const&) = default;
};
constexpr void emit(gather_builder& b, farthest_first const&) {
  message_group all;
  for (int step = b.ranks() - 1; step > 0; --step)
    for (int c = 0; c < b.chunks(); ++c)
      all.send(b.own(c), b.back(step)).receive(b.landed(b.ranks() - 1 - step, step, c), step);
  b.exchange(all);
  for (int c = 0; c < b.chunks(); ++c) b.consume(b.own(c));
  for (int step = b.ranks() - 1; step > 0; --step)
    for (int c = 0; c < b.chunks(); ++c) b.consume(b.landed(b.ranks() - 1 - step, step, c));
  b.keep_own();
}

}  // namespace

TEST_CASE("a communicator with nothing but exchange runs every ring and direct gather", "[own_parts]") {
  gather_with_own_parts<producer_before_consumer<ring{}>, 1>();
  gather_with_own_parts<producer_before_consumer<ring{.chunks = 2}>, 3>();
  gather_with_own_parts<producer_before_consumer<ring{.chunks = 2, .way = direction::backward}>, 4>();
  gather_with_own_parts<producer_before_consumer<ring{.chunks = 3, .way = direction::both}>, 4>();
  gather_with_own_parts<producer_before_consumer<direct{.chunks = 2}>, 3>();
}

TEST_CASE("a communicator with nothing but exchange runs every ring and direct reduction", "[own_parts]") {
  constexpr reduction fused{.accumulate = accumulation::fused};
  constexpr reduction everywhere{.result = reduction_result::all_reduce};
  reduce_with_own_parts<consumer_before_reduction<ring{}>, 1>();
  reduce_with_own_parts<consumer_before_reduction<ring{.chunks = 2}>, 3>();
  reduce_with_own_parts<consumer_before_reduction<ring{.chunks = 2, .way = direction::both}>, 4>();
  reduce_with_own_parts<consumer_before_reduction<ring{.chunks = 2}, fused>, 3>();
  reduce_with_own_parts<consumer_before_reduction<ring{.way = direction::backward}, everywhere>, 3>();
  reduce_with_own_parts<consumer_before_reduction<direct{.chunks = 2}>, 4>();
  reduce_with_own_parts<consumer_before_reduction<direct{}, everywhere>, 3>();
}

TEST_CASE("a strategy of the user's own runs like a built-in one", "[own_parts]") {
  gather_with_own_parts<producer_before_consumer<farthest_first{.chunks = 2}>, 1>();
  gather_with_own_parts<producer_before_consumer<farthest_first{.chunks = 2}>, 2>();
  gather_with_own_parts<producer_before_consumer<farthest_first{.chunks = 2}>, 5>();
}

TEST_CASE("a strategy of the user's own may use collectives", "[own_parts]") {
  using policy = producer_before_consumer<gather_at_once{}>;
  gather_with_own_parts<policy, 2, host::communicator>();
  gather_with_own_parts<policy, 3, host::communicator>();
}

TEST_CASE("a strategy of the user's own may use collectives on one rank, too", "[own_parts]") {
  gather_with_own_parts<producer_before_consumer<gather_at_once{}>, 1, host::communicator>();
}

TEST_CASE("a consumer sees every row once, with its place", "[own_parts][tiles]") {
  constexpr int ranks = 3;
  constexpr std::int64_t rows = 20;
  host::run_ranks<ranks>([](host::communicator& comm) {
    using policy =
        producer_before_consumer<direct{.chunks = 2},
                                 gather{.dimension = gathered_dimension::contraction, .keep_gathered = true}>;
    using object = overlap<policy, world<ranks>, host::communicator, tiles<double>>;
    gemm_shape const shape{.rows = rows, .inner = 3, .largest_shard = rows};
    nan_bytes const workspace{object::workspace_bytes(shape)};
    object gather{comm, {}, shape, workspace.span()};
    std::vector<std::int64_t> const counts{0, 7, 4};
    auto const shards = shards_of(counts, 0, ranks);
    row_range const own = shards[static_cast<std::size_t>(comm.rank())];
    matrix<double> x{own.count, 3};
    matrix<double> gathered{11, 3};
    fill(x.view(), filling::integers, 4, own.first);
    std::vector<gathered_tile<double>> seen;
    host::stream stream;
    gather(stream, x.view(), [&](host::stream&, gathered_tile<double> tile) { seen.push_back(tile); },
           gathered.view(), {.shard_rows = counts});
    comm.wait(stream);
    std::vector<int> times(11);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      auto const& tile = seen[i];
      require(tile.first == (i == 0), "only the first tile is told to start an accumulation");
      require(tile.shard >= 0 &&
                  tile.rows == chunk_of(shards[static_cast<std::size_t>(tile.shard)], tile.chunk, {1, 1}),
              "a tile tells where it lies");
      require(tile.data.rows == tile.rows.count && tile.data.columns == 3, "a tile has its shape");
      for (std::int64_t row = tile.rows.first; row < tile.rows.end(); ++row)
        ++times[static_cast<std::size_t>(row)];
    }
    require(std::ranges::all_of(times, [](int n) { return n == 1; }), "every row is seen once");
    require_equal("gathered", gathered.view(),
                  [](std::int64_t i, std::int64_t j) { return value(filling::integers, 4, i, j); });
  });
}

TEST_CASE("a producer makes the rows of a sum", "[own_parts][tiles]") {
  constexpr int ranks = 3;
  constexpr std::int64_t rows = 19;
  auto const run = []<class Policy>(Policy) {
    host::run_ranks<ranks>([](host::communicator& comm) {
      using object = overlap<Policy, world<ranks>, host::communicator, tiles<float>>;
      gemm_shape const shape{.rows = rows, .columns = 3};
      nan_bytes const workspace{object::workspace_bytes(shape)};
      object sum{comm, {}, shape, workspace.span()};
      row_range const own = shards_of({}, rows, ranks)[static_cast<std::size_t>(comm.rank())];
      matrix<float> y{own.count, 3};
      std::vector<int> times(rows);
      std::uint64_t const seed = 30 + static_cast<std::uint64_t>(comm.rank());
      host::stream stream;
      sum(
          stream,
          [&](host::stream& on, partial_tile<float> tile) {
            for (std::int64_t row = tile.rows.first; row < tile.rows.end(); ++row)
              ++times[static_cast<std::size_t>(row)];
            on.enqueue([tile, seed] {
              for (std::int64_t i = 0; i < tile.rows.count; ++i)
                for (std::int64_t j = 0; j < 3; ++j) {
                  auto const mine =
                      static_cast<float>(value(filling::integers, seed, tile.rows.first + i, j));
                  tile.data(i, j) = tile.accumulate ? tile.data(i, j) + mine : mine;
                }
            });
          },
          y.view());
      comm.wait(stream);
      require(std::ranges::all_of(times, [](int n) { return n == 1; }), "every row is asked for once");
      require_equal("y", y.view(), [&](std::int64_t i, std::int64_t j) {
        double all = 0;
        for (std::uint64_t r = 0; r < ranks; ++r) all += value(filling::integers, 30 + r, own.first + i, j);
        return all;
      });
    });
  };
  run(consumer_before_reduction<ring{.chunks = 2}>{});
  run(consumer_before_reduction<ring{.chunks = 2}, reduction{.accumulate = accumulation::fused}>{});
  run(consumer_before_reduction<pipeline{.chunks = 3}>{});
  run(consumer_before_reduction<direct{}>{});
}
