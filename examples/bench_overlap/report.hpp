// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A comparison as a table for people and as JSON for programs.
#pragma once

#include "comparison.hpp"

#include <string>

namespace bench {

[[nodiscard]] std::string as_table(request const& asked, comparison const& found);

/// The layout has a number, `format`, which goes up when a name or a meaning changes.
[[nodiscard]] std::string as_json(request const& asked, comparison const& found);

}  // namespace bench
