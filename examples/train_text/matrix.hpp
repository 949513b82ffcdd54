// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A matrix that owns its elements. Everything else works on views.
#pragma once

#include <tpoverlap/core/matrix_view.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace train_text {

using tpoverlap::matrix_view;

/// Row-major, without gaps, zero at first.
template <class T>
class matrix {
 public:
  matrix(std::int64_t rows, std::int64_t columns)
      : elements_(static_cast<std::size_t>(rows * columns)), rows_{rows}, columns_{columns} {}

  [[nodiscard]] matrix_view<T> view() { return {elements_.data(), rows_, columns_}; }

 private:
  std::vector<T> elements_;
  std::int64_t rows_;
  std::int64_t columns_;
};

}  // namespace train_text
