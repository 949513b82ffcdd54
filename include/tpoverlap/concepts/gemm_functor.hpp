// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What multiplies matrices: a callable of ten lines around an engine's own GEMM.
#pragma once

#include <tpoverlap/core/matrix_view.hpp>

#include <concepts>

namespace tpoverlap::inline v0 {

/// `gemm(stream, a, b, c, beta)` issues `c = a · b + beta · c` to `stream` and returns at once.
///
/// **Shapes** a (m, k), b (k, n), c (m, n), each with strides of its own. k may be zero: then `c = beta · c`. m and n
/// may be zero: then nothing happens. With `beta == 0`, c is not read.
/// The functor names the types of its operands: `input_type` and `output_type`.
template <class Gemm, class Stream>
concept gemm_functor = requires(Gemm const& gemm, Stream& stream,
                                matrix_view<typename Gemm::input_type const> operand,
                                matrix_view<typename Gemm::output_type> result, float beta) {
  gemm(stream, operand, operand, result, beta);
};

/// `can_run(a, b, c)` returns nullptr, or the reason why these operands cannot be multiplied.
template <class Gemm>
concept has_can_run = requires(Gemm const& gemm, matrix_view<typename Gemm::input_type const> operand,
                               matrix_view<typename Gemm::output_type> result) {
  { gemm.can_run(operand, operand, result) } -> std::convertible_to<char const*>;
};

}  // namespace tpoverlap::inline v0
