// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Names of policies as text that stays the same from build to build: what a tuning file keeps, and reports print.
#pragma once

#include <tpoverlap/core/text.hpp>
#include <tpoverlap/policy/dependency.hpp>
#include <tpoverlap/policy/strategy.hpp>

#include <concepts>
#include <cstddef>

namespace tpoverlap::inline v0 {

[[nodiscard]] constexpr char const* name_of(direction way) noexcept {
  switch (way) {
    case direction::forward: return "forward";
    case direction::backward: return "backward";
    case direction::both: return "both";
  }
  return "unknown";
}

[[nodiscard]] constexpr char const* name_of(gathered_dimension dimension) noexcept {
  return dimension == gathered_dimension::rows ? "rows" : "contraction";
}

[[nodiscard]] constexpr char const* name_of(gathered_operand operand) noexcept {
  return operand == gathered_operand::left ? "left" : "right";
}

[[nodiscard]] constexpr char const* name_of(accumulation how) noexcept {
  return how == accumulation::separate ? "separate" : "fused";
}

[[nodiscard]] constexpr char const* name_of(reduction_result result) noexcept {
  return result == reduction_result::reduce_scatter ? "reduce_scatter" : "all_reduce";
}

[[nodiscard]] constexpr char const* name_of(reduction_type type) noexcept {
  switch (type) {
    case reduction_type::as_output: return "as_output";
    case reduction_type::float32: return "float32";
    case reduction_type::float64: return "float64";
  }
  return "unknown";
}

/// Characters that a policy's name may have.
inline constexpr std::size_t longest_policy_name = 320;

/// Takes the name of a strategy or of a set of options and then its knobs, one by one, as `name{knob=value,...}`.
class policy_text {
 public:
  constexpr policy_text& begin(text_view name) {
    text_ << name << '{';
    first_ = true;
    return *this;
  }
  constexpr policy_text& knob(text_view name, std::integral auto value) {
    label(name);
    if constexpr (std::same_as<decltype(value), bool>) {
      text_ << (value ? "yes" : "no");
    } else {
      text_ << value;
    }
    return *this;
  }
  constexpr policy_text& knob(text_view name, char const* value) {
    label(name);
    text_ << value;
    return *this;
  }
  constexpr policy_text& knob(text_view name, chunk_ratio const& ratio) {
    label(name);
    text_ << ratio.earlier << ':' << ratio.later;
    return *this;
  }
  constexpr policy_text& end() {
    text_ << '}';
    return *this;
  }
  constexpr policy_text& write(text_view text) {
    text_ << text;
    return *this;
  }

  [[nodiscard]] constexpr text_view view() const noexcept { return text_.view(); }

 private:
  constexpr void label(text_view name) {
    if (!first_) text_ << ',';
    first_ = false;
    text_ << name << '=';
  }

  bounded_text<longest_policy_name> text_;
  bool first_ = true;
};

/// Each strategy names all of its knobs, also those at their defaults: a default may change, a name must not. The
/// structured bindings name every member, so that a new knob does not compile until it is named here, too.
constexpr void describe(policy_text& text, blocking const&) { text.begin("blocking"); }
constexpr void describe(policy_text& text, ring const& strategy) {
  auto const& [chunks, way, depth, ratio] = strategy;
  text.begin("ring").knob("chunks", chunks).knob("way", name_of(way)).knob("depth", depth);
  text.knob("ratio", ratio);
}
constexpr void describe(policy_text& text, direct const& strategy) {
  auto const& [chunks, depth, ratio] = strategy;
  text.begin("direct").knob("chunks", chunks).knob("depth", depth).knob("ratio", ratio);
}
constexpr void describe(policy_text& text, pipeline const& strategy) {
  auto const& [chunks, ratio] = strategy;
  text.begin("pipeline").knob("chunks", chunks).knob("ratio", ratio);
}
constexpr void describe(policy_text& text, all_gather const&) { text.begin("all_gather"); }
constexpr void describe(policy_text& text, reduce_scatter const&) { text.begin("reduce_scatter"); }
constexpr void describe(policy_text& text, all_reduce const&) { text.begin("all_reduce"); }

constexpr void describe(policy_text& text, gather const& options) {
  auto const& [dimension, keep_gathered, operand] = options;
  text.begin("gather").knob("dimension", name_of(dimension)).knob("keep_gathered", keep_gathered);
  text.knob("operand", name_of(operand));
}
constexpr void describe(policy_text& text, reduction const& options) {
  auto const& [result, accumulate, reduce_in] = options;
  text.begin("reduction").knob("result", name_of(result)).knob("accumulate", name_of(accumulate));
  text.knob("reduce_in", name_of(reduce_in));
}

/// A strategy that `describe(policy_text&, Strategy const&)` can name. Write it beside `emit`, in the strategy's
/// namespace: `text.begin("my_strategy").knob("chunks", s.chunks)`, with every knob.
template <class Strategy>
concept named_strategy = requires(policy_text& text, Strategy const& strategy) {
  describe(text, strategy);
};

namespace detail {

template <class Strategy>
constexpr policy_text& write_strategy(policy_text& text, Strategy const& strategy) {
  static_assert(named_strategy<Strategy>,
                "tpoverlap[E060]: this strategy has no name that could be kept; write `constexpr void "
                "describe(policy_text& text, Strategy const& s)` beside its `emit`, with every knob: "
                "text.begin(\"name\").knob(\"chunks\", s.chunks)");
  if constexpr (named_strategy<Strategy>) describe(text, strategy);
  return text.end();
}

template <auto Strategy, gather Options>
constexpr void write_policy(policy_text& text, producer_before_consumer<Strategy, Options>) {
  write_strategy(text.write("producer_before_consumer<"), Strategy).write(",");
  describe(text, Options);
  text.end().write(">");
}
template <auto Strategy, reduction Options>
constexpr void write_policy(policy_text& text, consumer_before_reduction<Strategy, Options>) {
  write_strategy(text.write("consumer_before_reduction<"), Strategy).write(",");
  describe(text, Options);
  text.end().write(">");
}
template <auto Strategy>
constexpr void write_policy(policy_text& text, independent_side_work<Strategy>) {
  write_strategy(text.write("independent_side_work<"), Strategy).write(">");
}

}  // namespace detail

/// The name of `Policy`, such as
/// `producer_before_consumer<ring{chunks=2,way=forward,depth=0,ratio=1:1},gather{dimension=rows,keep_gathered=no,operand=left}>`.
/// No spaces; two policies have one name only if they are equal.
template <class Policy>
[[nodiscard]] constexpr policy_text policy_name() {
  policy_text text;
  detail::write_policy(text, Policy{});
  return text;
}

}  // namespace tpoverlap::inline v0
