// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Makes the program of a policy: builder, strategy, synchronization.
#pragma once

#include <tpoverlap/policy/dependency.hpp>
#include <tpoverlap/schedule/gather_builder.hpp>
#include <tpoverlap/schedule/reduction_builder.hpp>
#include <tpoverlap/schedule/synchronize.hpp>

namespace tpoverlap::inline v0 {

/// How a strategy sees the ranks: its `group(ranks)` if it has one, else a rotation.
template <class Strategy>
[[nodiscard]] constexpr rank_group group_of(Strategy const& strategy, int ranks) {
  if constexpr (requires { strategy.group(ranks); }) {
    return strategy.group(ranks);
  } else {
    return {ranks};
  }
}

/// Landing slots of a strategy: its `depth` if it has one, else 0, a place for every shard.
template <class Strategy>
[[nodiscard]] constexpr int depth_of(Strategy const& strategy) {
  if constexpr (requires { strategy.depth; }) {
    return strategy.depth;
  } else {
    return 0;
  }
}

/// A dependency class has a strategy for each builder that an `emit` function takes with it. Users add strategies by
/// writing `constexpr void emit(gather_builder&, my_strategy const&)` (or `reduction_builder&`) beside `my_strategy`.
template <class Strategy, class Builder>
concept strategy_for = requires(Builder& builder, Strategy const& strategy) {
  emit(builder, strategy);
};

namespace detail {

/// What both classes that cut shards ask of the sizes of chunks.
template <auto Strategy>
struct sized {
  static constexpr bool positive = ratio_of(Strategy).earlier >= 1 && ratio_of(Strategy).later >= 1;
  static_assert(positive,
                "tpoverlap[E038]: neighbouring chunks are sized in a ratio of positive numbers; set both "
                "`earlier` and `later` of `ratio` to 1 or more, or leave it out for an even cut");
  static_assert(!positive || ratio_of(Strategy).cuts(chunks_of(Strategy)),
                "tpoverlap[E039]: the sizes of this many `chunks` are powers of `ratio` that exceed 2^31 - 1 "
                "together; take fewer chunks, or a ratio of smaller numbers");
  static constexpr bool rightly = true;
};

template <class Builder, class Use>
constexpr auto finish_with(Builder& builder, Use use) {
  program_builder& program = builder.program();
  program.finish();
  synchronize(program);
  return use(program);
}

/// An empty program instead of one whose policy has been refused, so that one error is not followed by others.
template <class Use>
constexpr auto with_nothing(int ranks, Use use) {
  program_builder nothing{{ranks}, 1};
  nothing.finish();
  return use(nothing);
}

}  // namespace detail

/// Builds the synchronized program of `Policy` for `ranks` ranks and hands it to `use` while it lives.
template <auto Strategy, gather Options, class Use>
constexpr auto with_program(producer_before_consumer<Strategy, Options>, int ranks, Use use) {
  static_assert(
      strategy_for<decltype(Strategy), gather_builder>,
      "tpoverlap[E007]: this strategy cannot gather; producer_before_consumer takes blocking, ring, direct, "
      "pipeline, or a strategy with `constexpr void emit(gather_builder&, Strategy const&)`");
  static_assert(chunks_of(Strategy) >= 1,
                "tpoverlap[E002]: a shard has at least one chunk; set `chunks` to 1 or more");
  static_assert(detail::sized<Strategy>::rightly);
  static_assert(depth_of(Strategy) >= 0,
                "tpoverlap[E003]: `depth` counts landing slots; set it to 0 (one for every shard) or more");
  static_assert(
      !Options.keep_gathered || depth_of(Strategy) == 0,
      "tpoverlap[E004]: keep_gathered needs a place for every shard, `depth` reuses places; leave `depth` "
      "at 0, or do not keep the gathered matrix");
  static_assert(
      Options.operand == gathered_operand::left || Options.dimension == gathered_dimension::contraction,
      "tpoverlap[E008]: only a contraction can gather its right operand; set the gathered dimension to "
      "contraction, or gather the left operand");
  if constexpr (strategy_for<decltype(Strategy), gather_builder> && chunks_of(Strategy) >= 1 &&
                ratio_of(Strategy).cuts(chunks_of(Strategy)) && depth_of(Strategy) >= 0 &&
                (!Options.keep_gathered || depth_of(Strategy) == 0) &&
                (Options.operand == gathered_operand::left ||
                 Options.dimension == gathered_dimension::contraction)) {
    gather_builder builder{group_of(Strategy, ranks), chunks_of(Strategy), Options, depth_of(Strategy),
                           ratio_of(Strategy)};
    emit(builder, Strategy);
    return detail::finish_with(builder, use);
  } else {
    return detail::with_nothing(ranks, use);
  }
}

namespace detail {

template <class Strategy>
constexpr bool turns_both_ways(Strategy const& strategy) {
  if constexpr (requires { strategy.way == direction::both; }) {
    return strategy.way == direction::both;
  } else {
    return false;
  }
}

template <class Strategy>
inline constexpr bool can_fuse = requires(Strategy strategy) {
  strategy.way;
}
|| requires(Strategy strategy) { strategy.can_fuse; };

}  // namespace detail

template <auto Strategy, reduction Options, class Use>
constexpr auto with_program(consumer_before_reduction<Strategy, Options>, int ranks, Use use) {
  static_assert(
      strategy_for<decltype(Strategy), reduction_builder>,
      "tpoverlap[E007]: this strategy cannot reduce; consumer_before_reduction takes blocking, ring, "
      "direct, pipeline, or a strategy with `constexpr void emit(reduction_builder&, Strategy const&)`");
  static_assert(chunks_of(Strategy) >= 1,
                "tpoverlap[E002]: a shard has at least one chunk; set `chunks` to 1 or more");
  static_assert(detail::sized<Strategy>::rightly);
  static_assert(depth_of(Strategy) >= 0,
                "tpoverlap[E003]: `depth` counts landing slots; set it to 0 (one for every shard) or more");
  static_assert(
      Options.accumulate == accumulation::separate || detail::can_fuse<decltype(Strategy)>,
      "tpoverlap[E005]: only a moving bucket can be added to by the GEMM; use accumulation::fused with ring, "
      "or leave it at accumulation::separate");
  static_assert(
      !detail::turns_both_ways(Strategy) || chunks_of(Strategy) >= 2,
      "tpoverlap[E006]: a reduction goes both ways round by sending some chunks each way; set `chunks` to 2 "
      "or more, or choose one direction");
  if constexpr (strategy_for<decltype(Strategy), reduction_builder> && chunks_of(Strategy) >= 1 &&
                ratio_of(Strategy).cuts(chunks_of(Strategy)) && depth_of(Strategy) >= 0 &&
                (Options.accumulate == accumulation::separate || detail::can_fuse<decltype(Strategy)>)&&(
                    !detail::turns_both_ways(Strategy) || chunks_of(Strategy) >= 2)) {
    reduction_builder builder{group_of(Strategy, ranks), chunks_of(Strategy), Options, ratio_of(Strategy)};
    emit(builder, Strategy);
    return detail::finish_with(builder, use);
  } else {
    return detail::with_nothing(ranks, use);
  }
}

template <auto Strategy, class Use>
constexpr auto with_program(independent_side_work<Strategy>, int ranks, Use use) {
  static_assert(
      strategy_for<decltype(Strategy), program_builder>,
      "tpoverlap[E007]: this is no side work; independent_side_work takes all_gather, reduce_scatter, "
      "all_reduce, or a strategy with `constexpr void emit(program_builder&, Strategy const&)`");
  if constexpr (strategy_for<decltype(Strategy), program_builder>) {
    program_builder builder{group_of(Strategy, ranks), 1};
    emit(builder, Strategy);
    builder.finish();
    synchronize(builder);
    return use(builder);
  } else {
    return detail::with_nothing(ranks, use);
  }
}

}  // namespace tpoverlap::inline v0
