// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Every built-in policy with every knob that is valid, by name, built at run time.
#pragma once

#include "editable_program.hpp"

#include <string>
#include <vector>

namespace tpoverlap_test {

struct named_policy {
  std::string name;
  editable_program (*build)(int ranks);
};

inline constexpr int most_chunks = 5;

/// Policies whose shards are cut into `chunks` (1 to `most_chunks`); those without the knob come with 1.
[[nodiscard]] std::vector<named_policy> const& builtin_policies(int chunks);

}  // namespace tpoverlap_test
