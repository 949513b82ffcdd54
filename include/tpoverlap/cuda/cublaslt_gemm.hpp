// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A GEMM functor over cuBLASLt.
#pragma once

#include <tpoverlap/concepts/gemm_functor.hpp>
#include <tpoverlap/core/blas_storage.hpp>
#include <tpoverlap/core/element.hpp>
#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/matrix_view.hpp>
#include <tpoverlap/cuda/detail/cublaslt_state.hpp>
#include <tpoverlap/cuda/device_guard.hpp>
#include <tpoverlap/cuda/element.hpp>
#include <tpoverlap/cuda/error.hpp>
#include <tpoverlap/cuda/resource_budget.hpp>
#include <tpoverlap/cuda/stream.hpp>

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace tpoverlap::inline v0::cu {

/// Of which fp8 format an operand is, where views of one-byte elements cannot tell: gradients are e5m2, weights e4m3.
enum class float8_format : std::uint8_t { as_input_type, e4m3, e5m2 };

struct cublaslt_options {
  resource_budget budget{};        ///< gemm_multiprocessors is what GEMMs are sized for
  bool tf32 = false;               ///< float32 operands only: multiply in TF32
  bool fast_accumulation = false;  ///< fp8 only: faster, with fewer bits in the sums
  float const* scale_a = nullptr;  ///< fp8 only: a factor for a, in device memory, read when the GEMM runs
  float const* scale_b = nullptr;  ///< the same for b
  float8_format format_a = float8_format::as_input_type;
  float8_format format_b = float8_format::as_input_type;
};

/// A batch of matrices at equal distances.
struct batch_strides {
  int count = 1;
  std::int64_t a = 0;  ///< elements from one matrix to the next
  std::int64_t b = 0;
  std::int64_t c = 0;
};

/// `c = a · b + beta · c`, added in float32.
///
/// **Shapes** a (m, k), b (k, n), c (m, n), each row-major or column-major with a leading dimension of its own; a batch
/// has one such triple at each stride. Any of m, n and k may be zero; with k = 0, beta is 0 or 1. fp8 needs k contiguous
/// in both a and b (a row-major, b column-major: keep w as its transpose (n, k)), and k and n multiples of 16.
/// **Units** Input is float, __nv_bfloat16, __half, __nv_fp8_e4m3 or __nv_fp8_e5m2; Output is Input, or float, or for fp8 a
/// 16-bit type. Results may be float whatever Output is, so that buckets can be filled in float32.
/// **Ordering** returns at once; runs in the order of the stream. Copies share one workspace and one cache of algorithms:
/// use them in one stream at a time, from one thread. The first call with a shape looks an algorithm up; later ones are
/// one cublasLtMatmul.
/// **Errors** `usage_error` with the reason that `can_run` gives; nothing is issued then. `cublas_error`.
template <class Input, class Output = Input>
class cublaslt_gemm {
 public:
  using input_type = Input;
  using output_type = Output;
  static constexpr bool is_fp8 = is_float8(element_of<Input>);
  static_assert(std::is_same_v<Input, float> || std::is_same_v<Input, __half> ||
                    std::is_same_v<Input, __nv_bfloat16> || is_fp8,
                "tpoverlap[E040]: cublaslt_gemm multiplies float, __half, __nv_bfloat16, __nv_fp8_e4m3 and "
                "__nv_fp8_e5m2; convert the operands, or write a functor of your own");
  static_assert(!is_float8(element_of<Output>),
                "tpoverlap[E039]: an fp8 result would have to be scaled by what is known only after the sum "
                "over ranks; "
                "let the GEMM write __nv_bfloat16, __half or float, and quantize that");

  /// NVIDIA's own suggestion for the largest GPUs; smaller ones, and none at all, mean fewer algorithms to choose from.
  static constexpr std::size_t suggested_workspace_bytes = std::size_t{32} << 20;

  /// `workspace` is memory of `device`, aligned to 256 bytes, or empty; it belongs to this functor and its copies.
  explicit cublaslt_gemm(int device, std::span<std::byte> workspace = {},
                         cublaslt_options const& options = {})
      : left_{format_of(options.format_a)},
        right_{format_of(options.format_b)},
        state_{std::make_shared<detail::cublaslt_state>(device, workspace, settings_of(checked(options)))} {
    if (left_ == element::float8_e5m2 && right_ == element::float8_e5m2) {
      raise(usage_error{
          "cuBLASLt does not multiply e5m2 by e5m2; let one operand be e4m3 (cublaslt_options::format_a, "
          "format_b)"});
    }
  }

  template <class Result>
  [[nodiscard]] char const* can_run(matrix_view<Input const> a, matrix_view<Input const> b,
                                    matrix_view<Result> c, batch_strides const& batch = {}) const {
    if (char const* const reason = misfit(a, b, c, batch)) return reason;
    if (is_empty(c, batch) || a.columns == 0 || state_->plan(problem_of(a, b, c, batch)).found)
      return nullptr;
    return no_algorithm;
  }

  void operator()(stream_ref in, matrix_view<Input const> a, matrix_view<Input const> b,
                  matrix_view<Output> c, float beta) const {
    multiply(in, a, b, c, beta, {});
  }

  /// The same into float32.
  void operator()(stream_ref in, matrix_view<Input const> a, matrix_view<Input const> b, matrix_view<float> c,
                  float beta) const requires(!std::is_same_v<Output, float>) {
    multiply(in, a, b, c, beta, {});
  }

  /// A batch in one launch.
  template <class Result>
  void batched(stream_ref in, matrix_view<Input const> a, matrix_view<Input const> b, matrix_view<Result> c,
               float beta, batch_strides const& batch) const {
    multiply(in, a, b, c, beta, batch);
  }

  [[nodiscard]] int device() const noexcept { return state_->device(); }

 private:
  template <class Result>
  void multiply(stream_ref in, matrix_view<Input const> const& a, matrix_view<Input const> const& b,
                matrix_view<Result> const& c, float beta, batch_strides const& batch) const {
    if (in.device() != device()) {
      raise(usage_error{"this GEMM was made for another device than the stream's; make one for each device"});
    }
    if (char const* const reason = misfit(a, b, c, batch)) raise(usage_error{reason});
    if (is_empty(c, batch)) return;
    if (a.columns == 0) return scale(in, c, beta, batch);
    detail::lt_problem const problem = problem_of(a, b, c, batch);
    detail::lt_plan const& plan = state_->plan(problem);
    if (!plan.found) raise(usage_error{no_algorithm});
    void const* const left = problem.swapped ? static_cast<void const*>(b.data) : a.data;
    void const* const right = problem.swapped ? static_cast<void const*>(a.data) : b.data;
    state_->multiply(in, plan, left, right, c.data, beta);
  }

  static constexpr char const* no_algorithm = "cuBLASLt has no algorithm for these shapes, types, strides "
                                              "and alignments on this device; align rows to 16 "
                                              "bytes, or choose other types";

  template <class Result>
  static bool is_empty(matrix_view<Result> const& c, batch_strides const& batch) {
    return c.rows == 0 || c.columns == 0 || batch.count == 0;
  }

  /// What can be told without asking cuBLASLt.
  template <class Result>
  static char const* misfit(matrix_view<Input const> const& a, matrix_view<Input const> const& b,
                            matrix_view<Result> const& c, batch_strides const& batch) {
    static_assert(std::is_same_v<Result, Output> || std::is_same_v<Result, float>);
    if (a.rows != c.rows || b.columns != c.columns || a.columns != b.rows)
      return "the shapes do not fit: a (m, k), b (k, n), c (m, n)";
    if (batch.count < 0) return "a batch has no negative number of matrices";
    storage_order const left = blas_storage{a}.order;
    storage_order const right = blas_storage{b}.order;
    if (left == storage_order::neither) return "a must be row-major or column-major";
    if (right == storage_order::neither) return "b must be row-major or column-major";
    if (blas_storage{c}.order == storage_order::neither) return "c must be row-major or column-major";
    if constexpr (is_fp8) {
      if (a.size() > 0 && b.size() > 0) {
        if (left != storage_order::by_rows || right != storage_order::by_columns)
          return "fp8 needs a row-major and b column-major; keep w as its transpose (n, k) and pass "
                 "w.transposed()";
        if (a.columns % 16 != 0 || b.columns % 16 != 0)
          return "fp8 needs k and n to be multiples of 16; pad them with zeros";
      }
    }
    return nullptr;
  }

  /// cuBLASLt works on column-major matrices, where a row-major c = a · b looks like cᵀ = bᵀ · aᵀ.
  template <class Result>
  detail::lt_problem problem_of(matrix_view<Input const> const& a, matrix_view<Input const> const& b,
                                matrix_view<Result> const& c, batch_strides const& batch) const {
    auto const left = operand(a, left_, batch.a);
    auto const right = operand(b, right_, batch.b);
    bool const swapped = blas_storage{c}.order == storage_order::by_rows;
    auto result = operand(c, element_of<Result>, batch.c);
    result.transposed = false;
    detail::lt_problem made{left, right, result, batch.count, swapped};
    if (swapped) {
      made.a = right;
      made.b = left;
    }
    // `operand` tells whether a matrix is stored by rows; what has to be turned depends on which way the result lies.
    made.a.transposed = made.a.transposed != swapped;
    made.b.transposed = made.b.transposed != swapped;
    return made;
  }

  /// A matrix by its storage: row-major memory is its transpose, column-major.
  template <class T>
  static detail::lt_matrix operand(matrix_view<T> const& view, element type, std::int64_t batch_stride) {
    blas_storage const stored{view};
    bool const by_rows = stored.order == storage_order::by_rows;
    return {.type = type,
            .transposed = by_rows,
            .rows = by_rows ? view.columns : view.rows,
            .columns = by_rows ? view.rows : view.columns,
            .leading = stored.leading,
            .batch_stride = batch_stride,
            .alignment = alignment_of(view.data)};
  }

  static std::uint32_t alignment_of(void const* data) noexcept {
    auto const address = reinterpret_cast<std::uintptr_t>(data);
    for (std::uint32_t bytes = 256; bytes > 1; bytes /= 2)
      if (address % bytes == 0) return bytes;
    return 1;
  }

  /// Nothing is multiplied: all that is left is beta · c.
  template <class Result>
  static void scale(stream_ref in, matrix_view<Result> const& c, float beta, batch_strides const& batch) {
    if (beta == 1) return;
    if (beta != 0)
      raise(usage_error{
          "a GEMM without a contraction dimension (k = 0) takes beta = 0 or 1 only; scale c yourself"});
    blas_storage const stored{c};
    bool const by_rows = stored.order == storage_order::by_rows;
    auto const width = static_cast<std::size_t>(by_rows ? c.columns : c.rows) * sizeof(Result);
    auto const height = static_cast<std::size_t>(by_rows ? c.rows : c.columns);
    auto const pitch = static_cast<std::size_t>(stored.leading) * sizeof(Result);
    device_guard const on{in.device()};
    for (int i = 0; i < batch.count; ++i) {
      detail::check(cudaMemset2DAsync(c.data + i * batch.c, pitch, 0, width, height, in.handle()),
                    "cudaMemset2DAsync");
    }
  }

  static constexpr element format_of(float8_format format) {
    return format == float8_format::e4m3   ? element::float8_e4m3
           : format == float8_format::e5m2 ? element::float8_e5m2
                                           : element_of<Input>;
  }

  static cublaslt_options const& checked(cublaslt_options const& options) {
    if (options.tf32 && !std::is_same_v<Input, float>)
      raise(usage_error{"cublaslt_options::tf32 is for float32 operands; leave it out for other types"});
    bool const wants_fp8 = options.fast_accumulation || options.scale_a != nullptr ||
                           options.scale_b != nullptr || options.format_a != float8_format::as_input_type ||
                           options.format_b != float8_format::as_input_type;
    if (wants_fp8 && !is_fp8)
      raise(usage_error{
          "scales, formats and fast accumulation are for fp8 operands; leave them out for other types"});
    if (options.budget.gemm_multiprocessors < 0)
      raise(
          usage_error{"resource_budget::gemm_multiprocessors is negative; 0 leaves the choice to cuBLASLt"});
    return options;
  }

  static detail::lt_settings settings_of(cublaslt_options const& options) {
    return {.compute = options.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
            .multiprocessors = options.budget.gemm_multiprocessors,
            .fast_accumulation = options.fast_accumulation,
            .scale_a = options.scale_a,
            .scale_b = options.scale_b};
  }

  element left_;
  element right_;
  std::shared_ptr<detail::cublaslt_state> state_;
};

static_assert(gemm_functor<cublaslt_gemm<float>, stream_ref> && has_can_run<cublaslt_gemm<float>>);

}  // namespace tpoverlap::inline v0::cu
