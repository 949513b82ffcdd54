// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The Adam optimizer over a flat array.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace train_text {

struct adam_options {
  double rate = 1e-3;
  double decay_mean = 0.9;
  double decay_square = 0.99;  ///< short memory, since runs are short
  double floor = 1e-8;
};

/// **Source** Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015.
template <class T>
class adam {
 public:
  explicit adam(std::size_t size, adam_options const& options = {})
      : options_{options}, mean_(size), square_(size) {}

  void update(std::span<T> values, std::span<T const> gradients) {
    mean_power_ *= options_.decay_mean;
    square_power_ *= options_.decay_square;
    auto const keep_mean = static_cast<T>(options_.decay_mean);
    auto const keep_square = static_cast<T>(options_.decay_square);
    // Both averages start at zero; dividing by the weight gathered so far undoes that.
    auto const rate = static_cast<T>(options_.rate / (1 - mean_power_));
    auto const square_scale = static_cast<T>(1 / (1 - square_power_));
    auto const floor = static_cast<T>(options_.floor);
    for (std::size_t i = 0; i < values.size(); ++i) {
      auto const gradient = gradients[i];
      mean_[i] = keep_mean * mean_[i] + (1 - keep_mean) * gradient;
      square_[i] = keep_square * square_[i] + (1 - keep_square) * gradient * gradient;
      values[i] -= rate * mean_[i] / (std::sqrt(square_[i] * square_scale) + floor);
    }
  }

 private:
  adam_options options_;
  std::vector<T> mean_;
  std::vector<T> square_;
  double mean_power_ = 1;
  double square_power_ = 1;
};

}  // namespace train_text
