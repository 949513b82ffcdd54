// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Puts a policy through calls on NCCL and cuBLASLt with a device a rank, and compares every element.
#pragma once

#include "ranks.hpp"

#include <numeric>
#include <optional>

namespace cuda_test {

inline constexpr std::int64_t inner = 16;
inline constexpr std::int64_t columns = 16;

/// Rows of each rank's shard, and where it begins.
struct cut {
  std::vector<std::int64_t> rows;

  [[nodiscard]] std::int64_t total() const {
    return std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
  }
  [[nodiscard]] std::int64_t largest() const { return *std::max_element(rows.begin(), rows.end()); }
  [[nodiscard]] std::int64_t first(int rank) const {
    return std::accumulate(rows.begin(), rows.begin() + rank, std::int64_t{0});
  }
};

/// Even; uneven with an empty one; all on the last rank.
inline std::vector<cut> cuts(int ranks) {
  auto const p = static_cast<std::size_t>(ranks);
  std::vector<cut> result(3, cut{std::vector<std::int64_t>(p, 0)});
  for (std::size_t r = 0; r < p; ++r) {
    result[0].rows[r] = 4;
    result[1].rows[r] = static_cast<std::int64_t>(r * 3 % 7);
  }
  result[2].rows[p - 1] = 7;
  return result;
}

struct run_options {
  bool replayed = false;  ///< through cu::captured, so often that the graph is captured, launched and updated
  cu::nccl_options nccl{};
};

template <class Object, class Call>
void call_repeatedly(Object& object, cu::nccl_communicator& comm, bool replayed, Call call) {
  if (!replayed) {
    for (int i = 0; i < 2; ++i) call(object, i);
    return;
  }
  cu::captured graph{object, comm};
  for (int i = 0; i < 6; ++i) call(graph, i / 3);  // run, captured, replayed; then other operands
  require(graph.captures() == 2, "captured " + std::to_string(graph.captures()) + " times instead of twice");
}

/// y = all_gather(x) · w, the weight kept as its transpose (columns, inner) so that fp8 can be multiplied, too.
template <class In, class Out, class Policy, int P>
std::vector<rank_outcome> gather_outcomes(cut const& shards, run_options const& options) {
  using gemm = cu::cublaslt_gemm<In, Out>;
  using object = overlap<Policy, world<P>, cu::nccl_communicator, gemm>;
  constexpr bool contracts = Policy::options.dimension == gathered_dimension::contraction;
  auto const total = shards.total();
  gemm_shape const shape = contracts ? gemm_shape{inner, total, columns, shards.largest()}
                                     : gemm_shape{total, inner, columns, shards.largest()};
  return on_ranks(P, options.nccl, [&](cu::nccl_communicator& comm) {
    int const me = comm.rank();
    cu::stream stream{comm.device(), cu::stream_priority::normal};
    auto const mine = shards.rows[static_cast<std::size_t>(me)];
    auto const y_rows = contracts ? inner : total;
    device_matrix<std::byte> workspace{comm.device(), 1,
                                       static_cast<std::int64_t>(object::workspace_bytes(shape)) + 256};
    object up{comm, gemm{comm.device()}, shape, workspace.span()};
    std::vector<std::unique_ptr<device_matrix<In>>> x, w, kept;
    std::vector<std::unique_ptr<device_matrix<Out>>> y;
    for (int i = 0; i < 2; ++i) {
      x.push_back(std::make_unique<device_matrix<In>>(comm.device(), mine, inner));
      w.push_back(std::make_unique<device_matrix<In>>(comm.device(), contracts ? total : columns,
                                                      contracts ? columns : inner));
      kept.push_back(std::make_unique<device_matrix<In>>(comm.device(), total, inner));
      y.push_back(std::make_unique<device_matrix<Out>>(comm.device(), y_rows, columns));
      x.back()->fill(stream, [&](auto r, auto c) { return small_integer(10 + i, shards.first(me) + r, c); });
      w.back()->fill(stream, [&](auto r, auto c) { return small_integer(100 + 10 * me + i, r, c); });
    }
    call_options const how{.shard_rows = shards.rows};
    call_repeatedly(up, comm, options.replayed, [&](auto& call, int i) {
      auto const at = static_cast<std::size_t>(i);
      auto const weight = contracts ? w[at]->read() : w[at]->read().transposed();
      cu::stream_ref& in = stream;
      if constexpr (Policy::options.keep_gathered) {
        call(in, x[at]->read(), weight, y[at]->view(), kept[at]->view(), how);
      } else {
        call(in, x[at]->read(), weight, y[at]->view(), how);
      }
    });
    comm.wait(stream);
    for (int i = 0; i < 2; ++i) {
      auto const at = static_cast<std::size_t>(i);
      auto const where = "rank " + std::to_string(me) + ", call " + std::to_string(i);
      y[at]->require_equal(stream, where, y_rows, [&](auto r, auto c) {
        auto sum = 0;
        for (std::int64_t k = 0; k < (contracts ? total : inner); ++k)
          sum += contracts ? small_integer(10 + i, k, r) * small_integer(100 + 10 * me + i, k, c)
                           : small_integer(10 + i, r, k) * small_integer(100 + 10 * me + i, c, k);
        return sum;
      });
      if constexpr (Policy::options.keep_gathered)
        kept[at]->require_equal(stream, where + ": gathered", total,
                                [&](auto r, auto c) { return small_integer(10 + i, r, c); });
    }
  });
}

template <class In, class Out, class Policy, int P>
void run_gather(cut const& shards, run_options const& options) {
  check_all(gather_outcomes<In, Out, Policy, P>(shards, options));
}

/// y = the sum over ranks of a · w, scattered or everywhere.
template <class In, class Out, class Policy, int P>
void run_reduction(cut const& shards, run_options const& options) {
  using gemm = cu::cublaslt_gemm<In, Out>;
  using object = overlap<Policy, world<P>, cu::nccl_communicator, gemm>;
  constexpr bool everywhere = Policy::options.result == reduction_result::all_reduce;
  auto const total = shards.total();
  gemm_shape const shape{total, inner, columns, shards.largest()};
  check_all(on_ranks(P, options.nccl, [&](cu::nccl_communicator& comm) {
    int const me = comm.rank();
    cu::stream stream{comm.device(), cu::stream_priority::normal};
    auto const first = everywhere ? 0 : shards.first(me);
    auto const y_rows = everywhere ? total : shards.rows[static_cast<std::size_t>(me)];
    device_matrix<std::byte> workspace{comm.device(), 1,
                                       static_cast<std::int64_t>(object::workspace_bytes(shape)) + 256};
    object down{comm, gemm{comm.device()}, shape, workspace.span()};
    std::vector<std::unique_ptr<device_matrix<In>>> a, w;
    std::vector<std::unique_ptr<device_matrix<Out>>> y;
    for (int i = 0; i < 2; ++i) {
      a.push_back(std::make_unique<device_matrix<In>>(comm.device(), total, inner));
      w.push_back(std::make_unique<device_matrix<In>>(comm.device(), columns, inner));
      y.push_back(std::make_unique<device_matrix<Out>>(comm.device(), y_rows, columns));
      a.back()->fill(stream, [&](auto r, auto c) { return small_integer(10 * me + i, r, c); });
      w.back()->fill(stream, [&](auto r, auto c) { return small_integer(500 + 10 * me + i, r, c); });
    }
    call_options const how{.shard_rows = shards.rows};
    call_repeatedly(down, comm, options.replayed, [&](auto& call, int i) {
      auto const at = static_cast<std::size_t>(i);
      cu::stream_ref& in = stream;
      call(in, a[at]->read(), w[at]->read().transposed(), y[at]->view(), how);
    });
    comm.wait(stream);
    for (int i = 0; i < 2; ++i)
      y[static_cast<std::size_t>(i)]->require_equal(
          stream, "rank " + std::to_string(me) + ", call " + std::to_string(i), y_rows, [&](auto r, auto c) {
            auto sum = 0;
            for (int rank = 0; rank < P; ++rank)
              for (std::int64_t k = 0; k < inner; ++k)
                sum += small_integer(10 * rank + i, first + r, k) * small_integer(500 + 10 * rank + i, c, k);
            return sum;
          });
  }));
}

/// Runs every cut on fresh devices with delays of its own, so that ranks and streams drift apart.
template <class Run>
void on_every_cut(int ranks, Run run) {
  auto const all = cuts(ranks);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(ranks, i);
    device::reset(ranks);
    device::delay_operations(31 * i + static_cast<std::size_t>(ranks), std::chrono::microseconds{100});
    device::slow_device(static_cast<int>(i) % ranks, std::chrono::microseconds{100});
    run(all[i]);
  }
}

template <class In, class Out, class Policy, int... P>
void gather_on(run_options const& options = {}) {
  (on_every_cut(P, [&](cut const& shards) { run_gather<In, Out, Policy, P>(shards, options); }), ...);
}

template <class In, class Out, class Policy, int... P>
void reduction_on(run_options const& options = {}) {
  (on_every_cut(P, [&](cut const& shards) { run_reduction<In, Out, Policy, P>(shards, options); }), ...);
}

}  // namespace cuda_test
