// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! `overlap` for `consumer_before_reduction`: a ReduceScatter or AllReduce under the GEMM that feeds it.
#pragma once

#include <tpoverlap/overlap/overlap.hpp>
#include <tpoverlap/overlap/overlap_base.hpp>
#include <tpoverlap/schedule/reduction_builder.hpp>

namespace tpoverlap::inline v0 {

/// Rows that a functor given to the call has to produce.
template <class T>
struct partial_tile {
  int shard = -1;           ///< rank that the sum of these rows belongs to; -1 if they are all ranks' rows
  int chunk = 0;            ///< first chunk of the shard
  row_range rows;           ///< where they lie in the partial matrix of all rows
  bool accumulate = false;  ///< whether to add to what is there instead of writing
  matrix_view<T> data;      ///< (rows.count, columns)
};

/// **Shapes** with P ranks and `rows`, `inner`, `columns` of the `gemm_shape`: a (rows, inner) and w (inner, columns) on
/// every rank; y (rows/P, columns) = the own rows of the sum over ranks of a · w, or all of y (rows, columns) for an
/// AllReduce. y is contiguous. With a functor of the caller's own (`tiles`), it makes the rows of a · w.
/// **Ordering** a call returns at once; its work is ordered in the caller's stream like one operation. All ranks make
/// the same calls in the same order. Operands belong to the call until the stream has passed it.
/// **Accuracy** sums are added in an order that depends on the policy only, never on timing.
/// **Errors** `usage_error` before anything is launched; what fails later fails the stream.
template <auto Strategy, reduction Options, class World, class Communicator, class Functor, class Recorder>
class overlap<consumer_before_reduction<Strategy, Options>, World, Communicator, Functor, Recorder>
    : public detail::overlap_base<consumer_before_reduction<Strategy, Options>, World, Communicator,
                                  detail::reducing_types<Functor, Options.reduce_in>, Recorder> {
  using types = detail::reducing_types<Functor, Options.reduce_in>;
  using base = detail::overlap_base<consumer_before_reduction<Strategy, Options>, World, Communicator, types,
                                    Recorder>;

 public:
  using policy = consumer_before_reduction<Strategy, Options>;
  using typename base::stream;
  using input_type = typename Functor::input_type;
  using output_type = typename Functor::output_type;
  using reduction_type = typename types::reduction;
  static constexpr bool multiplies = gemm_functor<Functor, stream>;
  static_assert(detail::functor_serves<Functor, stream>());
  static constexpr bool sums_everywhere = Options.result == reduction_result::all_reduce;

  overlap(Communicator& comm, Functor functor, gemm_shape shape, std::span<std::byte> workspace,
          Recorder* recorder = nullptr, char const* name = "consumer_before_reduction")
      : base{comm,
             base::sized(shape.rows, shape.largest_shard),
             widths(shape),
             workspace,
             recorder,
             name,
             std::span<std::int64_t const>{agreed(shape).values},
             std::span<char const* const>{agreed(shape).names}},
        functor_{functor},
        shape_{shape} {
    base::check_not_negative(comm, shape.rows, "rows");
    base::check_not_negative(comm, shape.inner, "inner");
    base::check_not_negative(comm, shape.columns, "columns");
  }

  /// As above, with policy and world deduced.
  overlap(policy, World, Communicator& comm, Functor functor, gemm_shape shape,
          std::span<std::byte> workspace)
      : overlap{comm, functor, shape, workspace} {}
  overlap(policy, World, Communicator& comm, Functor functor, gemm_shape shape,
          std::span<std::byte> workspace, Recorder& recorder)
      : overlap{comm, functor, shape, workspace, &recorder} {}

  /// Bytes of workspace that an object of this type needs on every rank.
  [[nodiscard]] static std::size_t workspace_bytes(gemm_shape shape) {
    return base::bytes_for(base::sized(shape.rows, shape.largest_shard), widths(shape));
  }

  /// Multiplies and sums over ranks.
  void operator()(stream& in, matrix_view<input_type const> a, matrix_view<input_type const> w,
                  matrix_view<output_type> y, call_options options = {}) requires multiplies {
    prepare({a, w, y}, options);
    this->issue(in, [&](stream& on, tile_run const& run, std::byte* memory, element_role role) {
      produce_in(role, memory, run, [&](auto tile) {
        functor_(on, a.row_range(run.rows.first, run.rows.count), w, tile, run.first ? 0.0F : 1.0F);
      });
    });
    this->join(in);
  }

  /// Issues `produce(stream, partial_tile)` for every run of rows, and sums over ranks as they are ready.
  template <class Producer>
    requires(!multiplies)
  void operator()(stream& in, Producer&& produce, matrix_view<output_type> y, call_options options = {}) {
    static_assert(
        std::is_invocable_v<Producer&, stream&, partial_tile<output_type>>,
        "tpoverlap[E034]: a producer is callable as `produce(stream, partial_tile<T>)`; correct its "
        "parameters");
    prepare({{}, {}, y}, options);
    this->issue(in, [&](stream& on, tile_run const& run, std::byte* memory, element_role role) {
      produce_in(role, memory, run, [&](auto tile) {
        using produced = std::remove_pointer_t<decltype(tile.data)>;
        produce(on, partial_tile<produced>{run.shard, run.chunk, run.rows, !run.first, tile});
      });
    });
    this->join(in);
  }

 private:
  static detail::row_widths widths(gemm_shape const& shape) { return {shape.inner, shape.columns}; }
  static detail::agreement<4> agreed(gemm_shape const& shape) {
    return {
        {shape.rows, shape.columns, shape.largest_shard, static_cast<std::int64_t>(element_of<output_type>)},
        {"rows", "columns", "largest_shard", "output type"}};
  }

  /// Operands that have passed the checks; the same ones pass again.
  struct operands {
    matrix_view<input_type const> a;
    matrix_view<input_type const> w;
    matrix_view<output_type> y;
    std::uint64_t rows_version = 0;
    friend bool operator==(operands const&, operands const&) = default;
  };

  void prepare(operands now, call_options const& options) {
    this->set_rows(options.shard_rows);
    if (options.beta != 0) {
      raise(usage_error{
          "a result that is summed over ranks takes beta = 0 only, or the old result would be counted "
          "once for each rank; add the old result afterwards",
          this->rank()});
    }
    now.rows_version = this->rows_.version();
    if (!(now == checked_)) {
      check_result(now.y);
      if constexpr (multiplies) check_gemm(now);
      checked_ = now;
    }
    this->bind(reduction_buffer::output, now.y);
  }

  void check_result(matrix_view<output_type> const& y) const {
    int const me = this->rank();
    detail::check_operand("y", y, sums_everywhere ? this->rows_.total() : this->own_rows().count,
                          shape_.columns, me);
    detail::check_contiguous("y", y, me);
    detail::check_disjoint("y", extent_of(y), "the workspace", this->workspace_extent(), me);
    this->check_memory("y", y);
  }

  void check_gemm(operands const& now) const {
    int const me = this->rank();
    detail::check_operand("a", now.a, this->rows_.total(), shape_.inner, me);
    detail::check_operand("w", now.w, shape_.inner, shape_.columns, me);
    detail::check_disjoint("y", extent_of(now.y), "a", extent_of(now.a), me);
    detail::check_disjoint("y", extent_of(now.y), "w", extent_of(now.w), me);
    detail::check_disjoint("a", extent_of(now.a), "the workspace", this->workspace_extent(), me);
    detail::check_disjoint("w", extent_of(now.w), "the workspace", this->workspace_extent(), me);
    this->check_memory("a", now.a);
    this->check_memory("w", now.w);
    if constexpr (has_can_run<Functor>) {
      row_range const own = this->own_rows();
      matrix_view<output_type> const own_y = sums_everywhere ? now.y.row_range(own.first, own.count) : now.y;
      if (char const* const reason = functor_.can_run(now.a.row_range(own.first, own.count), now.w, own_y)) {
        raise(usage_error{reason, me});
      }
    }
  }

  /// Calls `f` with the rows at `memory` as a view of the element type that the schedule keeps them in.
  template <class F>
  void produce_in(element_role role, std::byte* memory, tile_run const& run, F f) const {
    constexpr bool produces_wide = detail::produces_reduction_type(base::program);
    static_assert(
        !produces_wide || std::is_same_v<output_type, reduction_type> ||
            std::is_invocable_v<Functor const&, stream&, matrix_view<input_type const>,
                                matrix_view<input_type const>, matrix_view<reduction_type>, float>,
        "tpoverlap[E035]: with accumulation::fused the functor adds into buckets of the type `reduce_in`, "
        "which it cannot write; use accumulation::separate, reduction_type::as_output, or a functor that "
        "takes a result of that type");
    if constexpr (produces_wide) {
      if (role == element_role::reduction) {
        return f(matrix_view<reduction_type>{reinterpret_cast<reduction_type*>(memory), run.rows.count,
                                             shape_.columns});
      }
    }
    f(matrix_view<output_type>{reinterpret_cast<output_type*>(memory), run.rows.count, shape_.columns});
  }

  Functor functor_;
  gemm_shape shape_;
  operands checked_{};
};

}  // namespace tpoverlap::inline v0
