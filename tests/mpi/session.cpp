// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// The test framework, compiled once for all MPI implementations, and without its main(): MPI starts first.
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include "session.hpp"

namespace tpoverlap_test {

int run_session(int argc, char** argv) { return Catch::Session().run(argc, argv); }

}  // namespace tpoverlap_test
