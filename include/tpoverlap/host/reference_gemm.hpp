// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The textbook product, for checking other GEMMs. It is a test oracle, not something to run a model with.
#pragma once

#include <cstdint>

#include <tpoverlap/concepts/gemm_functor.hpp>
#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/matrix_view.hpp>
#include <tpoverlap/host/stream.hpp>

namespace tpoverlap::inline v0::host {

/// `c = a · b + beta · c` by three loops, for any strides. Sums are kept in `Sum`, in the order of k.
///
/// **Shapes** a (m, k), b (k, n), c (m, n).
template <class In, class Out = In, class Sum = Out>
struct reference_gemm {
  using input_type = In;
  using output_type = Out;

  [[nodiscard]] static char const* can_run(matrix_view<In const> a, matrix_view<In const> b,
                                           matrix_view<Out> c) {
    if (a.rows != c.rows || b.columns != c.columns || a.columns != b.rows)
      return "the shapes do not fit: a (m, k), b (k, n), c (m, n)";
    return nullptr;
  }

  void operator()(stream& in, matrix_view<In const> a, matrix_view<In const> b, matrix_view<Out> c,
                  float beta) const {
    if (auto const* const reason = can_run(a, b, c)) raise(usage_error{reason});
    in.enqueue([=] {
      for (std::int64_t row = 0; row < c.rows; ++row) {
        for (std::int64_t column = 0; column < c.columns; ++column) {
          auto sum = beta == 0 ? Sum{} : static_cast<Sum>(beta) * static_cast<Sum>(c(row, column));
          for (std::int64_t k = 0; k < a.columns; ++k)
            sum += static_cast<Sum>(a(row, k)) * static_cast<Sum>(b(k, column));
          c(row, column) = static_cast<Out>(sum);
        }
      }
    });
  }
};

static_assert(gemm_functor<reference_gemm<float>, stream> && has_can_run<reference_gemm<float>>);

}  // namespace tpoverlap::inline v0::host
