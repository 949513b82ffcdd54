// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A starting choice from a model of the machine, without measuring; works while compiling, too.
#pragma once

#include <tpoverlap/core/element.hpp>
#include <tpoverlap/overlap/shape.hpp>
#include <tpoverlap/schedule/build.hpp>
#include <tpoverlap/schedule/predict.hpp>
#include <tpoverlap/schedule/schedule.hpp>
#include <tpoverlap/strategies/gather_strategies.hpp>
#include <tpoverlap/strategies/reduction_strategies.hpp>
#include <tpoverlap/tuner/candidates.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace tpoverlap::inline v0 {

/// An AllGather that feeds a GEMM. Shapes as in `overlap`: the cut dimension of all ranks together.
struct gather_problem {
  int ranks = 1;
  gemm_shape shape;
  element input = element::float32;
  gather options = {};

  [[nodiscard]] constexpr schedule_work work() const {
    bool const contracts = options.dimension == gathered_dimension::contraction;
    std::int64_t const width = !contracts                                   ? shape.inner
                               : options.operand == gathered_operand::right ? shape.columns
                                                                            : shape.rows;
    std::int64_t const cut = contracts ? shape.inner : shape.rows;
    std::int64_t const other = contracts ? shape.rows : shape.inner;
    double const row = static_cast<double>(width) * static_cast<double>(size_of(input));
    return {cut, 2.0 * static_cast<double>(other) * static_cast<double>(shape.columns), {row, row, row}};
  }

  /// What hides most where all messages take as long as all GEMMs, see `chunk_ratio`.
  [[nodiscard]] constexpr chunk_ratio graded() const { return {ranks, ranks - 1}; }
};

/// A GEMM that feeds a ReduceScatter or an AllReduce.
struct reduction_problem {
  int ranks = 1;
  gemm_shape shape;
  element output = element::float32;
  reduction options = {};

  [[nodiscard]] constexpr schedule_work work() const {
    element const sums = options.reduce_in == reduction_type::float32   ? element::float32
                         : options.reduce_in == reduction_type::float64 ? element::float64
                                                                        : output;
    double const columns = static_cast<double>(shape.columns);
    return {
        shape.rows,
        2.0 * static_cast<double>(shape.inner) * columns,
        {0, columns * static_cast<double>(size_of(output)), columns * static_cast<double>(size_of(sums))}};
  }

  /// What hides most where all messages take as long as all GEMMs, see `chunk_ratio`.
  [[nodiscard]] constexpr chunk_ratio graded() const { return {ranks - 1, ranks}; }
};

enum class strategy_kind : std::uint8_t { blocking, ring, direct, pipeline };

[[nodiscard]] constexpr char const* name_of(strategy_kind kind) noexcept {
  switch (kind) {
    case strategy_kind::blocking: return "blocking";
    case strategy_kind::ring: return "ring";
    case strategy_kind::direct: return "direct";
    case strategy_kind::pipeline: return "pipeline";
  }
  return "unknown";
}

/// A strategy with what it is predicted to take, beside blocking.
struct recommendation {
  strategy_kind strategy = strategy_kind::blocking;
  int chunks = 1;
  chunk_ratio ratio;
  predicted_time predicted;
  predicted_time blocking;

  [[nodiscard]] constexpr double speedup() const {
    return predicted.seconds > 0 ? blocking.seconds / predicted.seconds : 1;
  }
};

namespace detail {

/// A model's figures are no better than this, so a strategy has to promise more to be preferred.
inline constexpr double worthwhile = 0.98;
inline constexpr int chunk_counts[] = {1, 2, 4, 8};

template <class Strategy>
constexpr predicted_time predict_strategy(gather_problem const& problem, machine_model const& machine,
                                          Strategy const& strategy) {
  gather_builder builder{group_of(strategy, problem.ranks), chunks_of(strategy), problem.options, 0,
                         ratio_of(strategy)};
  emit(builder, strategy);
  return finish_with(
      builder, [&](program_builder const& built) { return predict(built.view(), problem.work(), machine); });
}

template <class Strategy>
constexpr predicted_time predict_strategy(reduction_problem const& problem, machine_model const& machine,
                                          Strategy const& strategy) {
  reduction options = problem.options;
  if constexpr (!can_fuse<Strategy>) options.accumulate = accumulation::separate;
  reduction_builder builder{group_of(strategy, problem.ranks), chunks_of(strategy), options,
                            ratio_of(strategy)};
  emit(builder, strategy);
  return finish_with(
      builder, [&](program_builder const& built) { return predict(built.view(), problem.work(), machine); });
}

/// Rows that the smallest chunk of a shard would have.
template <class Problem>
constexpr bool can_be_cut(Problem const& problem, int chunks) {
  return even_part(problem.work().rows, problem.ranks, problem.ranks - 1).count >= chunks;
}

}  // namespace detail

