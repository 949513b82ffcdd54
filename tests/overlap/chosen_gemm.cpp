// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "chosen_gemm.hpp"

#include <tpoverlap/blas.hpp>
#include <tpoverlap/host/reference_gemm.hpp>

#include <chrono>
#include <thread>

namespace tpoverlap_test {

namespace {

template <class Gemm, class Out>
void issue(host::stream& in, matrix_view<typename Gemm::input_type const> a,
           matrix_view<typename Gemm::input_type const> b, matrix_view<Out> c, float beta) {
  Gemm{}(in, a, b, c, beta);
}

template <class Gemm, class Out>
void issue_late(host::stream& in, matrix_view<typename Gemm::input_type const> a,
                matrix_view<typename Gemm::input_type const> b, matrix_view<Out> c, float beta) {
  thread_local unsigned calls = 0;  // of one rank
  in.enqueue(
      [delay = std::chrono::microseconds{++calls * 7919 % 5 * 60}] { std::this_thread::sleep_for(delay); });
  Gemm{}(in, a, b, c, beta);
}

template <class T>
chosen_gemm<T> choose(gemm_kind kind) {
  gemm_issuer<T, double> const wide = issue<host::reference_gemm<T, double>, double>;
  switch (kind) {
    case gemm_kind::blas: return {issue<host::blas_gemm<T>, T>, wide};
    case gemm_kind::loops: return {issue<host::reference_gemm<T>, T>, wide};
    case gemm_kind::late_loops: break;
  }
  return {issue_late<host::reference_gemm<T>, T>, issue_late<host::reference_gemm<T, double>, double>};
}

}  // namespace

template <>
chosen_gemm<float> gemm_of<float>(gemm_kind kind) {
  return choose<float>(kind);
}
template <>
chosen_gemm<double> gemm_of<double>(gemm_kind kind) {
  return choose<double>(kind);
}

}  // namespace tpoverlap_test
