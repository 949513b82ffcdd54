// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Collectives against plain loops: exact with small integers, and bit for bit in ring order.

#include "../support/catch.hpp"
#include "rank_check.hpp"

#include <tpoverlap/host.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

using namespace tpoverlap;
using namespace std::chrono_literals;

namespace {

// Uneven pieces, some of them empty, some longer than a block of the reduction.
std::int64_t elements_of(int shard) { return shard == 1 ? 0 : shard * 1500 + 3; }

template <class T>
std::vector<std::vector<T>> contributions(int rank, int size) {
  std::vector<std::vector<T>> made;
  for (int shard = 0; shard < size; ++shard) {
    auto& piece = made.emplace_back();
    for (std::int64_t i = 0; i < elements_of(shard); ++i)
      piece.push_back(static_cast<T>((rank + 1) * (1 + (i + shard) % 97)));
  }
  return made;
}

template <class T>
std::vector<piece> pieces_of(std::vector<std::vector<T>>& arrays) {
  std::vector<piece> made;
  for (auto& each : arrays) made.push_back({each.data(), static_cast<std::int64_t>(each.size())});
  return made;
}

template <class T>
T sum_at(int shard, std::int64_t i, int size) {
  return static_cast<T>(size * (size + 1) / 2 * (1 + (i + shard) % 97));
}

template <class T>
bool holds_sums(std::vector<T> const& piece, int shard, int size) {
  if (static_cast<std::int64_t>(piece.size()) != elements_of(shard)) return false;
  for (std::size_t i = 0; i < piece.size(); ++i)
    if (piece[i] != sum_at<T>(shard, static_cast<std::int64_t>(i), size)) return false;
  return true;
}

}  // namespace

TEMPLATE_TEST_CASE("collectives equal plain sums", "[collective]", float, double, std::int32_t,
                   std::int64_t) {
  using T = TestType;
  auto const ranks = GENERATE(1, 2, 3, 4, 7);
  host::run_ranks(ranks, [](host::communicator& comm) {
    auto const rank = comm.rank();
    auto const size = comm.size();
    auto const own = static_cast<std::size_t>(rank);

    auto scattered = contributions<T>(rank, size);
    std::vector<T> result(scattered[own].size());
    comm.reduce_scatter(1, pieces_of(scattered), result.data(), element_of<T>);
    comm.wait(comm.lane(1));
    rank_check(holds_sums(result, rank, size), "reduce_scatter");
    rank_check(scattered == contributions<T>(rank, size), "reduce_scatter leaves its input alone");

    comm.reduce_scatter(1, pieces_of(scattered), scattered[own].data(), element_of<T>);
    comm.wait(comm.lane(1));
    rank_check(holds_sums(scattered[own], rank, size), "reduce_scatter into the rank's own partial");

    std::vector<std::vector<T>> gathered;
    for (int shard = 0; shard < size; ++shard) gathered.emplace_back(elements_of(shard), T{});
    comm.all_gather(2, result.data(), pieces_of(gathered), element_of<T>);
    comm.wait(comm.lane(2));
    for (int shard = 0; shard < size; ++shard)
      rank_check(holds_sums(gathered[static_cast<std::size_t>(shard)], shard, size), "all_gather");

    auto reduced = contributions<T>(rank, size);
    comm.all_reduce(3, pieces_of(reduced), element_of<T>);
    comm.wait(comm.lane(3));
    for (int shard = 0; shard < size; ++shard)
      rank_check(holds_sums(reduced[static_cast<std::size_t>(shard)], shard, size), "all_reduce");

    auto in_place = contributions<T>(rank, size);
    comm.all_gather(2, in_place[own].data(), pieces_of(in_place), element_of<T>);
    comm.wait(comm.lane(2));
    for (int shard = 0; shard < size; ++shard)
      rank_check(in_place[static_cast<std::size_t>(shard)] ==
                     contributions<T>(shard, size)[static_cast<std::size_t>(shard)],
                 "all_gather in place");
  });
}

