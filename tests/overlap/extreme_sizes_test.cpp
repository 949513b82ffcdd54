// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Dimensions of nothing, and operands of terabytes, which nobody allocates: only addresses and sizes are looked at.

#include "../support/catch.hpp"
#include "values.hpp"

#include <tpoverlap/tpoverlap.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

using namespace tpoverlap;
using namespace tpoverlap_test;

namespace {

using gemm = host::reference_gemm<float>;
using ring_gather = producer_before_consumer<ring{.chunks = 2}>;
using bulk_gather = producer_before_consumer<pipeline{.chunks = 2}>;
using slot_gather = producer_before_consumer<ring{.chunks = 2, .depth = 2}>;
using contraction =
    producer_before_consumer<ring{.chunks = 2}, gather{.dimension = gathered_dimension::contraction}>;
using ring_reduce = consumer_before_reduction<ring{.chunks = 2}>;
using bulk_reduce = consumer_before_reduction<blocking{}>;

template <class Policy>
inline constexpr bool reduces = requires {
  Policy::options.reduce_in;
};

// The result is zero wherever it has elements, as at least one of the dimensions is empty.
template <class Policy>
void run_empty(gemm_shape const& shape) {
  constexpr int ranks = 3;
  host::run_ranks<ranks>([&](host::communicator& comm) {
    using object = overlap<Policy, world<ranks>, host::communicator, gemm>;
    nan_bytes const workspace{object::workspace_bytes(shape)};
    object work{comm, {}, shape, workspace.span()};
    host::stream stream;
    auto const own_of = [&](std::int64_t all) {
      return shards_of({}, all, ranks)[static_cast<std::size_t>(comm.rank())].count;
    };
    matrix<float> left, right{shape.inner, shape.columns}, y;
    if constexpr (reduces<Policy>) {
      left.resize(shape.rows, shape.inner);
      y.resize(own_of(shape.rows), shape.columns);
    } else if constexpr (object::contracts) {
      left.resize(own_of(shape.inner), shape.rows);
      y.resize(shape.rows, shape.columns);
    } else {
      left.resize(own_of(shape.rows), shape.inner);
      y.resize(shape.rows, shape.columns);
    }
    for (int i = 0; i < 2; ++i) {
      fill_nan(y.view());
      work(stream, left.view(), right.view(), y.view());
      comm.wait(stream);
      require_equal("y", y.view(), [](std::int64_t, std::int64_t) { return 0; });
    }
  });
}

template <class Policy>
void run_every_empty() {
  run_empty<Policy>({.rows = 7, .inner = 0, .columns = 4});
  run_empty<Policy>({.rows = 7, .inner = 5, .columns = 0});
  run_empty<Policy>({.rows = 0, .inner = 5, .columns = 4});
  run_empty<Policy>({.rows = 0, .inner = 0, .columns = 0});
}

// A transport that only notes what it is asked to move.
class noting_communicator {
 public:
  using backend = host::backend;

  explicit noting_communicator(int rank) : rank_{rank} {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return 3; }
  host::stream& lane(int index) { return lanes_[index]; }
  void exchange(int, std::span<message const> messages, call_site) {
    noted.insert(noted.end(), messages.begin(), messages.end());
  }

  std::vector<message> noted;

 private:
  int rank_;
  host::stream lanes_[3];
};

// Notes the tiles it is asked to multiply.
struct noting_gemm {
  using input_type = float;
  using output_type = float;

  void operator()(host::stream&, matrix_view<float const> a, matrix_view<float const>, matrix_view<float> c,
                  float) const {
    noted->emplace_back(a, c);
  }

  std::vector<std::pair<matrix_view<float const>, matrix_view<float>>>* noted;
};

float* address(std::uintptr_t at) { return reinterpret_cast<float*>(at); }
std::uintptr_t place(void const* at) { return reinterpret_cast<std::uintptr_t>(at); }

constexpr std::uintptr_t x_at = std::uintptr_t{1} << 44;
constexpr std::uintptr_t w_at = std::uintptr_t{2} << 44;
constexpr std::uintptr_t y_at = std::uintptr_t{3} << 44;
constexpr std::uintptr_t workspace_at = std::uintptr_t{4} << 44;
constexpr std::int64_t rows = 3 * (std::int64_t{1} << 27);  // 1 TiB of x, far beyond 32 bits of elements
constexpr std::int64_t inner = 1 << 9;
constexpr std::int64_t columns = 1 << 8;
constexpr std::int64_t chunk_rows = rows / 6;

}  // namespace

