// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Runs a policy on a few ranks over an emulated link, with GEMMs that take as long as messages do, and hands out what
//! was recorded. GEMMs sleep instead of computing, so that ranks do not need cores of their own.
#pragma once

#include <tpoverlap/host.hpp>
#include <tpoverlap/overlap.hpp>
#include <tpoverlap/trace.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <type_traits>
#include <vector>

inline constexpr std::chrono::milliseconds gemm_time{10};
inline constexpr std::int64_t width = 32;
inline constexpr std::int64_t shard_rows = 16;

/// A shard occupies the wire for as long as a GEMM takes.
inline constexpr tpoverlap::host::communicator_options emulated_link{
    .link = {.gigabits_per_second = shard_rows * width * sizeof(float) * 8 / 0.010 / 1e9}};

struct sleeping_gemm {
  using input_type = float;
  using output_type = float;

  void operator()(tpoverlap::host::stream& on, tpoverlap::matrix_view<float const>,
                  tpoverlap::matrix_view<float const>, tpoverlap::matrix_view<float>, float) const {
    on.enqueue([] { std::this_thread::sleep_for(gemm_time); });
  }
};

/// The operands of any call, and the three ways to make it.
struct operands {
  explicit operands(int ranks)
      : rows{shard_rows * ranks},
        all(elements(rows), 1.0F),
        weight(elements(width), 1.0F),
        one(elements(rows)),
        other(elements(rows)) {}

  static std::size_t elements(std::int64_t rows) { return static_cast<std::size_t>(rows * width); }

  template <auto Strategy, tpoverlap::gather Options, class Overlap>
  void call(tpoverlap::producer_before_consumer<Strategy, Options>, Overlap& up,
            tpoverlap::host::stream& stream) {
    up(stream, {all.data(), shard_rows, width}, {weight.data(), width, width}, {one.data(), rows, width});
  }
  template <auto Strategy, tpoverlap::reduction Options, class Overlap>
  void call(tpoverlap::consumer_before_reduction<Strategy, Options>, Overlap& down,
            tpoverlap::host::stream& stream) {
    constexpr bool everywhere = Options.result == tpoverlap::reduction_result::all_reduce;
    down(stream, {all.data(), rows, width}, {weight.data(), width, width},
         {one.data(), everywhere ? rows : shard_rows, width});
  }
  template <auto Strategy, class Overlap>
  void call(tpoverlap::independent_side_work<Strategy>, Overlap& side, tpoverlap::host::stream& stream) {
    tpoverlap::matrix_view<float const> const a{weight.data(), width, width};
    tpoverlap::matrix_view<float> const product{other.data(), width, width};
    if constexpr (Overlap::in_place) {
      side(stream, {one.data(), rows, width}, a, a, product);
    } else if constexpr (std::is_same_v<std::remove_const_t<decltype(Strategy)>, tpoverlap::all_gather>) {
      side(stream, {all.data(), shard_rows, width}, {one.data(), rows, width}, a, a, product);
    } else {
      side(stream, {all.data(), rows, width}, {one.data(), shard_rows, width}, a, a, product);
    }
  }

  template <class Policy>
  static auto shape(Policy, std::int64_t rows) {
    return tpoverlap::gemm_shape{.rows = rows, .inner = width, .columns = width};
  }
  template <auto Strategy>
  static auto shape(tpoverlap::independent_side_work<Strategy>, std::int64_t rows) {
    return tpoverlap::collective_shape{.rows = rows, .columns = width};
  }

  std::int64_t rows;
  std::vector<float> all;
  std::vector<float> weight;
  std::vector<float> one;
  std::vector<float> other;
};

/// Makes `calls` calls of `Policy` back to back on every rank; `kept` of them are recorded.
template <class Policy, int P, class Gemm = sleeping_gemm>
std::vector<tpoverlap::trace::event>
traced(int calls, int kept, tpoverlap::host::communicator_options const& options = emulated_link) {
  using namespace tpoverlap;
  using recorder = trace::recorder<host::backend>;
  using overlapped = overlap<Policy, world<P>, host::communicator, Gemm, recorder>;
  std::vector<std::vector<trace::event>> of_ranks(P);
  host::run_ranks<P>(
      [&](host::communicator& comm) {
        operands data{P};
        auto const shape = operands::shape(Policy{}, data.rows);
        std::vector<std::byte> workspace(overlapped::workspace_bytes(shape));
        recorder record{{.calls = kept}};
        host::stream stream;
        overlapped work{Policy{}, world<P>{}, comm, Gemm{}, shape, workspace, record};
        for (int i = 0; i < calls; ++i) data.call(Policy{}, work, stream);
        comm.wait(stream);
        of_ranks[static_cast<std::size_t>(comm.rank())] = record.events();
      },
      options);
  std::vector<trace::event> all;
  for (auto const& each : of_ranks) all.insert(all.end(), each.begin(), each.end());
  return all;
}
