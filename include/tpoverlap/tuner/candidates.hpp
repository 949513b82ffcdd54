// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The list of policies that a tuner chooses from.
#pragma once

#include <tpoverlap/core/text.hpp>
#include <tpoverlap/policy/dependency.hpp>
#include <tpoverlap/policy/policy_name.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tpoverlap::inline v0 {

namespace detail {

template <class... Policies>
struct policy_list {
  static constexpr int size = static_cast<int>(sizeof...(Policies));
};

template <int Index, class List>
struct nth_policy;
template <int Index, class First, class... Rest>
struct nth_policy<Index, policy_list<First, Rest...>> : nth_policy<Index - 1, policy_list<Rest...>> {};
template <class First, class... Rest>
struct nth_policy<0, policy_list<First, Rest...>> {
  using type = First;
};

/// What is asked of one policy, and of two that are to compute the same.
template <class Policy>
struct candidate_traits {
  static constexpr int edge = -1;
  static constexpr char const* edge_name = "";
  static constexpr bool is_baseline = false;
  template <class>
  static constexpr bool agrees_with = false;
  using baseline = Policy;
};

template <auto Strategy, gather Options>
struct candidate_traits<producer_before_consumer<Strategy, Options>> {
  static constexpr int edge = 0;
  static constexpr char const* edge_name = "producer_before_consumer";
  static constexpr bool is_baseline = std::is_same_v<std::remove_cv_t<decltype(Strategy)>, blocking>;
  using baseline = producer_before_consumer<blocking{}, Options>;
  template <class Other>
  static constexpr bool agrees_with = Other::options == Options;
};

template <auto Strategy, reduction Options>
struct candidate_traits<consumer_before_reduction<Strategy, Options>> {
  static constexpr int edge = 1;
  static constexpr char const* edge_name = "consumer_before_reduction";
  static constexpr bool is_baseline = std::is_same_v<std::remove_cv_t<decltype(Strategy)>, blocking>;
  using baseline = consumer_before_reduction<blocking{}, reduction{.result = Options.result,
                                                                   .reduce_in = Options.reduce_in}>;
  /// How partials are added is a matter of speed, what they end as is not.
  template <class Other>
  static constexpr bool agrees_with =
      Other::options.result == Options.result&& Other::options.reduce_in == Options.reduce_in;
};

/// Stands for the collective of side work followed by the GEMM, which has no schedule of its own.
template <class SideWork>
struct side_in_turn;

template <auto Strategy>
struct candidate_traits<independent_side_work<Strategy>> {
  static constexpr int edge = 2;
  static constexpr char const* edge_name = "independent_side_work";
  static constexpr bool is_baseline = false;
  using baseline = side_in_turn<independent_side_work<Strategy>>;
  /// What the collective does is compared when the programs are there.
  template <class>
  static constexpr bool agrees_with = true;
};

/// `Kept...` without those of `Rest...` that are the baseline, which comes first anyway.
template <class Kept, class... Rest>
struct without_baseline;
template <class... Kept>
struct without_baseline<policy_list<Kept...>> {
  using type = policy_list<Kept...>;
};
template <class... Kept, class First, class... Rest>
struct without_baseline<policy_list<Kept...>, First, Rest...>
    : without_baseline<std::conditional_t<candidate_traits<First>::is_baseline, policy_list<Kept...>,
                                          policy_list<Kept..., First>>,
                       Rest...> {};

template <class... Policies>
struct candidate_checks {
  static_assert(
      sizeof...(Policies) > 0,
      "tpoverlap[E061]: a tuner chooses among policies besides blocking, which is added by itself; name "
      "at least one, as in candidates<producer_before_consumer<ring{}>>");
  static constexpr bool usable = sizeof...(Policies) > 0;
  static constexpr bool met = true;
};

template <class First, class... Rest>
struct candidate_checks<First, Rest...> {
  static constexpr bool policies =
      candidate_traits<First>::edge >= 0 && ((candidate_traits<Rest>::edge >= 0) && ...);
  static_assert(policies,
                "tpoverlap[E062]: a candidate is a policy: producer_before_consumer<...>, "
                "consumer_before_reduction<...> or independent_side_work<...>; remove what is none");
  static constexpr bool one_edge =
      !policies || ((candidate_traits<Rest>::edge == candidate_traits<First>::edge) && ...);
  static_assert(one_edge,
                "tpoverlap[E063]: candidates of different dependency classes cannot stand in for each other; "
                "make one list for each class");
  static constexpr bool one_result = [] {
    if constexpr (policies && one_edge) {
      return (candidate_traits<First>::template agrees_with<Rest> && ...);
    } else {
      return true;
    }
  }();
  static_assert(one_result,
                "tpoverlap[E064]: candidates give the same result in the same places; let them have the same "
                "gather options, or the same `result` and `reduce_in` of a reduction");
  static constexpr bool usable = policies && one_edge && one_result;
  static constexpr bool met = true;
};

}  // namespace detail