TEST_CASE("empty dimensions give empty or zero results", "[extreme]") {
  run_every_empty<ring_gather>();
  run_every_empty<bulk_gather>();
  run_every_empty<slot_gather>();
  run_every_empty<contraction>();
  run_every_empty<ring_reduce>();
  run_every_empty<bulk_reduce>();
}

TEST_CASE("tiles of a gather lie where they should beyond four gigabytes", "[extreme]") {
  using object = overlap<ring_gather, world<3>, noting_communicator, noting_gemm>;
  gemm_shape const shape{rows, inner, columns};
  std::size_t const needed = object::workspace_bytes(shape);
  CHECK(needed >= static_cast<std::size_t>(rows) * inner * sizeof(float));
  noting_communicator comm{1};
  std::vector<std::pair<matrix_view<float const>, matrix_view<float>>> tiles;
  object up{comm, {&tiles}, shape, {reinterpret_cast<std::byte*>(workspace_at), needed}};
  host::stream stream;
  up(stream, {address(x_at), rows / 3, inner}, {address(w_at), inner, columns},
     {address(y_at), rows, columns});
  // Own shard, then rank 0's, then rank 2's; two chunks each.
  REQUIRE(tiles.size() == 6);
  for (int i = 0; i < 6; ++i) {
    int const shard = i < 2 ? 1 : i < 4 ? 0 : 2;
    std::int64_t const first = (2 * shard + i % 2) * chunk_rows;
    auto const& [tile, result] = tiles[static_cast<std::size_t>(i)];
    CAPTURE(i, first);
    CHECK(tile.rows == chunk_rows);
    auto const bytes = [](std::int64_t row, std::int64_t width) {
      return static_cast<std::uintptr_t>(row) * static_cast<std::uintptr_t>(width) * sizeof(float);
    };
    CHECK(place(tile.data) ==
          (shard == 1 ? x_at + bytes(first - rows / 3, inner) : workspace_at + bytes(first, inner)));
    CHECK(place(result.data) == y_at + bytes(first, columns));
  }
  REQUIRE(comm.noted.size() == 8);
  for (message const& each : comm.noted)
    CHECK(each.bytes == static_cast<std::size_t>(chunk_rows) * inner * sizeof(float));
}

TEST_CASE("buckets of a reduction lie apart beyond four gigabytes", "[extreme]") {
  using object = overlap<ring_reduce, world<3>, noting_communicator, noting_gemm>;
  gemm_shape const shape{rows, inner, columns};
  std::size_t const needed = object::workspace_bytes(shape);
  noting_communicator comm{2};
  std::vector<std::pair<matrix_view<float const>, matrix_view<float>>> tiles;
  object down{comm, {&tiles}, shape, {reinterpret_cast<std::byte*>(workspace_at), needed}};
  // The additions would touch memory that is not there: the lanes are stopped before they come to them.
  for (int lane = 1; lane < 3; ++lane) comm.lane(lane).enqueue([] { throw 0; });
  {
    host::stream stream;
    down(stream, {address(x_at), rows, inner}, {address(w_at), inner, columns},
         {address(y_at), rows / 3, columns});
  }
  REQUIRE(tiles.size() == 6);
  auto const size = static_cast<std::uintptr_t>(chunk_rows) * columns * sizeof(float);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    auto const at = place(tiles[i].second.data);
    CAPTURE(i);
    CHECK(tiles[i].second.rows == chunk_rows);
    CHECK(at >= workspace_at);
    CHECK(at + size <= workspace_at + needed);
    for (std::size_t j = 0; j < i; ++j) {
      auto const other = place(tiles[j].second.data);
      CHECK((at + size <= other || other + size <= at));
    }
  }
  // Owners 1, 0 and 2 in this order: each bucket moves on to the next rank.
  for (int i = 0; i < 6; ++i) {
    int const owner = i < 2 ? 1 : i < 4 ? 0 : 2;
    auto const first = static_cast<std::uintptr_t>((2 * owner + i % 2) * chunk_rows);
    CHECK(place(tiles[static_cast<std::size_t>(i)].first.data) == x_at + first * inner * sizeof(float));
  }
  for (message const& each : comm.noted) {
    CHECK(each.bytes == size);
    CHECK(place(each.data) >= workspace_at);
    CHECK(place(each.data) + size <= workspace_at + needed);
  }
}
