// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The policies under test, each list compiled in a file of its own.
#pragma once

#include "plan.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tpoverlap_test {

/// A policy on a number of ranks, and how to put it through a plan.
struct policy_case {
  std::string name;
  int ranks;
  policy_facts facts;
  void (*run)(plan const&);
};

using policy_cases = std::vector<policy_case>;

using all_worlds = std::integer_sequence<int, 1, 2, 3, 4, 5, 8>;
using some_worlds = std::integer_sequence<int, 1, 2, 3, 4, 5>;

[[nodiscard]] policy_cases gather_ring_cases();
[[nodiscard]] policy_cases gather_direct_cases();
[[nodiscard]] policy_cases gather_contraction_cases();
[[nodiscard]] policy_cases gather_kept_cases();
[[nodiscard]] policy_cases gather_graded_cases();
[[nodiscard]] policy_cases gather_optimized_cases();

[[nodiscard]] policy_cases reduction_ring_cases();
[[nodiscard]] policy_cases reduction_direct_cases();
[[nodiscard]] policy_cases reduction_everywhere_cases();
[[nodiscard]] policy_cases reduction_wide_cases();
[[nodiscard]] policy_cases reduction_graded_cases();
[[nodiscard]] policy_cases reduction_optimized_cases();

[[nodiscard]] policy_cases side_cases();

}  // namespace tpoverlap_test
