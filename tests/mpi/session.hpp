// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Runs the test cases that the command line chooses.
#pragma once

namespace tpoverlap_test {

/// Returns what `main` should.
int run_session(int argc, char** argv);

}  // namespace tpoverlap_test
