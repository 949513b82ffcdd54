// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Bad sample: a backend knows nothing of schedules.
#pragma once

#include <tpoverlap/schedule/verify.hpp>
