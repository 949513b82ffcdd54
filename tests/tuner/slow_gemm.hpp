// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A GEMM whose time is chosen, so that a test knows which schedule is the fastest, however busy the machine is.
#pragma once

#include "../overlap/values.hpp"

#include <tpoverlap/host.hpp>
#include <tpoverlap/overlap/shape.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace tpoverlap_test {

struct slow_gemm {
  using input_type = float;
  using output_type = float;

  std::chrono::microseconds per_call{0};
  std::chrono::microseconds per_row{0};
  std::atomic<int>* calls = nullptr;
  char const* identity = "slow";

  void operator()(host::stream& in, matrix_view<float const> a, matrix_view<float const> b,
                  matrix_view<float> c, float beta) const {
    if (calls != nullptr) ++*calls;
    auto const pause = per_call + per_row * c.rows;
    if (pause.count() > 0) in.enqueue([pause] { std::this_thread::sleep_for(pause); });
    host::reference_gemm<float>{}(in, a, b, c, beta);
  }
};

/// A gather over two ranks: x (32, 8), w (8, 4), y (64, 4), with values that every rank can compute.
struct gather_operands {
  static constexpr std::int64_t rows = 64;
  static constexpr gemm_shape shape{.rows = rows, .inner = 8, .columns = 4};

  explicit gather_operands(int rank) {
    fill(x.view(), filling::integers, 1, rank * (rows / 2));
    fill(w.view(), filling::integers, 2);
  }

  void require_product() const {
    require_equal("y", y.view(), [](std::int64_t i, std::int64_t j) {
      double sum = 0;
      for (std::int64_t k = 0; k < 8; ++k)
        sum += value(filling::integers, 1, i, k) * value(filling::integers, 2, k, j);
      return sum;
    });
  }

  matrix<float> x{rows / 2, 8};
  matrix<float> w{8, 4};
  matrix<float> y{rows, 4};
};

/// A shard of the gather above takes as long on this link as its GEMM does at `balanced_row` a row: 38.4 ms.
inline constexpr std::chrono::microseconds balanced_row{1200};
inline host::communicator_options balanced_link() {
  return {.link = {.gigabits_per_second = 32 * 8 * sizeof(float) * 8 / 38.4e-3 / 1e9}};
}

}  // namespace tpoverlap_test
