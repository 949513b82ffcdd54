// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Bad sample: not protected against a macro of this name.
#pragma once

#include <utility>

constexpr int max(int a, int b);
