// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Bad sample: throws outside of the one place that knows what to do instead.
#pragma once

inline void fail() { throw 42; }
