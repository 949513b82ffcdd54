// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Bad sample: a path that breaks when the file moves.
#pragma once

#include "../core/other.hpp"
