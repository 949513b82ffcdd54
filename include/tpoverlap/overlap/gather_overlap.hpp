// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! `overlap` for `producer_before_consumer`: an AllGather under the GEMM that it feeds.
#pragma once

#include <tpoverlap/overlap/overlap.hpp>
#include <tpoverlap/overlap/overlap_base.hpp>
#include <tpoverlap/schedule/gather_builder.hpp>

namespace tpoverlap::inline v0 {

/// Rows that have been gathered, as a functor given to the call sees them.
template <class T>
struct gathered_tile {
  int shard = -1;             ///< rank they come from; -1 if they are all ranks' rows
  int chunk = 0;              ///< first chunk of the shard
  row_range rows;             ///< where they lie in the gathered matrix
  bool first = false;         ///< whether nothing has been added to a contraction's result in this call
  matrix_view<T const> data;  ///< (rows.count, width)
};

/// **Shapes** with P ranks and `rows`, `inner`, `columns` of the `gemm_shape`, rows cut: x (rows/P, inner), w (inner,
/// columns), y (rows, columns) = all_gather(x) · w. Contraction cut: x (inner/P, rows) and other (inner, columns) give
/// y (rows, columns) = all_gather(x)ᵀ · other; with `gathered_operand::right`, x (inner/P, columns) and other (inner,
/// rows) give otherᵀ · all_gather(x). With a functor of the caller's own (`tiles`), x is (rows/P, inner).
/// With `keep_gathered`, one more view receives all_gather(x). x and the gathered matrix are contiguous.
/// **Ordering** a call returns at once; its work is ordered in the caller's stream like one operation. All ranks make
/// the same calls in the same order. Operands belong to the call until the stream has passed it.
/// **Errors** `usage_error` before anything is launched; what fails later fails the stream.
template <auto Strategy, gather Options, class World, class Communicator, class Functor, class Recorder>
class overlap<producer_before_consumer<Strategy, Options>, World, Communicator, Functor, Recorder>
    : public detail::overlap_base<producer_before_consumer<Strategy, Options>, World, Communicator,
                                  detail::types_of<Functor>, Recorder> {
  using base = detail::overlap_base<producer_before_consumer<Strategy, Options>, World, Communicator,
                                    detail::types_of<Functor>, Recorder>;

 public:
  using policy = producer_before_consumer<Strategy, Options>;
  using typename base::stream;
  using input_type = typename Functor::input_type;
  using output_type = typename Functor::output_type;
  static constexpr bool multiplies = gemm_functor<Functor, stream>;
  static_assert(detail::functor_serves<Functor, stream>());
  static constexpr bool contracts = multiplies && Options.dimension == gathered_dimension::contraction;
  static constexpr bool gathers_right = Options.operand == gathered_operand::right;

  overlap(Communicator& comm, Functor functor, gemm_shape shape, std::span<std::byte> workspace,
          Recorder* recorder = nullptr, char const* name = "producer_before_consumer")
      : base{comm,
             cut(shape),
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
    return base::bytes_for(cut(shape), widths(shape));
  }

  /// Gathers x and multiplies.
  void operator()(stream& in, matrix_view<input_type const> x, matrix_view<input_type const> other,
                  matrix_view<output_type> y,
                  call_options options = {}) requires(multiplies && !Options.keep_gathered) {
    run_gemm(in, x, other, y, {}, options);
  }

  /// Gathers x, keeps what was gathered, and multiplies. x may lie at its place in `gathered` already.
  void operator()(stream& in, matrix_view<input_type const> x, matrix_view<input_type const> other,
                  matrix_view<output_type> y, matrix_view<input_type> gathered,
                  call_options options = {}) requires(multiplies&& Options.keep_gathered) {
    run_gemm(in, x, other, y, gathered, options);
  }

  /// Gathers x and issues `consume(stream, gathered_tile)` for every run of rows as it arrives.
  template <class Consumer>
    requires(!multiplies && !Options.keep_gathered)
  void operator()(stream& in, matrix_view<input_type const> x, Consumer&& consume,
                  call_options options = {}) {
    run_consumer(in, x, {}, consume, options);
  }

  template <class Consumer>
    requires(!multiplies && Options.keep_gathered)
  void operator()(stream& in, matrix_view<input_type const> x, Consumer&& consume,
                  matrix_view<input_type> gathered, call_options options = {}) {
    run_consumer(in, x, gathered, consume, options);
  }

 private:
  static std::int64_t width(gemm_shape const& shape) {
    return !contracts ? shape.inner : gathers_right ? shape.columns : shape.rows;
  }
  static detail::extent cut(gemm_shape const& shape) {
    return base::sized(contracts ? shape.inner : shape.rows, shape.largest_shard);
  }
  static detail::row_widths widths(gemm_shape const& shape) { return {width(shape), shape.columns}; }
  static detail::agreement<4> agreed(gemm_shape const& shape) {
    return {{cut(shape).rows, width(shape), shape.largest_shard,
             static_cast<std::int64_t>(element_of<input_type>)},
            {contracts ? "inner" : "rows",
             !contracts      ? "inner"
             : gathers_right ? "columns"
                             : "rows",
             "largest_shard", "input type"}};
  }

  /// Operands that have passed the checks; the same ones pass again.
  struct operands {
    matrix_view<input_type const> x;
    matrix_view<input_type const> other;
    matrix_view<output_type> y;
    matrix_view<input_type> gathered;
    std::uint64_t rows_version = 0;
    friend bool operator==(operands const&, operands const&) = default;
  };

  void prepare(operands now, call_options const& options) {
    this->set_rows(options.shard_rows);
    now.rows_version = this->rows_.version();
    if (!(now == checked_)) {
      check_gathering(now.x, now.gathered);
      if constexpr (multiplies) check_gemm(now);
      checked_ = now;
    }
    this->bind(gather_buffer::input, now.x);
    if constexpr (Options.keep_gathered) this->bind(gather_buffer::gathered, now.gathered);
  }

  void check_gathering(matrix_view<input_type const> const& x,
                       matrix_view<input_type> const& gathered) const {
    int const me = this->rank();
    detail::check_operand("x", x, this->own_rows().count, width(shape_), me);
    detail::check_contiguous("x", x, me);
    detail::check_disjoint("x", extent_of(x), "the workspace", this->workspace_extent(), me);
    this->check_memory("x", x);
    if constexpr (Options.keep_gathered) {
      detail::check_operand("gathered", gathered, this->rows_.total(), width(shape_), me);
      detail::check_contiguous("gathered", gathered, me);
      this->check_memory("gathered", gathered);
      if (x.data != gathered.data + this->own_rows().first * width(shape_)) {
        detail::check_disjoint("x", extent_of(x), "gathered", extent_of(gathered), me);
      }
    }
  }

  void check_gemm(operands const& now) const {
    int const me = this->rank();
    std::int64_t const total = this->rows_.total();
    if constexpr (contracts) {
      detail::check_operand("the local operand", now.other, total,
                            gathers_right ? shape_.rows : shape_.columns, me);
      detail::check_operand("y", now.y, shape_.rows, shape_.columns, me);
    } else {
      detail::check_operand("w", now.other, shape_.inner, shape_.columns, me);
      detail::check_operand("y", now.y, total, shape_.columns, me);
    }
    this->check_memory("the other operand", now.other);
    this->check_memory("y", now.y);
    memory_extent const result = extent_of(now.y);
    memory_extent const other = extent_of(now.other);
    detail::check_disjoint("y", result, "x", extent_of(now.x), me);
    detail::check_disjoint("y", result, "the other operand", other, me);
    detail::check_disjoint("y", result, "the workspace", this->workspace_extent(), me);
    detail::check_disjoint("the other operand", other, "the workspace", this->workspace_extent(), me);
    if constexpr (Options.keep_gathered) {
      detail::check_disjoint("y", result, "gathered", extent_of(now.gathered), me);
      detail::check_disjoint("the other operand", other, "gathered", extent_of(now.gathered), me);
    }
    check_can_run(now.x, now.other, now.y);
  }

  void run_gemm(stream& in, matrix_view<input_type const> const& x,
                matrix_view<input_type const> const& other, matrix_view<output_type> const& y,
                matrix_view<input_type> const& gathered, call_options const& options) {
    prepare({x, other, y, gathered}, options);
    this->issue(in, [&](stream& on, tile_run const& run, std::byte* memory, element_role) {
      matrix_view<input_type const> const tile{reinterpret_cast<input_type const*>(memory), run.rows.count,
                                               width(shape_)};
      float const beta = run.first ? options.beta : 1.0F;
      multiply(on, tile, other, y, run.rows, contracts ? beta : options.beta);
    });
    this->join(in);
  }

  /// The GEMM on the rows of one tile.
  void multiply(stream& on, matrix_view<input_type const> const& tile,
                matrix_view<input_type const> const& other, matrix_view<output_type> const& y, row_range rows,
                float beta) const {
    if constexpr (!contracts) {
      functor_(on, tile, other, y.row_range(rows.first, rows.count), beta);
    } else if constexpr (gathers_right) {
      functor_(on, other.row_range(rows.first, rows.count).transposed(), tile, y, beta);
    } else {
      functor_(on, tile.transposed(), other.row_range(rows.first, rows.count), y, beta);
    }
  }

  void check_can_run(matrix_view<input_type const> const& x, matrix_view<input_type const> const& other,
                     matrix_view<output_type> const& y) const {
    if constexpr (has_can_run<Functor>) {
      char const* reason = nullptr;
      row_range const own = this->own_rows();
      if constexpr (!contracts) {
        reason = functor_.can_run(x, other, y.row_range(own.first, own.count));
      } else if constexpr (gathers_right) {
        reason = functor_.can_run(other.row_range(own.first, own.count).transposed(), x, y);
      } else {
        reason = functor_.can_run(x.transposed(), other.row_range(own.first, own.count), y);
      }
      if (reason != nullptr) raise(usage_error{reason, this->rank()});
    }
  }

  template <class Consumer>
  void run_consumer(stream& in, matrix_view<input_type const> const& x,
                    matrix_view<input_type> const& gathered, Consumer&& consume,
                    call_options const& options) {
    static_assert(
        std::is_invocable_v<Consumer&, stream&, gathered_tile<input_type>>,
        "tpoverlap[E033]: a consumer is callable as `consume(stream, gathered_tile<T>)`; correct its "
        "parameters");
    prepare({x, {}, {}, gathered}, options);
    this->issue(in, [&](stream& on, tile_run const& run, std::byte* memory, element_role) {
      consume(on, gathered_tile<input_type>{
                      run.shard,
                      run.chunk,
                      run.rows,
                      run.first,
                      {reinterpret_cast<input_type const*>(memory), run.rows.count, width(shape_)}});
    });
    this->join(in);
  }

  Functor functor_;
  gemm_shape shape_;
  operands checked_{};
};

}  // namespace tpoverlap::inline v0
