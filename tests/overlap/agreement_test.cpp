// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Ranks that were built differently learn so when they are built, or in their first call, never by a wrong result.

#include "../support/catch.hpp"
#include "rank_outcomes.hpp"

#include <tpoverlap/tpoverlap.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

using namespace tpoverlap;
using namespace tpoverlap_test;
using namespace std::chrono_literals;

namespace {

constexpr int ranks = 3;
template <class T>
using gemm = host::reference_gemm<T>;

template <class Policy, class Functor = gemm<float>>
void build(host::communicator& comm, gemm_shape const& shape) {
  using object = overlap<Policy, world<ranks>, host::communicator, Functor>;
  nan_bytes const workspace{object::workspace_bytes(shape)};
  object const made{comm, {}, shape, workspace.span()};
}

template <class Policy>
void build_side(host::communicator& comm, collective_shape const& shape) {
  overlap<Policy, world<ranks>, host::communicator, gemm<float>> const made{comm, {}, shape};
}

// All ranks have to throw, and to say the same.
void check_all_told(std::vector<std::exception_ptr> const& outcomes, std::string const& part) {
  for (std::size_t r = 0; r < outcomes.size(); ++r) {
    auto const text = text_of<usage_error>(outcomes[r]);
    CAPTURE(r, text);
    CHECK(has(text, part));
    CHECK(has(text, "rank " + std::to_string(r) + ": "));
  }
}

using ring_gather = producer_before_consumer<ring{.chunks = 2}>;
using ring_reduce = consumer_before_reduction<ring{.chunks = 2}>;
constexpr gemm_shape right{.rows = 12, .inner = 5, .columns = 4, .largest_shard = 6};

// Rank 1 is built with `other`, the rest with `right`.
template <class Policy>
void check_told(gemm_shape const& other, char const* part) {
  check_all_told(
      outcomes_of(ranks, {},
                  [&](host::communicator& comm) { build<Policy>(comm, comm.rank() == 1 ? other : right); }),
      part);
}

template <class Policy>
void check_accepted(gemm_shape const& other) {
  auto const outcomes = outcomes_of(
      ranks, {}, [&](host::communicator& comm) { build<Policy>(comm, comm.rank() == 1 ? other : right); });
  for (auto const& each : outcomes) CHECK(text_of<std::exception>(each) == "");
}

using left_contraction =
    producer_before_consumer<ring{}, gather{.dimension = gathered_dimension::contraction}>;
using right_contraction =
    producer_before_consumer<ring{}, gather{.dimension = gathered_dimension::contraction,
                                            .operand = gathered_operand::right}>;

}  // namespace

TEST_CASE("every field of a shape that messages depend on has to agree", "[agreement]") {
  check_told<ring_gather>(
      {13, 5, 4, 6}, "rank 0 was built with rows = 12, rank 1 with 13; pass the same shape on every rank");
  check_told<ring_gather>({12, 6, 4, 6}, "rank 0 was built with inner = 5, rank 1 with 6;");
  check_told<ring_gather>({12, 5, 4, 7}, "rank 0 was built with largest_shard = 6, rank 1 with 7;");
  check_told<left_contraction>({13, 5, 4, 6}, "rank 0 was built with rows = 12, rank 1 with 13;");
  check_told<left_contraction>({12, 6, 4, 6}, "rank 0 was built with inner = 5, rank 1 with 6;");
  check_told<right_contraction>({12, 6, 4, 6}, "rank 0 was built with inner = 5, rank 1 with 6;");
  check_told<right_contraction>({12, 5, 3, 6}, "rank 0 was built with columns = 4, rank 1 with 3;");
  check_told<ring_reduce>({13, 5, 4, 6}, "rank 0 was built with rows = 12, rank 1 with 13;");
  check_told<ring_reduce>({12, 5, 3, 6}, "rank 0 was built with columns = 4, rank 1 with 3;");
  check_told<ring_reduce>({12, 5, 4, 7}, "rank 0 was built with largest_shard = 6, rank 1 with 7;");
  for (collective_shape const& other : {collective_shape{9, 5}, {10, 4}, {9, 4, 5}}) {
    check_all_told(outcomes_of(ranks, {},
                               [&](host::communicator& comm) {
                                 build_side<independent_side_work<all_gather{}>>(
                                     comm, comm.rank() == 2 ? other : collective_shape{9, 4});
                               }),
                   "; pass the same shape on every rank");
  }
}

TEST_CASE("what only a rank's own GEMM depends on may differ", "[agreement]") {
  check_accepted<ring_gather>({12, 5, 3, 6});
  check_accepted<left_contraction>({12, 5, 3, 6});
  check_accepted<right_contraction>({13, 5, 4, 6});
  check_accepted<ring_reduce>({12, 7, 4, 6});
}

