// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "report.hpp"

#include <support/catch.hpp>

#include <limits>
#include <vector>

namespace {

using namespace train_text;

/// Whether a run with these losses passes beside one rank's.
bool passes(std::vector<double> const& losses) {
  std::vector<run> runs(2);
  runs[0].record.losses = {5.0, 4.0, 3.0};
  runs[1].record.losses = losses;
  return print_verdict(runs);
}

}  // namespace

TEST_CASE("a run passes if its losses are one rank's at every step, and fall") {
  constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
  CHECK(passes({5.0, 4.0, 3.0}));
  CHECK(passes({5.0, 4.0, 3.0002}));
  CHECK_FALSE(passes({5.0, 4.0, 3.0004}));
  CHECK_FALSE(passes({5.0, 4.001, 3.0}));
  CHECK_FALSE(passes({5.0, 4.0, not_a_number}));
  CHECK_FALSE(passes({not_a_number, 4.0, 3.0}));
  CHECK_FALSE(passes({}));
}

TEST_CASE("a loss that rises does not pass, though it is one rank's") {
  std::vector<run> runs(2);
  for (auto& each : runs) each.record.losses = {3.0, 4.0};
  CHECK_FALSE(print_verdict(runs));
}
