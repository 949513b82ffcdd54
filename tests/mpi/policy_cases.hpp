// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The policies under test: each is a function from a communicator and inputs that every rank can make to the bytes of
//! this rank's results. What it returns must not depend on the communicator.
#pragma once

#include "any_communicator.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tpoverlap_test {

struct policy_case {
  std::string name;
  int ranks;
  std::vector<float> (*run)(any_communicator&);
};

using policy_cases = std::vector<policy_case>;
using all_worlds = std::integer_sequence<int, 1, 2, 3, 4>;

[[nodiscard]] policy_cases gather_cases();
[[nodiscard]] policy_cases reduction_cases();
[[nodiscard]] policy_cases wide_reduction_cases();
[[nodiscard]] policy_cases side_cases();

}  // namespace tpoverlap_test
