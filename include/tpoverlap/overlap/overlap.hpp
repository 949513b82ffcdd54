// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The primary template of `overlap` and how it is deduced; each dependency class has its own specialization.
#pragma once

#include <tpoverlap/core/element.hpp>
#include <tpoverlap/overlap/recording.hpp>
#include <tpoverlap/overlap/requirements.hpp>
#include <tpoverlap/overlap/shape.hpp>
#include <tpoverlap/policy/dependency.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace tpoverlap::inline v0 {

/// A schedule bound to a communicator, a functor and a workspace: built once, called many times.
///
///     overlap up{gather_policy{}, world<4>{}, comm, gemm, {.rows = m, .inner = k, .columns = n}, workspace};
///     up(stream, x, w, y);
///
/// **Ordering** building it is collective: all ranks build the same objects in the same order, and it compares their
/// policies and shapes if the communicator has `host_all_gather`. Calls on one object go to one stream, or to streams
/// that the caller has ordered. A call allocates nothing.
/// The communicator and the workspace outlive the object; the workspace belongs to it alone. Destroying it waits for the
/// communicator's lanes if that has `drain`.
/// With the type spelled out, a pointer to a recorder may follow the workspace (null records nothing), and a name that
/// traces show; where it is deduced, a recorder by reference.
template <class Policy, class World, class Communicator, class Functor, class Recorder = no_recorder>
class overlap {
  static_assert(!std::is_same_v<Policy, Policy>,
                "tpoverlap[E009]: the first argument of overlap is a policy: producer_before_consumer<...>, "
                "consumer_before_reduction<...> or independent_side_work<...>; pass one of them");
};

namespace detail {

template <class Policy>
struct shape_of {
  using type = gemm_shape;
};
template <auto Strategy>
struct shape_of<independent_side_work<Strategy>> {
  using type = collective_shape;
};

/// Objects are built with a GEMM functor, or with `tiles` for a functor that comes with each call.
template <class Functor>
inline constexpr bool is_tiles = false;
template <class Input, class Output>
inline constexpr bool is_tiles<tiles<Input, Output>> = true;

template <class Functor, class Stream>
constexpr bool functor_serves() {
  if constexpr (!is_tiles<Functor>) return gemm_requirements<Functor, Stream>::met;
  return true;
}

template <class Functor>
struct types_of {
  static_assert(functor_types<Functor>::met);
  using input = typename Functor::input_type;
  using output = typename Functor::output_type;
  using reduction = output;
};

template <class Output, reduction_type In>
struct type_to_reduce_in {
  using type = Output;
};
template <class Output>
struct type_to_reduce_in<Output, reduction_type::float32> {
  using type = float;
};
template <class Output>
struct type_to_reduce_in<Output, reduction_type::float64> {
  using type = double;
};

template <class Functor, reduction_type In>
struct reducing_types : types_of<Functor> {
  using reduction = typename type_to_reduce_in<typename Functor::output_type, In>::type;
};

/// Whether a GEMM of the program writes a buffer that is kept in the type of the reduction.
[[nodiscard]] constexpr bool produces_reduction_type(program_view const& p) {
  for (int i = 0; i < p.operation_count; ++i) {
    operation const& op = p.operations[i];
    if (op.kind != operation_kind::gemm) continue;
    for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
      if (p.buffers[p.accesses[a].tiles.buffer].element == element_role::reduction) return true;
    }
  }
  return false;
}

/// Numbers that all ranks have to be built with, because their messages depend on them, and what they are called. What
/// only a rank's own GEMM depends on may differ: hidden columns need not divide by the number of ranks.
template <int Count>
struct agreement {
  std::int64_t values[Count];
  char const* names[Count];
};

}  // namespace detail

template <class Policy, class World, class Communicator, class Functor>
overlap(Policy, World, Communicator&, Functor, typename detail::shape_of<Policy>::type, std::span<std::byte>)
    -> overlap<Policy, World, Communicator, Functor>;

template <class Policy, class World, class Communicator, class Functor, class Recorder>
overlap(Policy, World, Communicator&, Functor, typename detail::shape_of<Policy>::type, std::span<std::byte>,
        Recorder&) -> overlap<Policy, World, Communicator, Functor, Recorder>;

}  // namespace tpoverlap::inline v0
