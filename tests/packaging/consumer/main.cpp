// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// A user's program, the same for every way to consume the library. It prints the version that the headers state.

#include <tpoverlap/core/config.hpp>

#include <cstdio>

int main() {
  std::printf("tpoverlap %d.%d.%d\n", TPOVERLAP_VERSION_MAJOR, TPOVERLAP_VERSION_MINOR,
              TPOVERLAP_VERSION_PATCH);
}
