// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Only built for Catch2 2.13; version 3 is a library that brings its own main.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