/// Policies of one dependency class that compute the same, in the order in which equals are preferred. `blocking` comes
/// first, whether it is named or not; of side work that is the collective, then the GEMM.
///
///     using choices = candidates<producer_before_consumer<ring{.chunks = 1}>,
///                                producer_before_consumer<ring{.chunks = 4}>,
///                                producer_before_consumer<pipeline{}>>;
template <class... Policies>
class candidates {
  static_assert(detail::candidate_checks<Policies...>::met);
  using first = typename detail::nth_policy<0, detail::policy_list<Policies..., void>>::type;
  using traits = detail::candidate_traits<first>;
  using list =
      typename detail::without_baseline<detail::policy_list<typename traits::baseline>, Policies...>::type;
  static_assert(
      !detail::candidate_checks<Policies...>::usable || list::size > 1,
      "tpoverlap[E061]: a tuner chooses among policies besides blocking, which is added by itself; name "
      "at least one, as in candidates<producer_before_consumer<ring{}>>");

  template <class Policy>
  static constexpr policy_text name_as_candidate() {
    if constexpr (detail::candidate_traits<Policy>::edge >= 0) {
      return policy_name<Policy>();
    } else {
      return policy_text{}.begin("blocking").end();  // side work in turn
    }
  }

 public:
  static constexpr int count = list::size;
  static constexpr char const* dependency_class = traits::edge_name;

  /// Candidate `Index`, 0..count-1; 0 is blocking.
  template <int Index>
  using policy = typename detail::nth_policy<Index, list>::type;

  /// The name of a candidate, as a tuning file keeps it.
  [[nodiscard]] static constexpr policy_text name(int index) {
    return [index]<class... All>(detail::policy_list<All...>) {
      policy_text found;
      int i = 0;
      ((i++ == index ? void(found = name_as_candidate<All>()) : void()), ...);
      return found;
    }(list{});
  }

  /// The candidate of that name, or -1.
  [[nodiscard]] static constexpr int find(text_view name_of_candidate) {
    for (int i = 0; i < count; ++i) {
      if (same(name(i).view(), name_of_candidate)) return i;
    }
    return -1;
  }

  /// FNV-1a over all names, in order: other lists have other fingerprints.
  [[nodiscard]] static constexpr std::uint64_t fingerprint() {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (int i = 0; i < count; ++i) {
      policy_text const text = name(i);
      for (std::size_t c = 0; c < text.view().size; ++c) mix(hash, text.view().data[c]);
      mix(hash, ';');
    }
    return hash;
  }

 private:
  static constexpr bool same(text_view a, text_view b) {
    if (a.size != b.size) return false;
    for (std::size_t i = 0; i < a.size; ++i) {
      if (a.data[i] != b.data[i]) return false;
    }
    return true;
  }
  static constexpr void mix(std::uint64_t& hash, char c) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  static constexpr bool names_differ() {
    if constexpr (detail::candidate_checks<Policies...>::usable) {
      for (int i = 0; i < count; ++i) {
        if (name(i).view().size >= longest_policy_name || find(name(i).view()) != i) return false;
      }
    }
    return true;
  }
  static_assert(
      names_differ(),
      "tpoverlap[E065]: two candidates have one name, or one's name is too long to be kept whole; name "
      "each policy once, and let a strategy's `describe` tell all of its knobs in short");
};

}  // namespace tpoverlap::inline v0
