// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What the command line says.
#pragma once

#include "launcher.hpp"
#include "request.hpp"

#include <optional>
#include <stdexcept>
#include <string>

namespace bench {

/// What the user got wrong, as a sentence. The program ends with status 2.
struct input_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct options {
  request asked;
  bool under_mpi = false;
  std::string json;  ///< a file, "-" for standard output, or empty for a table alone
};

/// `launched` is what started this process, if that is known. Returns nothing after printing the help. Throws
/// `input_error`.
[[nodiscard]] std::optional<options> parse_options(int argc, char const* const* argv,
                                                   std::optional<launcher> const& launched);

/// Throws `input_error` unless schedules for so many ranks are compiled in.
void require_compiled(int ranks);

/// As on the command line: ag, rs, bulk or mlp.
[[nodiscard]] char const* name_of(job what);

}  // namespace bench
