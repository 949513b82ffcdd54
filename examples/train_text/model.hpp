// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The model: a forward and a backward pass, issued to a stream in the order in which one reads them.
#pragma once

#include "corpus.hpp"
#include "kernels.hpp"
#include "matrix.hpp"
#include "model_shape.hpp"
#include "parameters.hpp"

#include <tpoverlap/host/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace train_text {

/// One rank's part of a byte-level language model: the embeddings of the last bytes side by side, residual blocks of
/// layer normalization and a two-layer perceptron, and a softmax over the next byte.
///
/// Between the GEMMs of a block a rank holds rows of the batch (M/P, D); inside, it holds all rows of its hidden
/// columns (M, H/P). `Passes` moves from one to the other and back.
template <class T, class Passes>
class model {
 public:
  using stream = tpoverlap::host::stream;

  /// `text` and `passes` have to outlive the model.
  model(model_shape const& shape, share const& own, corpus const& text, Passes& passes)
      : values{shape, own},
        gradients{shape, own},
        positions(static_cast<std::size_t>(own.rows.count)),
        shape_{shape},
        text_{text},
        passes_{passes},
        x_{own.rows.count, shape.width()},
        dx_{own.rows.count, shape.width()},
        y_{own.rows.count, shape.width()},
        dh_{own.rows.count, shape.width()},
        logits_{own.rows.count, shape.symbols},
        du_{shape.rows, own.hidden.count},
        all_dy_{shape.rows, shape.width()},
        all_h_{shape.rows, shape.width()},
        partial_dh_{shape.rows, shape.width()},
        output_norm_{shape, own} {
    for (int i = 0; i < shape.blocks; ++i) kept_.emplace_back(shape, own);
  }

  model(model const&) = delete;
  model& operator=(model const&) = delete;

  parameters<T> values;
  parameters<T> gradients;              ///< what is alike on every rank is for the caller to sum
  std::vector<std::int64_t> positions;  ///< of the bytes to predict, one for each row; change between steps