TEST_CASE("reductions add in ring order, the rank's own part last, bit for bit", "[collective]") {
  // These values round differently in every order of addition.
  auto const value = [](int rank, int shard, std::size_t i) {
    return 1.0F / static_cast<float>(3 + rank * 7919 + shard * 104729 + static_cast<int>(i) % 1013) *
           (i % 2 == 0 ? 1.0F : 1000.0F);
  };
  constexpr int size = 5;
  constexpr std::size_t count = 3000;
  host::run_ranks<size>([&](host::communicator& comm) {
    std::vector<std::vector<float>> partials(size, std::vector<float>(count));
    for (int shard = 0; shard < size; ++shard)
      for (std::size_t i = 0; i < count; ++i)
        partials[static_cast<std::size_t>(shard)][i] = value(comm.rank(), shard, i);
    std::vector<float> result(count);
    comm.reduce_scatter(1, pieces_of(partials), result.data(), element::float32);
    comm.wait(comm.lane(1));
    bool other_orders_agree = true;
    for (std::size_t i = 0; i < count; ++i) {
      float expected = value((comm.rank() + 1) % size, comm.rank(), i);
      for (int step = 2; step <= size; ++step) expected += value((comm.rank() + step) % size, comm.rank(), i);
      rank_check(result[i] == expected, "ring order");
      float own_first = value(comm.rank(), comm.rank(), i);
      for (int step = 1; step < size; ++step) own_first += value((comm.rank() + step) % size, comm.rank(), i);
      other_orders_agree = other_orders_agree && own_first == expected;
    }
    rank_check(!other_orders_agree, "the values tell orders apart");
  });
}

TEST_CASE("collectives on the same buffers survive seeded stragglers", "[collective][straggler]") {
  auto const seed = GENERATE(1u, 2u, 3u);
  host::run_ranks<4>(
      [](host::communicator& comm) {
        auto const own = static_cast<std::size_t>(comm.rank());
        std::vector<std::vector<float>> shards(4, std::vector<float>(257));
        for (int call = 1; call <= 10; ++call) {
          for (auto& shard : shards) shard.assign(257, static_cast<float>(call * (comm.rank() + 1)));
          comm.all_reduce(1, pieces_of(shards), element::float32);
          comm.reduce_scatter(1, pieces_of(shards), shards[own].data(), element::float32);
          comm.all_gather(1, shards[own].data(), pieces_of(shards), element::float32);
          comm.wait(comm.lane(1));
          for (auto const& shard : shards)
            for (float each : shard) rank_check(each == static_cast<float>(call * 40), "sums of this call");
        }
      },
      {.straggler_seed = seed, .straggler_max = 500us});
}

TEST_CASE("straggler delays are repeatable, bounded, and differ", "[straggler]") {
  auto const delay = [](std::uint64_t seed, int rank, int lane, std::uint64_t sequence) {
    return host::detail::straggler_delay(seed, 1000us, rank, lane, sequence);
  };
  bool differ_by_rank = false;
  bool differ_by_lane = false;
  bool differ_by_sequence = false;
  bool differ_by_seed = false;
  for (std::uint64_t sequence = 0; sequence < 100; ++sequence) {
    auto const one = delay(5, 1, 1, sequence);
    REQUIRE(one == delay(5, 1, 1, sequence));
    REQUIRE(one >= 0us);
    REQUIRE(one <= 1000us);
    differ_by_rank = differ_by_rank || one != delay(5, 2, 1, sequence);
    differ_by_lane = differ_by_lane || one != delay(5, 1, 2, sequence);
    differ_by_sequence = differ_by_sequence || one != delay(5, 1, 1, sequence + 1);
    differ_by_seed = differ_by_seed || one != delay(6, 1, 1, sequence);
  }
  CHECK((differ_by_rank && differ_by_lane && differ_by_sequence && differ_by_seed));
  CHECK(host::detail::straggler_delay(5, 0us, 1, 1, 1) == 0us);
}
