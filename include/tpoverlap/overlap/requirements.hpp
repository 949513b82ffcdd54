// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Says in one sentence what a communicator or functor lacks, member by member.
#pragma once

#include <tpoverlap/concepts/backend.hpp>
#include <tpoverlap/concepts/communicator.hpp>
#include <tpoverlap/concepts/gemm_functor.hpp>
#include <tpoverlap/schedule/program.hpp>

namespace tpoverlap::inline v0::detail {

[[nodiscard]] constexpr bool uses(program_view const& program, operation_kind kind) {
  for (int i = 0; i < program.operation_count; ++i) {
    if (program.operations[i].kind == kind) return true;
  }
  return false;
}

/// A ladder of assertions: a compiler that prints only "constraints not satisfied" still prints these.
template <class Communicator, class Schedule>
struct communicator_requirements {
  static_assert(
      requires { typename Communicator::backend; },
      "tpoverlap[E020]: a communicator names its backend, to say which streams it works on; add "
      "`using backend = host::backend;` (or another backend) to it");
  static_assert(
      backend<typename Communicator::backend>,
      "tpoverlap[E021]: the communicator's `backend` lacks stream, event, record, wait, copy or add; see "
      "concepts/backend.hpp");
  static_assert(
      requires(Communicator const& c) {
        { c.rank() } -> std::convertible_to<int>;
        { c.size() } -> std::convertible_to<int>;
      },
      "tpoverlap[E022]: a communicator has `int rank() const` and `int size() const`; add what is missing");
  static_assert(
      !requires { typename Communicator::backend::stream; } ||
          requires(Communicator & c) {
            { c.lane(1) } -> std::same_as<typename Communicator::backend::stream&>;
          },
      "tpoverlap[E023]: a communicator owns its lanes; add `backend::stream& lane(int index)`, the same "
      "stream at every "
      "call for one index");
  static_assert(
      requires(Communicator & c, std::span<message const> messages, call_site where) {
        c.exchange(1, messages, where);
      },
      "tpoverlap[E024]: a communicator moves messages; add `exchange(int lane, std::span<message const>, "
      "call_site)`");
  static_assert(
      !uses(Schedule::program, operation_kind::all_gather) || has_all_gather<Communicator>,
      "tpoverlap[E025]: this policy uses the AllGather collective, which the communicator lacks; add "
      "`all_gather`, or choose ring or direct, which need only `exchange`");
  static_assert(
      !uses(Schedule::program, operation_kind::reduce_scatter) || has_reduce_scatter<Communicator>,
      "tpoverlap[E026]: this policy uses the ReduceScatter collective, which the communicator lacks; add "
      "`reduce_scatter`, or choose ring or direct, which need only `exchange`");
  static_assert(
      !uses(Schedule::program, operation_kind::all_reduce) || has_all_reduce<Communicator>,
      "tpoverlap[E027]: this policy uses the AllReduce collective, which the communicator lacks; add "
      "`all_reduce`, or choose ring or direct, which need only `exchange`");
  static constexpr bool met = true;
};

template <class Functor>
struct functor_types {
  static_assert(
      requires {
        typename Functor::input_type;
        typename Functor::output_type;
      },
      "tpoverlap[E030]: a functor names the types it works on; add `using input_type = ...;` and "
      "`using output_type = ...;`");
  static_assert(
      has_element<typename Functor::input_type> && has_element<typename Functor::output_type>,
      "tpoverlap[E031]: the functor's input_type or output_type is not known as an element; specialize "
      "element_traits for it");
  static constexpr bool met = true;
};

template <class Functor, class Stream>
struct gemm_requirements {
  static_assert(
      gemm_functor<Functor, Stream> ||
          !requires {
            typename Functor::input_type;
            typename Functor::output_type;
          },  // which functor_types reports
      "tpoverlap[E032]: a GEMM functor is callable as `gemm(stream, a, b, c, beta)` on a const object, with "
      "matrix_view<input_type const> a, b and matrix_view<output_type> c on the communicator's stream type; "
      "add or correct `operator()`");
  static constexpr bool met = true;
};

}  // namespace tpoverlap::inline v0::detail
