// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! `overlap` for `independent_side_work`: a bulk collective beside a GEMM that has nothing to do with it.
#pragma once

#include <tpoverlap/overlap/in_flight.hpp>
#include <tpoverlap/overlap/overlap.hpp>
#include <tpoverlap/overlap/overlap_base.hpp>
#include <tpoverlap/strategies/side_strategies.hpp>

namespace tpoverlap::inline v0 {

/// **Shapes** with P ranks and `rows`, `columns` of the `collective_shape`: AllGather: source (rows/P, columns), target
/// (rows, columns). ReduceScatter: source (rows, columns), target (rows/P, columns). AllReduce: one buffer (rows,
/// columns), in place. All contiguous, elements of the functor's input_type. The GEMM c = a · b has any shape; an object
/// built with `tiles<T>` as its functor has none, and leaves what runs beside the collective to the caller.
/// **Ordering** the collective starts when the caller's stream reaches the call, and runs in its own lane. A call
/// joins it behind the GEMM; `start` leaves the join to a token, and the object takes no call until then.
/// **Errors** `usage_error` before anything is launched; what fails later fails the stream.
template <auto Strategy, class World, class Communicator, class Functor, class Recorder>
class overlap<independent_side_work<Strategy>, World, Communicator, Functor, Recorder>
    : public detail::overlap_base<independent_side_work<Strategy>, World, Communicator,
                                  detail::types_of<Functor>, Recorder> {
  using base = detail::overlap_base<independent_side_work<Strategy>, World, Communicator,
                                    detail::types_of<Functor>, Recorder>;

 public:
  using policy = independent_side_work<Strategy>;
  using typename base::stream;
  using input_type = typename Functor::input_type;
  using output_type = typename Functor::output_type;
  using token = in_flight<overlap>;
  static constexpr bool multiplies = gemm_functor<Functor, stream>;
  static_assert(detail::functor_serves<Functor, stream>());
  static constexpr bool in_place = base::program.buffer_count == 2;

  overlap(Communicator& comm, Functor functor, collective_shape shape, std::span<std::byte> workspace = {},
          Recorder* recorder = nullptr, char const* name = "independent_side_work")
      : base{comm,
             base::sized(shape.rows, shape.largest_shard),
             {shape.columns, shape.columns},
             workspace,
             recorder,
             name,
             std::span<std::int64_t const>{agreed(shape).values},
             std::span<char const* const>{agreed(shape).names}},
        functor_{functor},
        shape_{shape} {
    if constexpr (multiplies && has_prepare<typename base::backend>) {
      base::backend::prepare(product_done_, comm.lane(1));
    }
  }

  /// As above, with policy and world deduced.
  overlap(policy, World, Communicator& comm, Functor functor, collective_shape shape,
          std::span<std::byte> workspace)
      : overlap{comm, functor, shape, workspace} {}
  overlap(policy, World, Communicator& comm, Functor functor, collective_shape shape,
          std::span<std::byte> workspace, Recorder& recorder)
      : overlap{comm, functor, shape, workspace, &recorder} {}

  /// Bytes of workspace that an object of this type needs on every rank: none for the built-in collectives.
  [[nodiscard]] static std::size_t workspace_bytes(collective_shape shape) {
    return base::bytes_for(base::sized(shape.rows, shape.largest_shard), {shape.columns, shape.columns});
  }

  /// The collective from `source` to `target` beside c = a · b.
  void operator()(stream& in, matrix_view<input_type const> source, matrix_view<input_type> target,
                  matrix_view<input_type const> a, matrix_view<input_type const> b,
                  matrix_view<output_type> c, call_options options = {}) requires(multiplies && !in_place) {
    prepare({source, target, a, b, c}, options);
    issue_beside(in, a, b, c, options.beta);
    this->join(in);
  }

  /// The AllReduce of `shared` beside c = a · b.
  void operator()(stream& in, matrix_view<input_type> shared, matrix_view<input_type const> a,
                  matrix_view<input_type const> b, matrix_view<output_type> c,
                  call_options options = {}) requires(multiplies&& in_place) {
    prepare({{}, shared, a, b, c}, options);
    issue_beside(in, a, b, c, options.beta);
    this->join(in);
  }

  /// As the calls, but the collective is joined through the token.
  [[nodiscard]] token start(stream& in, matrix_view<input_type const> source, matrix_view<input_type> target,
                            matrix_view<input_type const> a, matrix_view<input_type const> b,
                            matrix_view<output_type> c,
                            call_options options = {}) requires(multiplies && !in_place) {
    prepare({source, target, a, b, c}, options);
    issue_beside(in, a, b, c, options.beta);
    return in_flight_from(in);
  }

  [[nodiscard]] token start(stream& in, matrix_view<input_type> shared, matrix_view<input_type const> a,
                            matrix_view<input_type const> b, matrix_view<output_type> c,
                            call_options options = {}) requires(multiplies&& in_place) {
    prepare({{}, shared, a, b, c}, options);
    issue_beside(in, a, b, c, options.beta);
    return in_flight_from(in);
  }

  /// The collective alone; what runs beside it is up to the caller. For objects built with `tiles<T>`.
  [[nodiscard]] token start(stream& in, matrix_view<input_type const> source, matrix_view<input_type> target,
                            call_options options = {}) requires(!multiplies && !in_place) {
    prepare({source, target, {}, {}, {}}, options);
    issue_alone(in);
    return in_flight_from(in);
  }

  [[nodiscard]] token start(stream& in, matrix_view<input_type> shared,
                            call_options options = {}) requires(!multiplies && in_place) {
    prepare({{}, shared, {}, {}, {}}, options);
    issue_alone(in);
    return in_flight_from(in);
  }

 private:
  friend token;

  static detail::agreement<4> agreed(collective_shape const& shape) {
    return {
        {shape.rows, shape.columns, shape.largest_shard, static_cast<std::int64_t>(element_of<input_type>)},
        {"rows", "columns", "largest_shard", "input type"}};
  }

  /// Operands that have passed the checks; the same ones pass again. An AllReduce's matrix is its target.
  struct operands {
    matrix_view<input_type const> source;
    matrix_view<input_type> target;
    matrix_view<input_type const> a;
    matrix_view<input_type const> b;
    matrix_view<output_type> c;
    std::uint64_t rows_version = 0;
    friend bool operator==(operands const&, operands const&) = default;
  };

  void prepare(operands now, call_options const& options) {
    this->set_rows(options.shard_rows);
    now.rows_version = this->rows_.version();
    if (!(now == checked_)) {
      check_collective(now.source, now.target);
      if constexpr (multiplies) check_gemm(now);
      checked_ = now;
    }
    if constexpr (in_place) {
      this->bind(side_buffer::source, now.target);
    } else {
      this->bind(side_buffer::source, now.source);
      this->bind(side_buffer::target, now.target);
    }
  }

  void check_collective(matrix_view<input_type const> const& source,
                        matrix_view<input_type> const& target) const {
    int const me = this->rank();
    std::int64_t const own = this->own_rows().count;
    std::int64_t const all = this->rows_.total();
    if constexpr (in_place) {
      detail::check_operand("the shared matrix", target, all, shape_.columns, me);
      detail::check_contiguous("the shared matrix", target, me);
      this->check_memory("the shared matrix", target);
    } else {
      constexpr bool gathers = base::program.buffers[side_buffer::source].arrangement == layout::own;
      detail::check_operand("source", source, gathers ? own : all, shape_.columns, me);
      detail::check_operand("target", target, gathers ? all : own, shape_.columns, me);
      detail::check_contiguous("source", source, me);
      detail::check_contiguous("target", target, me);
      this->check_memory("source", source);
      this->check_memory("target", target);
      // Either may be the own rows of the other: that is where the collective reads or leaves them anyway.
      std::int64_t const own_place = this->own_rows().first * shape_.columns;
      bool const at_own_place =
          gathers ? source.data == target.data + own_place : target.data == source.data + own_place;
      if (!at_own_place) detail::check_disjoint("source", extent_of(source), "target", extent_of(target), me);
    }
  }

  void check_gemm(operands const& now) const {
    int const me = this->rank();
    auto const& [source, target, a, b, c, version] = now;
    memory_extent const read = extent_of(source);
    memory_extent const written = extent_of(target);
    detail::check_operand("b", b, a.columns, c.columns, me);
    detail::check_operand("a", a, c.rows, a.columns, me);
    detail::check_operand("c", c, c.rows, c.columns, me);
    this->check_memory("a", a);
    this->check_memory("b", b);
    this->check_memory("c", c);
    detail::check_disjoint("c", extent_of(c), "a", extent_of(a), me);
    detail::check_disjoint("c", extent_of(c), "b", extent_of(b), me);
    detail::check_disjoint("c", extent_of(c), "what the collective reads", read, me);
    detail::check_disjoint("c", extent_of(c), "what the collective writes", written, me);
    detail::check_disjoint("a", extent_of(a), "what the collective writes", written, me);
    detail::check_disjoint("b", extent_of(b), "what the collective writes", written, me);
    if constexpr (has_can_run<Functor>) {
      if (char const* const reason = functor_.can_run(a, b, c)) raise(usage_error{reason, me});
    }
  }

  void issue_beside(stream& in, matrix_view<input_type const> const& a,
                    matrix_view<input_type const> const& b, matrix_view<output_type> const& c, float beta) {
    this->issue(in,
                [&](stream& on, tile_run const&, std::byte*, element_role) { functor_(on, a, b, c, beta); });
  }

  void issue_alone(stream& in) {
    this->issue(in, [](stream&, tile_run const&, std::byte*, element_role) {});
  }

  token in_flight_from(stream& in) {
    if constexpr (multiplies) base::backend::record(product_done_, in);
    started_from_ = &in;
    this->in_flight_ = true;
    return token{*this, in};
  }

  void finish(stream& in) {
    this->join(in);
    if (multiplies && &in != started_from_) base::backend::wait(in, product_done_);
    this->in_flight_ = false;
  }

  /// After a join that failed: nothing may be left running on memory that its owner thinks free.
  void give_up() noexcept {
    if constexpr (has_drain<Communicator>) this->communicator().drain();
    this->in_flight_ = false;
  }

  Functor functor_;
  collective_shape shape_;
  operands checked_{};
  typename base::backend::event product_done_;  // for a join in another stream
  stream* started_from_ = nullptr;
};

}  // namespace tpoverlap::inline v0
