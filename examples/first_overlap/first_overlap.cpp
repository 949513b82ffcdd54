// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! An AllGather under the GEMM that it feeds, on four in-process ranks.

// [first_overlap begin]
#include <tpoverlap/blas.hpp>
#include <tpoverlap/tpoverlap.hpp>

#include <vector>

using namespace tpoverlap;
using gather_policy = producer_before_consumer<ring{.chunks = 2}>;

// y = all_gather(x) · w: every shard is multiplied while the next one is on its way.
void forward(host::communicator& comm, matrix_view<float const> x, matrix_view<float const> w,
             matrix_view<float> y) {
  gemm_shape const shape{.rows = y.rows, .inner = w.rows, .columns = w.columns};
  using overlap_type = overlap<gather_policy, world<4>, host::communicator, host::blas_gemm<float>>;
  std::vector<std::byte> workspace(overlap_type::workspace_bytes(shape));

  host::stream stream;
  overlap_type up{comm, host::blas_gemm<float>{}, shape, workspace};   // built once ...
  up(stream, x /* (rows/4, k) */, w /* (k, n) */, y /* (rows, n) */);  // ... called often; returns at once
  comm.wait(stream);  // bounded; throws rank, operation, peer
}
// [first_overlap end]

#include <atomic>
#include <cstdio>

namespace {

constexpr std::int64_t rows = 10;  // no multiple of four: shards have 3, 3, 2 and 2 rows
constexpr std::int64_t inner = 8;
constexpr std::int64_t columns = 5;

float x_at(std::int64_t row, std::int64_t k) { return static_cast<float>((row * inner + k) % 7 - 3); }
float w_at(std::int64_t k, std::int64_t column) { return static_cast<float>((k * columns + column) % 5 - 2); }

bool rank_agrees(host::communicator& comm) {
  row_range const own = even_part(rows, comm.size(), comm.rank());
  std::vector<float> x;
  std::vector<float> w;
  std::vector<float> y(rows * columns);
  for (std::int64_t i = own.first; i < own.end(); ++i) {
    for (std::int64_t k = 0; k < inner; ++k) x.push_back(x_at(i, k));
  }
  for (std::int64_t k = 0; k < inner; ++k) {
    for (std::int64_t j = 0; j < columns; ++j) w.push_back(w_at(k, j));
  }
  forward(comm, {x.data(), own.count, inner}, {w.data(), inner, columns}, {y.data(), rows, columns});

  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      float wanted = 0;
      for (std::int64_t k = 0; k < inner; ++k) wanted += x_at(i, k) * w_at(k, j);
      if (!(y[static_cast<std::size_t>(i * columns + j)] == wanted)) return false;
    }
  }
  return true;
}

}  // namespace

int main() {
  std::atomic<int> agreeing{0};
  host::run_ranks<4>([&](host::communicator& comm) { agreeing += rank_agrees(comm) ? 1 : 0; });
  if (agreeing != 4) {
    std::printf("only %d ranks agree with the plain GEMM\n", agreeing.load());
    return 1;
  }
  std::printf("all 4 ranks agree with the plain GEMM\n");
}
