// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A call allocates nothing, for any class: counted on the thread that calls.

#include "../support/catch.hpp"
#include "../support/counted_new.hpp"
#include "values.hpp"

#include <tpoverlap/tpoverlap.hpp>

#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace tpoverlap;
using namespace tpoverlap_test;

namespace {

constexpr int ranks = 3;
constexpr std::int64_t rows = 14;
using gemm = host::reference_gemm<float>;

// Row counts that change from call to call; the last shards' order is another each time.
std::vector<std::int64_t> const& row_counts(int call) {
  static std::vector<std::int64_t> const counts[] = {{}, {5, 4, 5}, {0, 3, 5}, {5, 5, 0}};
  return counts[call % 4];
}

// Makes some calls, the first of them uncounted, and fails if the others allocate.
template <class Call>
void require_no_allocation(host::communicator& comm, host::stream& stream, Call call) {
  for (int i = 0; i < 4; ++i) call(i);
  comm.wait(stream);
  std::uint64_t const before = allocations_here;
  for (int i = 0; i < 24; ++i) call(i);
  std::uint64_t const during = allocations_here - before;
  comm.wait(stream);
  require(during == 0, std::to_string(during) + " allocations");
}

template <class Policy>
void gather_calls() {
  host::run_ranks<ranks>([](host::communicator& comm) {
    using object = overlap<Policy, world<ranks>, host::communicator, gemm>;
    gemm_shape const shape{rows, 5, 4};
    nan_bytes const workspace{object::workspace_bytes(shape)};
    object up{comm, {}, shape, workspace.span()};
    matrix<float> x{rows, 5}, w{5, 4}, y{rows, 4}, gathered{rows, 5};
    fill(x.view(), filling::integers, 1);
    fill(w.view(), filling::integers, 2);
    host::stream stream;
    std::vector<std::vector<row_range>> shards;
    for (int i = 0; i < 4; ++i) shards.push_back(shards_of(row_counts(i), rows, ranks));
    require_no_allocation(comm, stream, [&](int i) {
      auto const& cut = shards[static_cast<std::size_t>(i % 4)];
      auto const own = cut[static_cast<std::size_t>(comm.rank())].count;
      call_options const options{.shard_rows = row_counts(i), .beta = static_cast<float>(i % 2)};
      if constexpr (Policy::options.keep_gathered) {
        up(stream, x.top(own), w.view(), y.top(cut.back().end()), gathered.top(cut.back().end()), options);
      } else {
        up(stream, x.top(own), w.view(), y.top(cut.back().end()), options);
      }
    });
  });
}

template <class Policy>
void reduction_calls() {
  host::run_ranks<ranks>([](host::communicator& comm) {
    using object = overlap<Policy, world<ranks>, host::communicator, gemm>;
    gemm_shape const shape{rows, 5, 4};
    nan_bytes const workspace{object::workspace_bytes(shape)};
    object down{comm, {}, shape, workspace.span()};
    matrix<float> a{rows, 5}, w{5, 4}, y{rows, 4};
    fill(a.view(), filling::integers, 1);
    fill(w.view(), filling::integers, 2);
    host::stream stream;
    std::vector<std::vector<row_range>> shards;
    for (int i = 0; i < 4; ++i) shards.push_back(shards_of(row_counts(i), rows, ranks));
    constexpr bool everywhere = Policy::options.result == reduction_result::all_reduce;
    require_no_allocation(comm, stream, [&](int i) {
      auto const& cut = shards[static_cast<std::size_t>(i % 4)];
      auto const total = cut.back().end();
      auto const held = everywhere ? total : cut[static_cast<std::size_t>(comm.rank())].count;
      down(stream, a.top(total), w.view(), y.top(held), {.shard_rows = row_counts(i)});
    });
  });
}

}  // namespace

TEST_CASE("the counter counts on its own thread", "[allocation]") {
  auto const before = allocations_here;
  ::operator delete(::operator new(10));
  CHECK(allocations_here - before == 1);
  std::uint64_t elsewhere = 1;
  std::thread{[&] { elsewhere = allocations_here; }}.join();
  CHECK(elsewhere == 0);
}

TEST_CASE("a gather allocates nothing", "[allocation]") {
  gather_calls<producer_before_consumer<blocking{}>>();
  gather_calls<producer_before_consumer<ring{.chunks = 2, .way = direction::both}>>();
  gather_calls<producer_before_consumer<direct{.chunks = 2, .depth = 2}>>();
  gather_calls<producer_before_consumer<pipeline{.chunks = 2}>>();
  gather_calls<producer_before_consumer<ring{}, gather{.keep_gathered = true}>>();
}

TEST_CASE("a reduction allocates nothing", "[allocation]") {
  reduction_calls<consumer_before_reduction<blocking{}>>();
  reduction_calls<consumer_before_reduction<ring{.chunks = 2}>>();
  reduction_calls<
      consumer_before_reduction<ring{.chunks = 2}, reduction{.accumulate = accumulation::fused}>>();
  reduction_calls<consumer_before_reduction<direct{}, reduction{.result = reduction_result::all_reduce,
                                                                .reduce_in = reduction_type::float64}>>();
  reduction_calls<consumer_before_reduction<pipeline{.chunks = 2}>>();
}

TEST_CASE("side work allocates nothing", "[allocation]") {
  host::run_ranks<ranks>([](host::communicator& comm) {
    overlap<independent_side_work<all_gather{}>, world<ranks>, host::communicator, gemm> gathers{
        comm, {}, {9, 4}};
    overlap<independent_side_work<reduce_scatter{}>, world<ranks>, host::communicator, tiles<float>> reduces{
        comm, {}, {9, 4}};
    overlap<independent_side_work<all_reduce{}>, world<ranks>, host::communicator, tiles<float>> sums{
        comm, {}, {9, 4}};
    matrix<float> own{3, 4}, all{9, 4}, partial{9, 4}, sum{3, 4}, shared{9, 4}, a{5, 6}, b{6, 7}, c{5, 7};
    for (auto* each : {&own, &all, &partial, &shared, &a, &b}) fill(each->view(), filling::integers, 3);
    host::stream stream;
    require_no_allocation(comm, stream, [&](int) {
      gathers(stream, own.view(), all.view(), a.view(), b.view(), c.view());
      reduces.start(stream, partial.view(), sum.view()).join(stream);
      auto token = sums.start(stream, shared.view());
      auto moved = std::move(token);
    });
  });
}

TEST_CASE("a functor on tiles causes no allocation", "[allocation][tiles]") {
  host::run_ranks<ranks>([](host::communicator& comm) {
    using object = overlap<producer_before_consumer<ring{}>, world<ranks>, host::communicator, tiles<double>>;
    gemm_shape const shape{.rows = 9, .inner = 4};
    nan_bytes const workspace{object::workspace_bytes(shape)};
    object gathers{comm, {}, shape, workspace.span()};
    matrix<double> x{3, 4};
    double sum = 0;
    fill(x.view(), filling::integers, 1);
    host::stream stream;
    require_no_allocation(comm, stream, [&](int) {
      gathers(stream, x.view(), [&](host::stream& on, gathered_tile<double> tile) {
        on.enqueue([&sum, data = tile.data] { sum += data(0, 0); });
      });
    });
  });
}