  /// Issues a forward pass, which leaves in `gradients.loss` this rank's part of the loss.
  void forward(stream& in) {
    auto const x = x_.view();            // (M/P, D)
    auto const y = y_.view();            // (M/P, D)
    auto const logits = logits_.view();  // (M/P, V)

    in.enqueue([this, x] { embed<T>(text_, positions, values.embedding, x); });
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      auto& block = values.blocks[i];
      auto& kept = kept_[i];
      normalize(in, x, block.norm_gain, block.norm_bias, kept.norm);
      passes_.up(in, kept.norm.y.view(), block.up_weight, kept.u.view());
      in.enqueue([&block, &kept] { gelu<T>(kept.u.view(), block.up_bias, kept.activated.view()); });
      passes_.down(in, kept.activated.view(), block.down_weight, y);
      in.enqueue([&block, x, y] { add_with_bias<T>(y, block.down_bias, x); });
    }
    normalize(in, x, values.output_gain, values.output_shift, output_norm_);
    passes_.local(in, output_norm_.y.view(), values.output_weight, logits);
    in.enqueue([this, logits] {
      gradients.loss(0, 0) =
          static_cast<T>(softmax_loss<T>(text_, positions, shape_.rows, values.output_bias, logits));
    });
  }

  /// Issues the backward pass of the output: afterwards `gradients.head()` is this rank's part of the sum over ranks.
  void backward_head(stream& in) {
    auto const dx = dx_.view();           // (M/P, D)
    auto const dz = dh_.view();           // (M/P, D)
    auto const dlogits = logits_.view();  // (M/P, V)

    passes_.local(in, output_norm_.y.view().transposed(), dlogits, gradients.output_weight);
    passes_.local(in, dlogits, values.output_weight.transposed(), dz);
    in.enqueue([this, dx, dlogits] {
      sum_rows<T>(dlogits, gradients.output_bias);
      std::fill_n(dx.data, dx.size(), T{});
    });
    normalize_backward(in, dz, values.output_gain, output_norm_, gradients.output_gain,
                       gradients.output_shift);
  }

  /// Issues the rest: afterwards `gradients.trunk()` is this rank's part, and `gradients.sharded()` is complete.
  void backward_blocks(stream& in) {
    auto const dx = dx_.view();               // (M/P, D)
    auto const dh = dh_.view();               // (M/P, D)
    auto const du = du_.view();               // (M, H/P)
    auto const all_dy = all_dy_.view();       // (M, D)
    auto const all_h = all_h_.view();         // (M, D)
    auto const partial = partial_dh_.view();  // (M, D)

    for (auto i = kept_.size(); i-- > 0;) {
      auto& block = values.blocks[i];
      auto& gradient = gradients.blocks[i];
      auto& kept = kept_[i];
      // The residual path hands dx to the perceptron's output as it is.
      in.enqueue([&gradient, dx] { sum_rows<T>(dx, gradient.down_bias); });
      passes_.down_data_gradient(in, dx, block.down_weight.transposed(), du, all_dy);
      passes_.local(in, kept.activated.view().transposed(), all_dy, gradient.down_weight);
      in.enqueue([&gradient, &kept, du] {
        gelu_backward<T>(kept.u.view(), du);
        sum_rows<T>(du, gradient.up_bias);
      });
      passes_.up_data_gradient(in, kept.norm.y.view(), all_h, du, block.up_weight.transposed(), partial);
      passes_.up_weight_gradient(in, partial, dh, all_h.transposed(), du, gradient.up_weight);
      normalize_backward(in, dh, block.norm_gain, kept.norm, gradient.norm_gain, gradient.norm_bias);
    }
    in.enqueue([this, dx] { embed_backward<T>(text_, positions, dx, gradients.embedding); });
  }

 private:
  struct normalization {
    normalization(model_shape const& shape, share const& own)
        : normalized{own.rows.count, shape.width()},
          scale{1, own.rows.count},
          y{own.rows.count, shape.width()} {}

    matrix<T> normalized;  // (M/P, D)
    matrix<T> scale;       // (1, M/P)
    matrix<T> y;           // (M/P, D)
  };

  /// What a block's backward pass needs of its forward pass.
  struct block_memory {
    block_memory(model_shape const& shape, share const& own)
        : norm{shape, own}, u{shape.rows, own.hidden.count}, activated{shape.rows, own.hidden.count} {}

    normalization norm;
    matrix<T> u;          // (M, H/P), after the activation its slope
    matrix<T> activated;  // (M, H/P)
  };

  static void normalize(stream& in, matrix_view<T const> x, matrix_view<T const> gain,
                        matrix_view<T const> bias, normalization& kept) {
    in.enqueue([&kept, x, gain, bias] {
      layer_norm<T>(x, gain, bias, kept.normalized.view(), kept.scale.view(), kept.y.view());
    });
  }

  void normalize_backward(stream& in, matrix_view<T const> dy, matrix_view<T const> gain, normalization& kept,
                          matrix_view<T> dgain, matrix_view<T> dbias) {
    in.enqueue([this, &kept, dy, gain, dgain, dbias] {
      layer_norm_backward<T>(dy, gain, kept.normalized.view(), kept.scale.view(), dx_.view(), dgain, dbias);
    });
  }

  model_shape shape_;
  corpus const& text_;
  Passes& passes_;
  matrix<T> x_;           // (M/P, D), the residual path
  matrix<T> dx_;          // (M/P, D)
  matrix<T> y_;           // (M/P, D)
  matrix<T> dh_;          // (M/P, D)
  matrix<T> logits_;      // (M/P, V), then their gradient
  matrix<T> du_;          // (M, H/P)
  matrix<T> all_dy_;      // (M, D)
  matrix<T> all_h_;       // (M, D)
  matrix<T> partial_dh_;  // (M, D), this rank's contribution to every row
  normalization output_norm_;
  std::vector<block_memory> kept_;
};

}  // namespace train_text
