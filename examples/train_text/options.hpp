// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What the command line says.
#pragma once

#include "model_shape.hpp"

#include <tpoverlap/host/link_model.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace train_text {

struct options {
  int ranks = 4;
  std::vector<std::string> schedules;  ///< to train with besides one rank, "blocking" first
  int steps = 60;
  std::uint64_t seed = 1;
  model_shape shape;
  tpoverlap::host::link_model link;
  std::vector<std::string> texts;
  std::string trace;  ///< empty for none
};

/// Returns nothing after printing the help. Throws `input_error`.
[[nodiscard]] std::optional<options> parse_options(int argc, char const* const* argv);

}  // namespace train_text
