// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What `blocking` is to side work: the collective, and behind it the GEMM.
#pragma once

#include <tpoverlap/concepts/gemm_functor.hpp>
#include <tpoverlap/overlap/checks.hpp>
#include <tpoverlap/overlap/side_overlap.hpp>

#include <cstddef>
#include <span>

namespace tpoverlap::inline v0::detail {

/// Called like the overlap object of the side work, and gives the same.
template <class SideWork, class World, class Communicator, class Functor, class Recorder>
class side_in_turn_overlap {
 public:
  using input_type = typename Functor::input_type;
  using output_type = typename Functor::output_type;
  using collective_type = overlap<SideWork, World, Communicator, tiles<input_type, output_type>, Recorder>;
  using stream = typename collective_type::stream;
  static constexpr bool in_place = collective_type::in_place;

  side_in_turn_overlap(Communicator& comm, Functor functor, collective_shape shape,
                       std::span<std::byte> workspace, Recorder* recorder, char const* name)
      : collective_{comm, {}, shape, workspace, recorder, name}, functor_{functor}, rank_{comm.rank()} {}

  [[nodiscard]] static std::size_t workspace_bytes(collective_shape shape) {
    return collective_type::workspace_bytes(shape);
  }

  void operator()(stream& in, matrix_view<input_type const> source, matrix_view<input_type> target,
                  matrix_view<input_type const> a, matrix_view<input_type const> b,
                  matrix_view<output_type> c, call_options options = {}) requires(!in_place) {
    check_product(source, target, a, b, c);
    collective_.start(in, source, target, options).join(in);
    functor_(in, a, b, c, options.beta);
  }

  void operator()(stream& in, matrix_view<input_type> shared, matrix_view<input_type const> a,
                  matrix_view<input_type const> b, matrix_view<output_type> c,
                  call_options options = {}) requires in_place {
    check_product({}, shared, a, b, c);
    collective_.start(in, shared, options).join(in);
    functor_(in, a, b, c, options.beta);
  }

 private:
  /// What side work refuses is refused here, too: another choice must not make it wrong.
  void check_product(matrix_view<input_type const> const& source, matrix_view<input_type> const& target,
                     matrix_view<input_type const> const& a, matrix_view<input_type const> const& b,
                     matrix_view<output_type> const& c) const {
    check_operand("b", b, a.columns, c.columns, rank_);
    check_operand("a", a, c.rows, a.columns, rank_);
    check_operand("c", c, c.rows, c.columns, rank_);
    memory_extent const written = extent_of(target);
    check_disjoint("c", extent_of(c), "a", extent_of(a), rank_);
    check_disjoint("c", extent_of(c), "b", extent_of(b), rank_);
    check_disjoint("c", extent_of(c), "what the collective reads", extent_of(source), rank_);
    check_disjoint("c", extent_of(c), "what the collective writes", written, rank_);
    check_disjoint("a", extent_of(a), "what the collective writes", written, rank_);
    check_disjoint("b", extent_of(b), "what the collective writes", written, rank_);
    if constexpr (has_can_run<Functor>) {
      if (char const* const reason = functor_.can_run(a, b, c)) raise(usage_error{reason, rank_});
    }
  }

  collective_type collective_;
  Functor functor_;
  int rank_;
};

}  // namespace tpoverlap::inline v0::detail
