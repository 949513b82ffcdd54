// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! All of the library that needs no vendor library: schedules, `overlap`, and the host backend.
#pragma once

#include <tpoverlap/host.hpp>
#include <tpoverlap/overlap.hpp>
