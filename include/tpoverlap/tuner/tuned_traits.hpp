// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What a tuned object derives from its list of candidates: its objects, its sizes, and how it is called.
#pragma once

#include <tpoverlap/concepts/communicator.hpp>
#include <tpoverlap/concepts/gemm_functor.hpp>
#include <tpoverlap/overlap/gather_overlap.hpp>
#include <tpoverlap/overlap/reduction_overlap.hpp>
#include <tpoverlap/overlap/side_overlap.hpp>
#include <tpoverlap/schedule/schedule.hpp>
#include <tpoverlap/tuner/candidates.hpp>
#include <tpoverlap/tuner/side_in_turn.hpp>
#include <tpoverlap/tuner/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace tpoverlap::inline v0::detail {

/// What a call passes.
enum class call_form : std::uint8_t {
  product,        ///< x, other, y (gather), or a, w, y (reduction)
  kept_product,   ///< and the gathered matrix
  consumer,       ///< x, and a functor on gathered tiles
  kept_consumer,  ///< and the gathered matrix
  producer,       ///< a functor on partial tiles, and y
  beside,         ///< source, target, a, b, c
  beside_shared   ///< shared, a, b, c
};

template <class Policy, class World, class Communicator, class Functor, class Recorder>
struct object_of {
  using type = overlap<Policy, World, Communicator, Functor, Recorder>;
};
template <class SideWork, class World, class Communicator, class Functor, class Recorder>
struct object_of<side_in_turn<SideWork>, World, Communicator, Functor, Recorder> {
  using type = side_in_turn_overlap<SideWork, World, Communicator, Functor, Recorder>;
};

/// Every candidate's policy but the first, whose class all the others are of.
template <class Candidates>
using leading_policy = typename Candidates::template policy<1>;

template <class Candidates>
inline constexpr bool tunes_side_work = candidate_traits<leading_policy<Candidates>>::edge ==
                                        candidate_traits<independent_side_work<all_gather{}>>::edge;

[[nodiscard]] inline gemm_shape const& shape_for_objects(gemm_shape const& shape) { return shape; }
[[nodiscard]] inline collective_shape const& shape_for_objects(side_shape const& shape) {
  return shape.collective;
}

template <class Candidates, class Functor, class Stream>
[[nodiscard]] constexpr call_form call_form_of() {
  using policy = leading_policy<Candidates>;
  constexpr bool multiplies = gemm_functor<Functor, Stream>;
  if constexpr (tunes_side_work<Candidates>) {
    constexpr bool in_place = schedule<policy, 1>::program.buffer_count == 2;
    return in_place ? call_form::beside_shared : call_form::beside;
  } else if constexpr (requires { policy::options.keep_gathered; }) {
    if (multiplies) return policy::options.keep_gathered ? call_form::kept_product : call_form::product;
    return policy::options.keep_gathered ? call_form::kept_consumer : call_form::consumer;
  } else {
    return multiplies ? call_form::product : call_form::producer;
  }
}

/// Whether two programs of side work move the same: their callers' buffers are alike.
[[nodiscard]] constexpr bool same_collective(program_view const& a, program_view const& b) {
  int callers = 0;
  for (int i = 0; i < a.buffer_count || i < b.buffer_count; ++i) {
    bool const in_a = i < a.buffer_count && a.buffers[i].where == storage::caller;
    bool const in_b = i < b.buffer_count && b.buffers[i].where == storage::caller;
    if (in_a != in_b) return false;
    if (!in_a) continue;
    ++callers;
    buffer const& left = a.buffers[i];
    buffer const& right = b.buffers[i];
    if (left.arrangement != right.arrangement || left.element != right.element ||
        left.before != right.before || left.after != right.after)
      return false;
  }
  return callers > 0;
}

/// A ladder of assertions, as for overlap objects.
template <class Candidates, class World, class Communicator, class Functor>
struct tuned_requirements {
  static_assert(
      has_host_all_gather<Communicator> && has_bounded_wait<Communicator>,
      "tpoverlap[E067]: a tuner compares the times of all ranks and waits for what it measures; add "
      "`host_all_gather(mine, all)` and `wait(stream)` to the communicator, or use `overlap` with one "
      "policy");
  static_assert(
      !tunes_side_work<Candidates> || gemm_functor<Functor, typename Communicator::backend::stream>,
      "tpoverlap[E068]: side work is tuned together with the GEMM beside it; give a GEMM functor instead of "
      "`tiles`, or use `overlap` with one policy");
  static constexpr bool one_collective = [] {
    bool same = true;
    if constexpr (tunes_side_work<Candidates>) {
      [&]<int... Index>(std::integer_sequence<int, Index...>) {
        same = (same_collective(
                    schedule<leading_policy<Candidates>, World::size>::program,
                    schedule<typename Candidates::template policy<Index + 1>, World::size>::program) &&
                ...);
      }
      (std::make_integer_sequence<int, Candidates::count - 1>{});
    }
    return same;
  }();
  static_assert(
      one_collective,
      "tpoverlap[E069]: candidates of side work run the same collective, so that one can stand in for the "
      "other; make one list for each collective");
  static constexpr bool met = true;
};

}  // namespace tpoverlap::inline v0::detail