TEST_CASE("element types of what is sent have to agree", "[agreement]") {
  check_all_told(outcomes_of(ranks, {},
                             [](host::communicator& comm) {
                               comm.rank() == 1 ? build<ring_gather, gemm<double>>(comm, right)
                                                : build<ring_gather, gemm<float>>(comm, right);
                             }),
                 "rank 0 was built with input type");
  check_all_told(outcomes_of(ranks, {},
                             [](host::communicator& comm) {
                               comm.rank() == 2
                                   ? build<ring_reduce, host::reference_gemm<float, double>>(comm, right)
                                   : build<ring_reduce, gemm<float>>(comm, right);
                             }),
                 "rank 0 was built with output type");
}

TEST_CASE("policies have to agree", "[agreement]") {
  auto const differ = []<class Other>(Other) {
    check_all_told(outcomes_of(ranks, {},
                               [](host::communicator& comm) {
                                 comm.rank() == 2 ? build<Other>(comm, right)
                                                  : build<ring_gather>(comm, right);
                               }),
                   "rank 2 runs another policy than rank 0; build the object with the same policy");
  };
  differ(producer_before_consumer<ring{.chunks = 3}>{});
  differ(producer_before_consumer<ring{.chunks = 2, .way = direction::backward}>{});
  differ(producer_before_consumer<ring{.chunks = 2, .depth = 2}>{});
  differ(producer_before_consumer<ring{.chunks = 2, .ratio = {2, 1}}>{});
  differ(producer_before_consumer<direct{.chunks = 2}>{});
  differ(producer_before_consumer<blocking{}>{});
  differ(ring_reduce{});
  differ(consumer_before_reduction<ring{.chunks = 2}, reduction{.accumulate = accumulation::fused}>{});
}

TEST_CASE("the type that sums are kept in has to agree", "[agreement]") {
  using in_float32 =
      consumer_before_reduction<ring{.chunks = 2}, reduction{.reduce_in = reduction_type::float32}>;
  using in_float64 =
      consumer_before_reduction<ring{.chunks = 2}, reduction{.reduce_in = reduction_type::float64}>;
  check_all_told(outcomes_of(ranks, {},
                             [](host::communicator& comm) {
                               comm.rank() == 1 ? build<in_float64>(comm, right)
                                                : build<in_float32>(comm, right);
                             }),
                 "rank 1");
}

TEST_CASE("a dependency class has to agree", "[agreement]") {
  auto const outcomes = outcomes_of(ranks, {.time_limit = 1s}, [](host::communicator& comm) {
    comm.rank() == 1 ? build_side<independent_side_work<all_gather{}>>(comm, {12, 4})
                     : build<ring_gather>(comm, right);
  });
  for (std::size_t r = 0; r < outcomes.size(); ++r) {
    auto const text = text_of<tpoverlap::error>(outcomes[r]);
    CAPTURE(r, text);
    CHECK(has(text, "rank " + std::to_string(r) + ": "));
    CHECK((has(text, "built differently") || has(text, "another policy")));
  }
}

TEST_CASE("after a disagreement the communicator still serves objects that agree", "[agreement]") {
  auto const outcomes = outcomes_of(ranks, {}, [](host::communicator& comm) {
    gemm_shape wrong = right;
    if (comm.rank() == 1) ++wrong.rows;
    require(text_thrown<usage_error>([&] { build<ring_gather>(comm, wrong); }) != "", "told");
    build<ring_gather>(comm, right);
  });
  for (auto const& each : outcomes) CHECK(!each);
}

TEST_CASE("row counts that differ between ranks end in an error on every rank", "[agreement]") {
  auto const outcomes = outcomes_of(ranks, {.time_limit = 2s}, [](host::communicator& comm) {
    using object = overlap<ring_gather, world<ranks>, host::communicator, gemm<float>>;
    nan_bytes const workspace{object::workspace_bytes(right)};
    object up{comm, {}, right, workspace.span()};
    std::vector<std::int64_t> const rows =
        comm.rank() == 1 ? std::vector<std::int64_t>{2, 4, 5} : std::vector<std::int64_t>{4, 4, 4};
    row_range const own = shards_of(rows, 0, ranks)[static_cast<std::size_t>(comm.rank())];
    matrix<float> x{own.count, 5}, w{5, 4}, y{rows[0] + rows[1] + rows[2], 4};
    host::stream stream;
    up(stream, x.view(), w.view(), y.view(), {.shard_rows = rows});
    comm.wait(stream);
  });
  for (std::size_t r = 0; r < outcomes.size(); ++r) {
    auto const text = text_of<communication_error>(outcomes[r]);
    CAPTURE(r, text);
    CHECK(has(text, "rank " + std::to_string(r) + ": "));
    CHECK(has(text, "bytes"));
    CHECK(has(text, "give both ranks the same shapes"));
  }
}
