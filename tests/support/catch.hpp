// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The test framework, Catch2 3 or 2.13, whichever is installed. Keep to what both know: `TEST_CASE`,
//! `TEMPLATE_TEST_CASE`, `SECTION`, `GENERATE`, `CHECK`, `REQUIRE`, `CHECK_THROWS_AS`, `INFO`, `CAPTURE`.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_message.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
