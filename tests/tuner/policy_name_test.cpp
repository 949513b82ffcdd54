// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Names of policies and lists of them: every knob shows, and nothing else does.

#include "../support/catch.hpp"

#include <tpoverlap/overlap.hpp>
#include <tpoverlap/tuner/candidates.hpp>

#include <set>
#include <string>
#include <string_view>

using namespace tpoverlap;

namespace engine {

struct halving {
  int chunks = 1;
  int radix = 2;
};
constexpr void emit(reduction_builder& b, halving const&) { emit(b, blocking{}); }
constexpr void describe(policy_text& text, halving const& s) {
  text.begin("halving").knob("chunks", s.chunks).knob("radix", s.radix);
}

}  // namespace engine

namespace {

std::string text(policy_text const& name) { return {name.view().data, name.view().size}; }

// Every value of every knob beside every other.
template <class... Policies>
std::set<std::string> names(Policies...) {
  return {text(policy_name<Policies>())...};
}

constexpr direction both = direction::both;
constexpr direction backward = direction::backward;

}  // namespace

TEST_CASE("a name has every knob in it, whether it is at its default or not", "[policy_name]") {
  CHECK(text(policy_name<producer_before_consumer<ring{.chunks = 2}>>()) ==
        "producer_before_consumer<ring{chunks=2,way=forward,depth=0,ratio=1:1},"
        "gather{dimension=rows,keep_gathered=no,operand=left}>");
  CHECK(text(policy_name<producer_before_consumer<direct{.chunks = 3, .depth = 2},
                                                  gather{.dimension = gathered_dimension::contraction,
                                                         .operand = gathered_operand::right}>>()) ==
        "producer_before_consumer<direct{chunks=3,depth=2,ratio=1:1},"
        "gather{dimension=contraction,keep_gathered=no,operand=right}>");
  CHECK(text(policy_name<consumer_before_reduction<pipeline{.chunks = 8},
                                                   reduction{.result = reduction_result::all_reduce,
                                                             .reduce_in = reduction_type::float64}>>()) ==
        "consumer_before_reduction<pipeline{chunks=8,ratio=1:1},"
        "reduction{result=all_reduce,accumulate=separate,reduce_in=float64}>");
  CHECK(text(policy_name<independent_side_work<reduce_scatter{}>>()) ==
        "independent_side_work<reduce_scatter{}>");
  CHECK(text(policy_name<consumer_before_reduction<engine::halving{.radix = 4}>>()) ==
        "consumer_before_reduction<halving{chunks=1,radix=4},"
        "reduction{result=reduce_scatter,accumulate=separate,reduce_in=as_output}>");
}

TEST_CASE("policies that differ in one knob have different names", "[policy_name]") {
  using p = producer_before_consumer<blocking{}>;
  auto const gathers =
      names(p{}, producer_before_consumer<ring{}>{}, producer_before_consumer<ring{.chunks = 2}>{},
            producer_before_consumer<ring{.way = both}>{}, producer_before_consumer<ring{.way = backward}>{},
            producer_before_consumer<ring{.depth = 2}>{}, producer_before_consumer<ring{.chunks = 12}>{},
            producer_before_consumer<direct{}>{}, producer_before_consumer<direct{.chunks = 2}>{},
            producer_before_consumer<direct{.depth = 2}>{}, producer_before_consumer<pipeline{}>{},
            producer_before_consumer<pipeline{.chunks = 2}>{},
            producer_before_consumer<ring{}, gather{.keep_gathered = true}>{},
            producer_before_consumer<ring{}, gather{.dimension = gathered_dimension::contraction}>{},
            producer_before_consumer<ring{}, gather{.dimension = gathered_dimension::contraction,
                                                    .operand = gathered_operand::right}>{});
  CHECK(gathers.size() == 15);
  auto const reductions =
      names(consumer_before_reduction<ring{}>{},
            consumer_before_reduction<ring{}, reduction{.result = reduction_result::all_reduce}>{},
            consumer_before_reduction<ring{}, reduction{.accumulate = accumulation::fused}>{},
            consumer_before_reduction<ring{}, reduction{.reduce_in = reduction_type::float32}>{},
            consumer_before_reduction<ring{}, reduction{.reduce_in = reduction_type::float64}>{},
            independent_side_work<all_gather{}>{}, independent_side_work<reduce_scatter{}>{},
            independent_side_work<all_reduce{}>{});
  CHECK(reductions.size() == 8);
  for (auto const& each : gathers) CHECK(each.find_first_of(" \n\t") == each.npos);
}

TEST_CASE("blocking is a candidate by itself, and the first", "[candidates]") {
  using choices = candidates<producer_before_consumer<ring{}>, producer_before_consumer<pipeline{}>>;
  static_assert(choices::count == 3);
  static_assert(std::is_same_v<choices::policy<0>, producer_before_consumer<blocking{}>>);
  static_assert(std::is_same_v<choices::policy<1>, producer_before_consumer<ring{}>>);
  static_assert(std::is_same_v<choices::policy<2>, producer_before_consumer<pipeline{}>>);

  using named = candidates<producer_before_consumer<ring{}>, producer_before_consumer<blocking{}>>;
  static_assert(named::count == 2);
  static_assert(std::is_same_v<named::policy<0>, producer_before_consumer<blocking{}>>);

  // Its options are those of the others, as far as it can have them.
  constexpr gather kept{.keep_gathered = true};
  using keeping = candidates<producer_before_consumer<ring{}, kept>>;
  static_assert(std::is_same_v<keeping::policy<0>, producer_before_consumer<blocking{}, kept>>);
  constexpr reduction fused{.accumulate = accumulation::fused, .reduce_in = reduction_type::float64};
  constexpr reduction separate{.reduce_in = reduction_type::float64};
  using reducing =
      candidates<consumer_before_reduction<ring{}, fused>, consumer_before_reduction<ring{}, separate>>;
  static_assert(reducing::count == 3);
  static_assert(std::is_same_v<reducing::policy<0>, consumer_before_reduction<blocking{}, separate>>);
  CHECK(text(candidates<independent_side_work<all_gather{}>>::name(0)) == "blocking{}");
}

TEST_CASE("candidates are found by their names", "[candidates]") {
  using choices = candidates<consumer_before_reduction<ring{}>, consumer_before_reduction<ring{.chunks = 2}>,
                             consumer_before_reduction<engine::halving{}>>;
  for (int i = 0; i < choices::count; ++i) CHECK(choices::find(choices::name(i).view()) == i);
  CHECK(choices::find(policy_name<consumer_before_reduction<ring{.chunks = 3}>>().view()) == -1);
  CHECK(choices::find("") == -1);
  std::string const longer = text(choices::name(1)) + ">";
  CHECK(choices::find(longer) == -1);
}

TEST_CASE("another list has another fingerprint", "[candidates]") {
  using r1 = producer_before_consumer<ring{.chunks = 1}>;
  using r2 = producer_before_consumer<ring{.chunks = 2}>;
  using r12 = producer_before_consumer<ring{.chunks = 12}>;
  std::set<std::uint64_t> const prints{candidates<r1>::fingerprint(), candidates<r2>::fingerprint(),
                                       candidates<r12>::fingerprint(), candidates<r1, r2>::fingerprint(),
                                       candidates<r2, r1>::fingerprint()};
  CHECK(prints.size() == 5);
  CHECK(candidates<r1, producer_before_consumer<blocking{}>>::fingerprint() == candidates<r1>::fingerprint());
}
