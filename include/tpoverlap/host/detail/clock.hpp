// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Clocks and durations of the host backend.
#pragma once

// Declares the part of std::chrono that its waits take, which is all that is used here. <chrono> itself brings streams
// and calendars, a quarter of what the whole backend costs a compiler.
#include <condition_variable>

namespace tpoverlap::inline v0::host::detail {

using clock = std::chrono::steady_clock;

}  // namespace tpoverlap::inline v0::host::detail
