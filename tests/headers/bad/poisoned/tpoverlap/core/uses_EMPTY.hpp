// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Bad sample: a system header may have made a macro of this name.
#pragma once

inline constexpr int EMPTY = 0;
