// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Where ranks come from.
#pragma once

#include "comparison.hpp"
#include "launcher.hpp"
#include "request.hpp"

#include <functional>
#include <optional>

namespace bench {

/// Told what was found, on the one rank that reports.
using reporter = std::function<void(request const& asked, comparison const& found)>;

/// Both compare on all ranks and return the exit status of this process: 1 if a result was wrong.
[[nodiscard]] int run_in_process(request asked, progress const& tell, reporter const& report);
[[nodiscard]] int run_under_mpi(int& argc, char**& argv, request const& asked,
                                std::optional<launcher> const& launched, progress const& tell,
                                reporter const& report);

}  // namespace bench
