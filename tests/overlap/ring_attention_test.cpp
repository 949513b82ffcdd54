// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Ring Attention is another consumer of the same schedules: keys and values go round as one matrix, and each block that
//! arrives is folded into an online softmax.

#include "../support/catch.hpp"
#include "values.hpp"

#include <tpoverlap/tpoverlap.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace tpoverlap;
using namespace tpoverlap_test;

namespace {

// [ring_attention begin]
using rotate = producer_before_consumer<ring{.chunks = 2}>;

/// softmax(q · kᵀ / √d) · v for the queries of one rank against the keys and values of all ranks. Each rank owns some
/// rows of [k | v] (rows/P, 2d); they rotate while the blocks that are there are worked on.
template <int P>
class ring_attention {
 public:
  ring_attention(host::communicator& comm, std::int64_t rows, std::int64_t d, std::span<std::byte> workspace)
      : blocks_{comm, {}, {.rows = rows, .inner = 2 * d}, workspace}, seen_(static_cast<std::size_t>(rows)) {}

  static std::size_t workspace_bytes(std::int64_t rows, std::int64_t d) {
    return overlapped::workspace_bytes({.rows = rows, .inner = 2 * d});
  }

  void operator()(host::stream& in, matrix_view<double const> q, matrix_view<double const> kv,
                  matrix_view<double> out, call_options options = {}) {
    in.enqueue([this, q, out] {
      for (std::int64_t i = 0; i < q.rows; ++i) {
        seen_[static_cast<std::size_t>(i)] = {};
        for (std::int64_t j = 0; j < out.columns; ++j) out(i, j) = 0;
      }
    });
    blocks_(
        in, kv,
        [&](host::stream& on, gathered_tile<double> const& block) {
          on.enqueue([this, q, out, kv = block.data] { fold(q, kv, out); });
        },
        options);
    in.enqueue([this, q, out] {
      for (std::int64_t i = 0; i < q.rows; ++i)
        for (std::int64_t j = 0; j < out.columns; ++j) out(i, j) /= seen_[static_cast<std::size_t>(i)].weight;
    });
  }

 private:
  using overlapped = overlap<rotate, world<P>, host::communicator, tiles<double>>;

  struct softmax_state {
    double largest = -std::numeric_limits<double>::infinity();
    double weight = 0;
  };

  void fold(matrix_view<double const> q, matrix_view<double const> kv, matrix_view<double> out) {
    std::int64_t const d = q.columns;
    for (std::int64_t i = 0; i < q.rows; ++i) {
      softmax_state& seen = seen_[static_cast<std::size_t>(i)];
      for (std::int64_t r = 0; r < kv.rows; ++r) {
        double score = 0;
        for (std::int64_t j = 0; j < d; ++j) score += q(i, j) * kv(r, j);
        score /= std::sqrt(static_cast<double>(d));
        double const largest = std::fmax(seen.largest, score);
        double const shrink = std::exp(seen.largest - largest);
        double const weight = std::exp(score - largest);
        for (std::int64_t j = 0; j < d; ++j) out(i, j) = out(i, j) * shrink + weight * kv(r, d + j);
        seen = {largest, seen.weight * shrink + weight};
      }
    }
  }

  overlapped blocks_;
  std::vector<softmax_state> seen_;  // one a query
};
// [ring_attention end]

constexpr std::int64_t d = 8;

double plain_attention(std::int64_t rows, std::uint64_t seed, std::int64_t query, std::int64_t column) {
  auto const at = [&](std::uint64_t what, std::int64_t i, std::int64_t j) {
    return value(filling::fractions, seed + what, i, j);
  };
  std::vector<double> scores;
  double largest = -std::numeric_limits<double>::infinity();
  for (std::int64_t r = 0; r < rows; ++r) {
    double score = 0;
    for (std::int64_t j = 0; j < d; ++j) score += 9 * at(0, query, j) * at(1, r, j);
    scores.push_back(score / std::sqrt(static_cast<double>(d)));
    largest = std::fmax(largest, scores.back());
  }
  double weight = 0;
  double sum = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    double const p = std::exp(scores[static_cast<std::size_t>(r)] - largest);
    weight += p;
    sum += p * at(1, r, d + column);
  }
  return sum / weight;
}

template <int P>
void attend(std::int64_t rows, std::vector<std::int64_t> const& shard_rows, std::uint64_t straggler_seed) {
  host::run_ranks<P>(
      [&](host::communicator& comm) {
        nan_bytes const workspace{ring_attention<P>::workspace_bytes(rows, d)};
        ring_attention<P> attention{comm, rows, d, workspace.span()};
        auto const shards = shards_of(shard_rows, rows, P);
        row_range const own = shards[static_cast<std::size_t>(comm.rank())];
        matrix<double> q{own.count, d};
        matrix<double> kv{own.count, 2 * d};
        matrix<double> out{own.count, d};
        host::stream stream;
        for (std::uint64_t seed : {100U, 200U, 300U}) {
          // No wait between the calls: the stream orders them.
          stream.enqueue([&, seed] {
            fill(q.view(), filling::fractions, seed, own.first);
            for (std::int64_t i = 0; i < own.count; ++i)
              for (std::int64_t j = 0; j < d; ++j) q.view()(i, j) *= 9;  // a softmax that is far from even
            fill(kv.view(), filling::fractions, seed + 1, own.first);
            fill_nan(out.view());
          });
          attention(stream, q.view(), kv.view(), out.view(), {.shard_rows = shard_rows});
          stream.enqueue([&, seed] {
            for (std::int64_t i = 0; i < own.count; ++i)
              for (std::int64_t j = 0; j < d; ++j) {
                double const should = plain_attention(rows, seed, own.first + i, j);
                if (!std::isfinite(out.view()(i, j)) || std::fabs(out.view()(i, j) - should) > 1e-12)
                  fail_at("attention", own.first + i, j, out.view()(i, j), should);
              }
          });
        }
        comm.wait(stream);
      },
      {.straggler_seed = straggler_seed, .straggler_max = std::chrono::microseconds{straggler_seed * 40}});
}

}  // namespace

// The bound: all weights are positive and sum to 1, so errors of exp (relative 1e-16 each, arguments below 80) and of
// sums of 40 terms below 1 stay under 1e-13.
TEST_CASE("ring attention equals attention", "[ring_attention]") {
  attend<1>(17, {}, 0);
  attend<2>(26, {}, 0);
  attend<3>(29, {}, 3);
  attend<4>(40, {}, 5);
}

TEST_CASE("ring attention takes shards of different size", "[ring_attention]") {
  // The even split is the largest shard here, so rows move to a rank only when the shape says so.
  attend<2>(20, {10, 10}, 0);
  attend<3>(18, {6, 6, 6}, 1);
  attend<4>(38, {10, 8, 10, 10}, 2);
}
