// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The BLAS functor against three loops, in every layout, with padding and with degenerate sizes.

#include "../support/catch.hpp"
#include "rank_check.hpp"

#include <tpoverlap/blas.hpp>
#include <tpoverlap/host/reference_gemm.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace tpoverlap;

namespace {

enum class layout { by_rows, by_rows_padded, by_columns, by_columns_padded };
constexpr layout layouts[] = {layout::by_rows, layout::by_rows_padded, layout::by_columns,
                              layout::by_columns_padded};

template <class T>
struct matrix {
  std::vector<T> storage;
  matrix_view<T> view;

  matrix(std::int64_t rows, std::int64_t columns, layout order, int seed) {
    bool const padded = order == layout::by_rows_padded || order == layout::by_columns_padded;
    bool const by_rows = order == layout::by_rows || order == layout::by_rows_padded;
    auto const leading = (by_rows ? columns : rows) + (padded ? 3 : 0);
    auto const lines = by_rows ? rows : columns;
    for (std::int64_t i = 0; i < leading * lines; ++i)
      storage.push_back(static_cast<T>((i * 7 + seed) % 11 - 5));
    view = {storage.data(), rows, columns, by_rows ? leading : 1, by_rows ? 1 : leading};
  }
};

}  // namespace

TEMPLATE_TEST_CASE("blas_gemm equals three loops in every layout and size", "[gemm]", float, double) {
  using T = TestType;
  host::set_blas_threads(1);
  host::stream stream;
  int compared = 0;
  for (std::int64_t const m : {0, 1, 2, 5})
    for (std::int64_t const n : {0, 1, 3, 6})
      for (std::int64_t const k : {0, 1, 4, 7})
        for (auto const a_layout : layouts)
          for (auto const b_layout : layouts)
            for (auto const c_layout : layouts)
              for (float const beta : {0.0F, 1.0F, -2.0F}) {
                matrix<T> a{m, k, a_layout, 1};
                matrix<T> b{k, n, b_layout, 2};
                matrix<T> c{m, n, c_layout, 3};
                if (beta == 0)
                  for (std::int64_t i = 0; i < m; ++i)
                    for (std::int64_t j = 0; j < n; ++j) c.view(i, j) = std::numeric_limits<T>::quiet_NaN();
                matrix<T> expected{m, n, c_layout, 3};
                host::reference_gemm<T>{}(stream, a.view, b.view, expected.view, beta);
                host::blas_gemm<T>{}(stream, a.view, b.view, c.view, beta);
                stream.synchronize();
                CAPTURE(m, n, k, static_cast<int>(a_layout), static_cast<int>(b_layout),
                        static_cast<int>(c_layout), beta);
                for (T each : c.storage) REQUIRE(std::isfinite(each));
                REQUIRE(c.storage == expected.storage);  // small integers: exact; padding is untouched
                ++compared;
              }
  CHECK(compared == 4 * 4 * 4 * 64 * 3);
}

TEST_CASE("strides along dimensions of size 0 or 1 may be anything", "[gemm]") {
  host::set_blas_threads(1);
  host::stream stream;
  std::vector<float> const a{1, 2, 3, 4};
  std::vector<float> const b{5, 6, 7, 8};
  for (std::int64_t const odd : {-7, 0, 1, 2, 1000}) {
    CAPTURE(odd);
    float dot = -1;
    host::blas_gemm<float>{}(stream, matrix_view<float const>{a.data(), 1, 4, odd, 1},
                             matrix_view<float const>{b.data(), 4, 1, 1, odd},
                             matrix_view<float>{&dot, 1, 1, odd, odd}, 0);
    std::vector<float> outer(16);
    host::blas_gemm<float>{}(stream, matrix_view<float const>{a.data(), 4, 1, 1, odd},
                             matrix_view<float const>{b.data(), 1, 4, odd, 1},
                             matrix_view<float>{outer.data(), 4, 4}, 0);
    stream.synchronize();
    CHECK(dot == 70);
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 4; ++j) REQUIRE(outer[4 * i + j] == a[i] * b[j]);
  }
}

TEST_CASE("a vector inside a matrix is multiplied without a copy", "[gemm]") {
  host::stream stream;
  // Column 1 of a (3, 4) row-major matrix: (3, 1) with row stride 4, times a (1, 2).
  std::vector<float> const a{0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0};
  std::vector<float> const b{10, 20};
  std::vector<float> c(6);
  host::blas_gemm<float>{}(stream, matrix_view<float const>{a.data() + 1, 3, 1, 4, 1},
                           matrix_view<float const>{b.data(), 1, 2}, matrix_view<float>{c.data(), 3, 2}, 0);
  stream.synchronize();
  CHECK(c == std::vector<float>{10, 20, 20, 40, 30, 60});
}

TEST_CASE("what BLAS cannot do is refused with a reason", "[gemm]") {
  using gemm = host::blas_gemm<float>;
  std::vector<float> data(64);
  auto const* const in = data.data();
  matrix_view<float const> const fine{in, 4, 4};
  matrix_view<float const> const sieve{in, 4, 4, 8, 2};
  matrix_view<float const> const backwards{in + 12, 4, 4, -4, 1};
  matrix_view<float const> const broadcast{in, 4, 4, 0, 1};
  matrix_view<float> const result{data.data(), 4, 4};
  matrix_view<float> const sieve_result{data.data(), 4, 4, 8, 2};
  CHECK(gemm::can_run(fine, fine, result) == nullptr);
  CHECK(has(gemm::can_run(sieve, fine, result), "a must be row-major or column-major"));
  CHECK(has(gemm::can_run(fine, sieve, result), "b must be row-major or column-major"));
  CHECK(has(gemm::can_run(fine, fine, sieve_result), "c must be row-major or column-major"));
  CHECK(gemm::can_run(backwards, fine, result) != nullptr);
  CHECK(gemm::can_run(broadcast, fine, result) != nullptr);
  CHECK(has(gemm::can_run(fine.row_range(0, 3), fine, result), "shapes"));
  auto const large = std::int64_t{1} << 31;
  CHECK(has(gemm::can_run({in, large, 1}, {in, 1, 4}, {data.data(), large, 4}), "32 bits"));
  CHECK(has(gemm::can_run({in, 2, 1, large, 1}, {in, 1, 4}, {data.data(), 2, 4}), "32 bits"));
  host::stream stream;
  CHECK_THROWS_AS(gemm{}(stream, sieve, fine, result, 0), usage_error);
  CHECK_THROWS_AS((host::reference_gemm<float>{}(stream, fine.row_range(0, 3), fine, result, 0)),
                  usage_error);
  stream.synchronize();
}

TEST_CASE("the oracle can keep sums in a wider type", "[gemm]") {
  host::stream stream;
  std::vector<float> const a{16777216.0F, 1.0F, -16777216.0F};
  std::vector<float> const ones(3, 1.0F);
  float c = 0;
  host::reference_gemm<float, float, double>{}(stream, matrix_view<float const>{a.data(), 1, 3},
                                               matrix_view<float const>{ones.data(), 3, 1},
                                               matrix_view<float>{&c, 1, 1}, 0);
  stream.synchronize();
  CHECK(c == 1.0F);
}
