// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Version numbers and the few macros of the library. No other header defines a `TPOVERLAP_` macro.
#pragma once

#define TPOVERLAP_VERSION_MAJOR 0
#define TPOVERLAP_VERSION_MINOR 1
#define TPOVERLAP_VERSION_PATCH 0

/// Largest world whose schedules are proven while the program compiles; larger ones are proven when an
/// `overlap` object is built. Define it as 0 before the first include to leave every proof to run time.
#ifndef TPOVERLAP_PROVE_UP_TO
#define TPOVERLAP_PROVE_UP_TO 16
#endif
