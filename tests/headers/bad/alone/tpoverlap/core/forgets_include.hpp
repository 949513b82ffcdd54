// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Bad sample: relies on its includer for <cstdint>.
#pragma once

inline constexpr std::int64_t answer = 42;
