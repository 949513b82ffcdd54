// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! One rank's parameters, or equally their gradients: named views of one flat array.
#pragma once

#include "matrix.hpp"
#include "model_shape.hpp"
#include "random.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace train_text {

template <class T>
struct block_parameters {
  // Alike on every rank.
  matrix_view<T> norm_gain;  // (1, D)
  matrix_view<T> norm_bias;  // (1, D)
  matrix_view<T> down_bias;  // (1, D)
  // This rank's part of the hidden columns.
  matrix_view<T> up_weight;    // (D, H/P)
  matrix_view<T> up_bias;      // (1, H/P)
  matrix_view<T> down_weight;  // (H/P, D)
};

/// What is alike on every rank comes first, in the order in which its gradients are summed over ranks: `head`, then
/// `trunk`. The shards follow, which an optimizer may update meanwhile.
template <class T>
class parameters {
 public:
  parameters(model_shape const& shape, share const& own)
      : blocks(static_cast<std::size_t>(shape.blocks)), shape_{shape}, own_{own} {
    lay_out();  // counts
    flat_.resize(used_);
    lay_out();
  }

  parameters(parameters const&) = delete;  // a copy's views would show the original
  parameters& operator=(parameters const&) = delete;

  matrix_view<T> loss;           // (1, 1), of gradients only: the batch's loss, summed along with them
  matrix_view<T> output_weight;  // (D, V)
  matrix_view<T> output_bias;    // (1, V)
  matrix_view<T> output_gain;    // (1, D), of the normalization before the output
  matrix_view<T> output_shift;   // (1, D)
  matrix_view<T> embedding;      // (V, embedding)
  std::vector<block_parameters<T>> blocks;

  [[nodiscard]] std::span<T> head() { return range(0, head_end_); }
  [[nodiscard]] std::span<T> trunk() { return range(head_end_, replicated_end_); }
  [[nodiscard]] std::span<T> replicated() { return range(1, replicated_end_); }
  [[nodiscard]] std::span<T> sharded() { return range(replicated_end_, flat_.size()); }

  /// A tensor's numbers depend on the seed and on their place in the whole tensor, so the ranks' shards
  /// together are exactly what one rank alone would hold.
  void initialize(std::uint64_t seed) {
    std::uint64_t tensor = 0;
    auto const whole = row_range{0, 0};
    fill_random(embedding, 1, whole, whole, seed, tensor++);
    fill_random(output_weight, shape_.width(), whole, whole, seed, tensor++);
    fill(output_gain, T{1});
    for (auto& block : blocks) {
      fill(block.norm_gain, T{1});
      fill_random(block.up_weight, shape_.width(), whole, own_.hidden, seed, tensor++);
      fill_random(block.down_weight, shape_.hidden(), own_.hidden, whole, seed, tensor++);
    }
  }

 private:
  using row_range = tpoverlap::row_range;

  [[nodiscard]] std::span<T> range(std::size_t first, std::size_t end) {
    return std::span{flat_}.subspan(first, end - first);
  }

  void lay_out() {
    auto const width = shape_.width();
    auto const hidden = own_.hidden.count;
    used_ = 0;
    loss = take(1, 1);
    output_weight = take(width, shape_.symbols);
    output_bias = take(1, shape_.symbols);
    output_gain = take(1, width);
    output_shift = take(1, width);
    head_end_ = used_;
    embedding = take(shape_.symbols, shape_.embedding);
    for (auto& block : blocks) {
      block.norm_gain = take(1, width);
      block.norm_bias = take(1, width);
      block.down_bias = take(1, width);
    }
    replicated_end_ = used_;
    for (auto& block : blocks) {
      block.up_weight = take(width, hidden);
      block.up_bias = take(1, hidden);
      block.down_weight = take(hidden, width);
    }
  }

  matrix_view<T> take(std::int64_t rows, std::int64_t columns) {
    auto* const first = flat_.empty() ? nullptr : flat_.data() + used_;
    used_ += static_cast<std::size_t>(rows * columns);
    return {first, rows, columns};
  }

  static void fill(matrix_view<T> tensor, T value) {
    for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.data[i] = value;
  }

  /// Uniform with variance 1/`inputs`. `rows` and `columns` say where the shard begins in the whole tensor.
  void fill_random(matrix_view<T> tensor, std::int64_t inputs, row_range rows, row_range columns,
                   std::uint64_t seed, std::uint64_t sequence) {
    auto const bound = std::sqrt(3.0 / static_cast<double>(inputs));
    // Any stride that no tensor's row exceeds tells all places apart.
    auto const stride = shape_.hidden() + shape_.symbols;
    for (std::int64_t i = 0; i < tensor.rows; ++i) {
      for (std::int64_t j = 0; j < tensor.columns; ++j) {
        auto const place = (rows.first + i) * stride + columns.first + j;
        auto const fraction = random_fraction(seed, sequence, static_cast<std::uint64_t>(place));
        tensor(i, j) = static_cast<T>(bound * (2 * fraction - 1));
      }
    }
  }

  model_shape shape_;
  share own_;
  std::vector<T> flat_;
  std::size_t used_ = 0;
  std::size_t head_end_ = 0;
  std::size_t replicated_end_ = 0;
};

}  // namespace train_text
