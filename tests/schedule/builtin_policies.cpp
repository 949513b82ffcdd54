// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "builtin_policies.hpp"

#include <tpoverlap/schedule/build.hpp>
#include <tpoverlap/strategies/gather_strategies.hpp>
#include <tpoverlap/strategies/reduction_strategies.hpp>
#include <tpoverlap/strategies/side_strategies.hpp>

namespace tpoverlap_test {

using namespace tpoverlap;

namespace {

using policies = std::vector<named_policy>;

editable_program copy_of(program_builder const& built) { return editable_program{built.view()}; }

template <class Policy>
void list(policies& all, std::string name) {
  all.push_back({std::move(name), [](int ranks) { return with_program(Policy{}, ranks, copy_of); }});
}

std::string name_of(direction way) {
  switch (way) {
    case direction::forward: return "forward";
    case direction::backward: return "backward";
    case direction::both: return "both";
  }
  return "?";
}

std::string knobs(ring const& r) {
  return "ring{" + std::to_string(r.chunks) + ", " + name_of(r.way) + ", depth " + std::to_string(r.depth) +
         "}";
}
std::string knobs(direct const& d) {
  return "direct{" + std::to_string(d.chunks) + ", depth " + std::to_string(d.depth) + "}";
}
std::string knobs(pipeline const& p) { return "pipeline{" + std::to_string(p.chunks) + "}"; }
std::string knobs(blocking const&) { return "blocking"; }

template <auto Strategy, gather Options>
void list_gather(policies& all) {
  list<producer_before_consumer<Strategy, Options>>(
      all, "gather " + knobs(Strategy) +
               (Options.dimension == gathered_dimension::contraction ? " contraction" : " rows") +
               (Options.keep_gathered ? " kept" : ""));
}

template <int Chunks, gather Options>
void list_gathers(policies& all) {
  if constexpr (Chunks == 1) list_gather<blocking{}, Options>(all);
  list_gather<ring{Chunks, direction::forward}, Options>(all);
  list_gather<ring{Chunks, direction::backward}, Options>(all);
  list_gather<ring{Chunks, direction::both}, Options>(all);
  list_gather<direct{Chunks}, Options>(all);
  list_gather<pipeline{Chunks}, Options>(all);
  if constexpr (!Options.keep_gathered) {
    list_gather<ring{Chunks, direction::forward, 2}, Options>(all);
    list_gather<ring{Chunks, direction::backward, 2}, Options>(all);
    list_gather<ring{Chunks, direction::forward, 4}, Options>(all);
    list_gather<ring{Chunks, direction::both, 4}, Options>(all);
    list_gather<direct{Chunks, 2}, Options>(all);
    list_gather<direct{Chunks, 4}, Options>(all);
  }
}

template <auto Strategy, reduction Options>
void list_reduction(policies& all) {
  list<consumer_before_reduction<Strategy, Options>>(
      all, "reduction " + knobs(Strategy) +
               (Options.result == reduction_result::all_reduce ? " all_reduce" : " reduce_scatter") +
               (Options.accumulate == accumulation::fused ? " fused" : " separate") +
               (Options.reduce_in == reduction_type::float64 ? " in float64" : ""));
}

template <int Chunks, reduction Options>
void list_rings(policies& all) {
  list_reduction<ring{Chunks, direction::forward}, Options>(all);
  list_reduction<ring{Chunks, direction::backward}, Options>(all);
  list_reduction<ring{Chunks, direction::forward, 2}, Options>(all);
  list_reduction<ring{Chunks, direction::forward, 4}, Options>(all);
  if constexpr (Chunks >= 2) {
    list_reduction<ring{Chunks, direction::both}, Options>(all);
    list_reduction<ring{Chunks, direction::both, 2}, Options>(all);
    list_reduction<ring{Chunks, direction::both, 4}, Options>(all);
  }
}

template <int Chunks, reduction_result Result, reduction_type Type>
void list_reductions(policies& all) {
  constexpr reduction separate{Result, accumulation::separate, Type};
  constexpr reduction fused{Result, accumulation::fused, Type};
  if constexpr (Chunks == 1) list_reduction<blocking{}, separate>(all);
  list_rings<Chunks, separate>(all);
  list_rings<Chunks, fused>(all);
  list_reduction<direct{Chunks}, separate>(all);
  list_reduction<direct{Chunks, 2}, separate>(all);
  list_reduction<direct{Chunks, 4}, separate>(all);
  list_reduction<pipeline{Chunks}, separate>(all);
}

template <int Chunks>
policies listed() {
  policies all;
  list_gathers<Chunks, gather{gathered_dimension::rows, false}>(all);
  list_gathers<Chunks, gather{gathered_dimension::rows, true}>(all);
  list_gathers<Chunks, gather{gathered_dimension::contraction, false}>(all);
  list_gathers<Chunks, gather{gathered_dimension::contraction, true}>(all);
  list_reductions<Chunks, reduction_result::reduce_scatter, reduction_type::as_output>(all);
  list_reductions<Chunks, reduction_result::reduce_scatter, reduction_type::float64>(all);
  list_reductions<Chunks, reduction_result::all_reduce, reduction_type::as_output>(all);
  list_reductions<Chunks, reduction_result::all_reduce, reduction_type::float64>(all);
  if constexpr (Chunks == 1) {
    list<independent_side_work<all_gather{}>>(all, "side all_gather");
    list<independent_side_work<reduce_scatter{}>>(all, "side reduce_scatter");
    list<independent_side_work<all_reduce{}>>(all, "side all_reduce");
  }
  return all;
}

}  // namespace

std::vector<named_policy> const& builtin_policies(int chunks) {
  static policies const all[most_chunks] = {listed<1>(), listed<2>(), listed<3>(), listed<4>(), listed<5>()};
  return all[chunks - 1];
}

}  // namespace tpoverlap_test
