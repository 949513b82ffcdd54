// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The schedules to compare. Each says how the collectives of a block hide; nothing else in the program depends on it.
#pragma once

#include <tpoverlap/policy/strategy.hpp>

namespace train_text {

/// Nothing hides: the baseline.
struct blocking_schedule {
  static constexpr tpoverlap::blocking gather{};
  static constexpr tpoverlap::blocking reduction{};
  static constexpr bool side_work = false;
};

struct ring_schedule {
  static constexpr tpoverlap::ring gather{.chunks = 2};
  static constexpr tpoverlap::ring reduction{.chunks = 2};
  static constexpr bool side_work = true;
};

struct direct_schedule {
  static constexpr tpoverlap::direct gather{.chunks = 2};
  static constexpr tpoverlap::direct reduction{.chunks = 2};
  static constexpr bool side_work = true;
};

struct pipeline_schedule {
  static constexpr tpoverlap::pipeline gather{.chunks = 4};
  static constexpr tpoverlap::pipeline reduction{.chunks = 4};
  static constexpr bool side_work = true;
};

}  // namespace train_text
