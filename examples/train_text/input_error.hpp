// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What the user got wrong, as opposed to what went wrong.
#pragma once

#include <stdexcept>

namespace train_text {

/// Holds a sentence for the user. The program ends with status 2.
struct input_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace train_text