/// The strategy that a model of the machine finds fastest for `problem` (a `gather_problem` or a `reduction_problem`),
/// each with 1, 2, 4 and 8 chunks, those of ring and direct graded, too; blocking, unless another is at least 2 % faster.
/// Where a tuner can measure, it knows better: this is where it starts, and what there is without it.
///
/// The model: `machine_model` prices operations, `play` puts them on lanes as the schedule orders them.
template <class Problem>
[[nodiscard]] constexpr recommendation recommend(Problem const& problem, machine_model const& machine) {
  recommendation best;
  best.blocking = best.predicted = detail::predict_strategy(problem, machine, blocking{});
  if (problem.ranks == 1) return best;
  auto const consider = [&](strategy_kind kind, auto const& strategy) {
    predicted_time const time = detail::predict_strategy(problem, machine, strategy);
    if (time.seconds >= best.predicted.seconds) return;
    if (time.seconds >= detail::worthwhile * best.blocking.seconds) return;
    best.strategy = kind;
    best.chunks = chunks_of(strategy);
    best.ratio = ratio_of(strategy);
    best.predicted = time;
  };
  for (int const chunks : detail::chunk_counts) {
    if (!detail::can_be_cut(problem, chunks)) break;
    consider(strategy_kind::ring, ring{.chunks = chunks});
    consider(strategy_kind::direct, direct{.chunks = chunks});
    if (chunks == 1) continue;
    consider(strategy_kind::pipeline, pipeline{.chunks = chunks});
    chunk_ratio const ratio = problem.graded();
    if (!ratio.cuts(chunks)) continue;
    consider(strategy_kind::ring, ring{.chunks = chunks, .ratio = ratio});
    consider(strategy_kind::direct, direct{.chunks = chunks, .ratio = ratio});
  }
  return best;
}

namespace detail {

template <class Strategy>
constexpr bool is_kind(strategy_kind kind) {
  switch (kind) {
    case strategy_kind::blocking: return std::is_same_v<Strategy, blocking>;
    case strategy_kind::ring: return std::is_same_v<Strategy, ring>;
    case strategy_kind::direct: return std::is_same_v<Strategy, direct>;
    case strategy_kind::pipeline: return std::is_same_v<Strategy, pipeline>;
  }
  return false;
}

template <class Policy>
constexpr int chunks_if_kind(strategy_kind kind) {
  if constexpr (requires { Policy::strategy; }) {
    if (is_kind<std::remove_cvref_t<decltype(Policy::strategy)>>(kind)) return chunks_of(Policy::strategy);
  }
  return 0;
}

template <class Policy>
constexpr bool has_ratio(chunk_ratio const& ratio) {
  if constexpr (requires { Policy::strategy; }) {
    return ratio_of(Policy::strategy) == ratio;
  } else {
    return false;
  }
}

/// How many times one count is the other.
constexpr double times_apart(int a, int b) {
  return a > b ? static_cast<double>(a) / b : static_cast<double>(b) / a;
}

}  // namespace detail

/// The candidate of the recommended strategy whose chunk count is nearest (in proportion; of equal ones, one of the
/// recommended ratio, or the first), or blocking (0) if the list has none of it.
template <class Candidates>
[[nodiscard]] constexpr int nearest_candidate(recommendation const& wanted) {
  int best = 0;
  double best_distance = 0;
  [&]<int... Index>(std::integer_sequence<int, Index...>) {
    auto const consider = [&](int index, int chunks, bool same_ratio) {
      if (chunks == 0) return;
      double const distance = detail::times_apart(chunks, wanted.chunks) - (same_ratio ? 1e-3 : 0);
      if (best_distance == 0 || distance < best_distance) {
        best = index;
        best_distance = distance;
      }
    };
    (consider(Index, detail::chunks_if_kind<typename Candidates::template policy<Index>>(wanted.strategy),
              detail::has_ratio<typename Candidates::template policy<Index>>(wanted.ratio)),
     ...);
  }
  (std::make_integer_sequence<int, Candidates::count>{});
  return best;
}

/// As `recommend`, but among the candidates themselves, with every knob they have and strategies of the user's own.
template <class Candidates, int Ranks, class Problem>
[[nodiscard]] constexpr int recommended_candidate(Problem const& problem, machine_model const& machine) {
  int best = 0;
  double best_seconds = 0;
  double blocking_seconds = 0;
  [&]<int... Index>(std::integer_sequence<int, Index...>) {
    auto const consider = [&](int index, program_view const& program) {
      double const seconds = predict(program, problem.work(), machine).seconds;
      if (index == 0) blocking_seconds = best_seconds = seconds;
      if (seconds < best_seconds && seconds < detail::worthwhile * blocking_seconds) {
        best = index;
        best_seconds = seconds;
      }
    };
    (consider(Index, schedule<typename Candidates::template policy<Index>, Ranks>::program), ...);
  }
  (std::make_integer_sequence<int, Candidates::count>{});
  return best;
}

}  // namespace tpoverlap::inline v0
