// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The layers that need no GEMM, each with its backward pass. They know nothing of ranks: rows are rows.
#pragma once

#include "corpus.hpp"
#include "matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace train_text {

// --- Embedding: the bytes before a position, looked up and laid side by side ------------------------------------

template <class T>
void embed(corpus const& text, std::span<std::int64_t const> positions, matrix_view<T const> table,
           matrix_view<T> x) {
  auto const context = x.columns / table.columns;
  for (std::int64_t row = 0; row < x.rows; ++row) {
    auto const first = positions[static_cast<std::size_t>(row)] - context;
    for (std::int64_t k = 0; k < context; ++k) {
      auto const symbol = text[static_cast<std::size_t>(first + k)];
      std::copy_n(&table(symbol, 0), table.columns, &x(row, k * table.columns));
    }
  }
}

template <class T>
void embed_backward(corpus const& text, std::span<std::int64_t const> positions, matrix_view<T const> dx,
                    matrix_view<T> dtable) {
  std::fill_n(dtable.data, dtable.size(), T{});
  auto const context = dx.columns / dtable.columns;
  for (std::int64_t row = 0; row < dx.rows; ++row) {
    auto const first = positions[static_cast<std::size_t>(row)] - context;
    for (std::int64_t k = 0; k < context; ++k) {
      auto const symbol = text[static_cast<std::size_t>(first + k)];
      for (std::int64_t j = 0; j < dtable.columns; ++j) dtable(symbol, j) += dx(row, k * dtable.columns + j);
    }
  }
}

// --- Layer normalization ----------------------------------------------------------------------------------------

/// `normalized` and `scale` are what the backward pass needs; `scale` holds one over each row's deviation.
template <class T>
void layer_norm(matrix_view<T const> x, matrix_view<T const> gain, matrix_view<T const> bias,
                matrix_view<T> normalized, matrix_view<T> scale, matrix_view<T> y) {
  auto const width = static_cast<T>(x.columns);
  for (std::int64_t i = 0; i < x.rows; ++i) {
    T mean{};
    for (std::int64_t j = 0; j < x.columns; ++j) mean += x(i, j);
    mean /= width;
    T variance{};
    for (std::int64_t j = 0; j < x.columns; ++j) variance += (x(i, j) - mean) * (x(i, j) - mean);
    scale(0, i) = 1 / std::sqrt(variance / width + static_cast<T>(1e-5));
    for (std::int64_t j = 0; j < x.columns; ++j) {
      normalized(i, j) = (x(i, j) - mean) * scale(0, i);
      y(i, j) = normalized(i, j) * gain(0, j) + bias(0, j);
    }
  }
}

/// Adds the gradient of the input to `dx`, which holds that of the residual path.
template <class T>
void layer_norm_backward(matrix_view<T const> dy, matrix_view<T const> gain, matrix_view<T const> normalized,
                         matrix_view<T const> scale, matrix_view<T> dx, matrix_view<T> dgain,
                         matrix_view<T> dbias) {
  std::fill_n(dgain.data, dgain.size(), T{});
  std::fill_n(dbias.data, dbias.size(), T{});
  auto const width = static_cast<T>(dy.columns);
  for (std::int64_t i = 0; i < dy.rows; ++i) {
    T mean{};
    T along{};
    for (std::int64_t j = 0; j < dy.columns; ++j) {
      dgain(0, j) += dy(i, j) * normalized(i, j);
      dbias(0, j) += dy(i, j);
      mean += dy(i, j) * gain(0, j);
      along += dy(i, j) * gain(0, j) * normalized(i, j);
    }
    mean /= width;
    along /= width;
    for (std::int64_t j = 0; j < dy.columns; ++j)
      dx(i, j) += scale(0, i) * (dy(i, j) * gain(0, j) - mean - normalized(i, j) * along);
  }
}

// --- GELU, with the bias before it ------------------------------------------------------------------------------

/// Turns `u` into the slope of the activation at `u + bias`, which is all that the backward pass needs.
/// The usual form with tanh, written with one exponential: 0.5 (1 + tanh z) = 1 / (1 + exp(-2 z)).
template <class T>
void gelu(matrix_view<T> u, matrix_view<T const> bias, matrix_view<T> y) {
  auto const stretch = static_cast<T>(0.7978845608028654);  // sqrt(2 / pi)
  auto const cubic = static_cast<T>(0.044715);
  for (std::int64_t i = 0; i < u.rows; ++i) {
    for (std::int64_t j = 0; j < u.columns; ++j) {
      auto const x = u(i, j) + bias(0, j);
      auto const gate = 1 / (1 + std::exp(-2 * stretch * (x + cubic * x * x * x)));
      y(i, j) = x * gate;
      u(i, j) = gate + x * 2 * gate * (1 - gate) * stretch * (1 + 3 * cubic * x * x);
    }
  }
}

/// Turns `d`, the gradient after the activation, into the one before it.
template <class T>
void gelu_backward(matrix_view<T const> slope, matrix_view<T> d) {
  for (std::int64_t i = 0; i < d.size(); ++i) d.data[i] *= slope.data[i];
}

// --- Bias and residual ------------------------------------------------------------------------------------------

template <class T>
void add_with_bias(matrix_view<T const> y, matrix_view<T const> bias, matrix_view<T> x) {
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j) x(i, j) += y(i, j) + bias(0, j);
}

template <class T>
void sum_rows(matrix_view<T const> d, matrix_view<T> sum) {
  std::fill_n(sum.data, sum.size(), T{});
  for (std::int64_t i = 0; i < d.rows; ++i)
    for (std::int64_t j = 0; j < d.columns; ++j) sum(0, j) += d(i, j);
}

// --- Softmax and cross entropy ----------------------------------------------------------------------------------

/// Turns `logits` into the gradient of the mean loss of a batch of `batch_rows`, of which these rows may be a part, and
/// returns their part of that mean.
template <class T>
double softmax_loss(corpus const& text, std::span<std::int64_t const> positions, std::int64_t batch_rows,
                    matrix_view<T const> bias, matrix_view<T> logits) {
  double loss = 0;
  for (std::int64_t i = 0; i < logits.rows; ++i) {
    auto const expected = text[static_cast<std::size_t>(positions[static_cast<std::size_t>(i)])];
    for (std::int64_t j = 0; j < logits.columns; ++j) logits(i, j) += bias(0, j);
    auto* const row = &logits(i, 0);
    T const largest = *std::max_element(row, row + logits.columns);
    auto const target = static_cast<double>(row[expected] - largest);
    T sum{};
    for (std::int64_t j = 0; j < logits.columns; ++j) sum += row[j] = std::exp(row[j] - largest);
    loss += std::log(static_cast<double>(sum)) - target;
    for (std::int64_t j = 0; j < logits.columns; ++j) row[j] /= sum * static_cast<T>(batch_rows);
    row[expected] -= 1 / static_cast<T>(batch_rows);
  }
  return loss / static_cast<double>(batch_rows);
}

}  // namespace train_text
