// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A comparison as a table for people and as JSON for programs.
#pragma once

#include "comparison.hpp"

#include <string>
#include <string_view>

namespace compare {

[[nodiscard]] std::string as_table(std::string_view dependency, request const& asked,
                                   comparison const& result);
[[nodiscard]] std::string as_json(std::string_view dependency, request const& asked,
                                  comparison const& result);

}  // namespace compare
