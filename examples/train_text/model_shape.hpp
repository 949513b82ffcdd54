// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The sizes of a model, and which part of it a rank holds.
#pragma once

#include <tpoverlap/core/partition.hpp>

#include <cstdint>

namespace train_text {

/// A model that predicts a byte from the `context` bytes before it.
struct model_shape {
  std::int64_t rows = 512;      ///< M: predictions in a batch
  std::int64_t context = 16;    ///< bytes seen by one prediction
  std::int64_t embedding = 32;  ///< numbers for each of them
  int blocks = 2;

  static constexpr std::int64_t symbols = 256;                                        ///< V: values of a byte
  [[nodiscard]] constexpr std::int64_t width() const { return context * embedding; }  ///< D
  [[nodiscard]] constexpr std::int64_t hidden() const { return 4 * width(); }         ///< H
};

/// What one rank of `ranks` holds: rows of the batch (sequence parallel), hidden columns of every block (tensor
/// parallel). Either may be uneven.
struct share {
  tpoverlap::row_range rows;    ///< written M/P in shape comments
  tpoverlap::row_range hidden;  ///< written H/P in shape comments
};

[[nodiscard]] constexpr share share_of(model_shape const& shape, int ranks, int rank) {
  return {tpoverlap::even_part(shape.rows, ranks, rank), tpoverlap::even_part(shape.hidden(), ranks, rank)};
}

}  // namespace train_text
