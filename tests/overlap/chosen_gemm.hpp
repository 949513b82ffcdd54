// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A GEMM that is chosen at run time, so that a policy is compiled once for all of them.
#pragma once

#include <tpoverlap/core/matrix_view.hpp>
#include <tpoverlap/host/stream.hpp>

namespace tpoverlap_test {

using namespace tpoverlap;

/// Issues `c = a · b + beta · c`.
template <class In, class Out = In>
using gemm_issuer = void (*)(host::stream&, matrix_view<In const>, matrix_view<In const>, matrix_view<Out>,
                             float);

template <class T>
struct chosen_gemm {
  using input_type = T;
  using output_type = T;

  gemm_issuer<T> issue;
  gemm_issuer<T, double> issue_wide = nullptr;  ///< into buckets of a wider type

  void operator()(host::stream& in, matrix_view<T const> const& a, matrix_view<T const> const& b,
                  matrix_view<T> const& c, float beta) const {
    issue(in, a, b, c, beta);
  }
};

/// As above, for accumulation::fused with reduce_in float64.
template <class T>
struct widening_gemm : chosen_gemm<T> {
  using chosen_gemm<T>::operator();
  void operator()(host::stream& in, matrix_view<T const> const& a, matrix_view<T const> const& b,
                  matrix_view<double> const& c, float beta) const {
    this->issue_wide(in, a, b, c, beta);
  }
};

/// The functors under test: `late_loops` start after pseudo-random delays, so that communication runs ahead. The thread
/// sanitizer cannot see into a BLAS.
enum class gemm_kind { blas, loops, late_loops };

#if defined(__SANITIZE_THREAD__)
inline constexpr gemm_kind usual_gemm = gemm_kind::loops;
#else
inline constexpr gemm_kind usual_gemm = gemm_kind::blas;
#endif

template <class T>
chosen_gemm<T> gemm_of(gemm_kind kind);

template <>
chosen_gemm<float> gemm_of<float>(gemm_kind kind);
template <>
chosen_gemm<double> gemm_of<double>(gemm_kind kind);

}  // namespace tpoverlap_test
