// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Bad sample: a macro outside of config.hpp.
#pragma once

#define TPOVERLAP_BAD 1
