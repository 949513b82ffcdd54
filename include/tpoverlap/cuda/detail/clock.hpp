// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Clock and durations of the CUDA backend's waits.
#pragma once

// Declares what is used of std::chrono here, for a quarter of what <chrono> with its calendars costs a compiler.
#include <condition_variable>

namespace tpoverlap::inline v0::cu::detail {

using clock = std::chrono::steady_clock;

}  // namespace tpoverlap::inline v0::cu::detail
