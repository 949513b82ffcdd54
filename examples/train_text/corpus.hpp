// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The text to learn, and the batches drawn from it.
#pragma once

#include <tpoverlap/core/partition.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace train_text {

using corpus = std::vector<std::uint8_t>;

/// Reads files one after another into one text. Throws `input_error`.
[[nodiscard]] corpus read_files(std::span<std::string const> files);

/// The licence, the readme and the documentation of a repository, in a fixed order; what is missing is left out.
[[nodiscard]] std::vector<std::string> texts_of_repository(std::string const& root);

/// Refuses a text that has fewer places to predict than a batch has rows.
void require_enough(corpus const& text, std::int64_t context, std::int64_t rows);

/// Fills `positions` with the places in the text that `rows` of the batch of `step` predict. A row's place depends on
/// nothing but seed, step and row, so each rank draws just the rows that it holds.
void draw_batch(corpus const& text, std::int64_t context, std::uint64_t seed, int step,
                tpoverlap::row_range rows, std::span<std::int64_t> positions);

}  // namespace train_text
