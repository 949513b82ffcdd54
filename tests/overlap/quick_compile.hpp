// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Included first by files that do nothing but instantiate many policies: unoptimized, they compile three times as fast.
//! Other files instantiate policies with the build's own options.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O0")
#endif
