// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A GEMM functor over CBLAS. The only header that needs a BLAS.
#pragma once

#include <cblas.h>

#include <cstdint>
#include <type_traits>

#include <tpoverlap/concepts/gemm_functor.hpp>
#include <tpoverlap/core/blas_storage.hpp>
#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/matrix_view.hpp>
#include <tpoverlap/host/stream.hpp>

#if defined(__GNUC__)
// OpenBLAS has these, other libraries do not.
extern "C" [[gnu::weak]] void openblas_set_num_threads(int num_threads);
extern "C" [[gnu::weak]] int openblas_get_num_threads(void);
#endif

namespace tpoverlap::inline v0::host {

/// Asks the BLAS to use `threads` threads for each call, in the whole process. Returns whether it agreed. Ranks that
/// are threads of one process usually want 1.
inline bool set_blas_threads(int threads) {
#if defined(__GNUC__)
  if (openblas_set_num_threads == nullptr || openblas_get_num_threads == nullptr) return false;
  openblas_set_num_threads(threads);
  return openblas_get_num_threads() == threads;
#else
  return false;
#endif
}

/// `c = a · b + beta · c` by `cblas_sgemm` or `cblas_dgemm`.
///
/// **Shapes** a (m, k), b (k, n), c (m, n), each row-major or column-major with a leading dimension of its own, so
/// a transposed view costs nothing. Any of m, n and k may be zero.
/// **Ordering** returns at once; runs in the order of the stream.
/// **Errors** `usage_error` with the reason that `can_run` gives; nothing is issued then.
template <class T>
  requires std::is_same_v<T, float> || std::is_same_v<T, double>
struct blas_gemm {
  using input_type = T;
  using output_type = T;

  [[nodiscard]] static char const* can_run(matrix_view<T const> a, matrix_view<T const> b, matrix_view<T> c) {
    constexpr std::int64_t most = INT32_MAX;
    if (a.rows != c.rows || b.columns != c.columns || a.columns != b.rows)
      return "the shapes do not fit: a (m, k), b (k, n), c (m, n)";
    if (c.rows > most || c.columns > most || a.columns > most) return "a CBLAS dimension must fit 32 bits";
    if (blas_storage{a}.order == storage_order::neither) return "a must be row-major or column-major";
    if (blas_storage{b}.order == storage_order::neither) return "b must be row-major or column-major";
    if (blas_storage{c}.order == storage_order::neither) return "c must be row-major or column-major";
    if (blas_storage{a}.leading > most || blas_storage{b}.leading > most || blas_storage{c}.leading > most)
      return "a CBLAS leading dimension must fit 32 bits";
    return nullptr;
  }

  void operator()(stream& in, matrix_view<T const> a, matrix_view<T const> b, matrix_view<T> c,
                  float beta) const {
    if (auto const* const reason = can_run(a, b, c)) raise(usage_error{reason});
    if (c.rows == 0 || c.columns == 0) return;
    in.enqueue(
        [=] { a.columns == 0 ? scale(c, static_cast<T>(beta)) : multiply(a, b, c, static_cast<T>(beta)); });
  }

 private:
  static void multiply(matrix_view<T const> a, matrix_view<T const> b, matrix_view<T> c, T beta) {
    blas_storage const result{c};
    if (result.order == storage_order::by_columns)
      return multiply(b.transposed(), a.transposed(), c.transposed(), beta);
    blas_storage const left{a};
    blas_storage const right{b};
    auto const turned = [](blas_storage const& of) {
      return of.order == storage_order::by_rows ? CblasNoTrans : CblasTrans;
    };
    auto const call = [&](auto gemm) {
      gemm(CblasRowMajor, turned(left), turned(right), static_cast<int>(c.rows), static_cast<int>(c.columns),
           static_cast<int>(a.columns), T{1}, a.data, static_cast<int>(left.leading), b.data,
           static_cast<int>(right.leading), beta, c.data, static_cast<int>(result.leading));
    };
    if constexpr (std::is_same_v<T, float>) {
      call(cblas_sgemm);
    } else {
      call(cblas_dgemm);
    }
  }

  static void scale(matrix_view<T> c, T beta) {
    for (std::int64_t row = 0; row < c.rows; ++row)
      for (std::int64_t column = 0; column < c.columns; ++column)
        c(row, column) = beta == 0 ? T{} : beta * c(row, column);
  }
};

static_assert(gemm_functor<blas_gemm<float>, stream> && has_can_run<blas_gemm<float>>);

}  // namespace tpoverlap::inline v0::host
