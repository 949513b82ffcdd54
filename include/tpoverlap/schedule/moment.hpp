// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The moments of an operation that a recorder notes.
#pragma once

#include <cstdint>

namespace tpoverlap::inline v0 {

/// What is noted of an operation, in this order.
enum class moment : std::uint8_t {
  reached,  ///< its lane has come to it; from here it waits for other lanes
  started,  ///< all it waits for is done
  ended,
};

}  // namespace tpoverlap::inline v0
