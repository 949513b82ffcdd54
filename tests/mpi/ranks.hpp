// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Runs a piece of a test on every rank, and tells all ranks what became of it on each.
#pragma once

#include "../overlap/values.hpp"

#include <tpoverlap/mpi.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tpoverlap_test {

using namespace tpoverlap;

inline bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// How a function ended on one rank. Plain memory: it travels as it is.
struct outcome {
  char type[24]{};  ///< "timeout_error" and so on; "" if nothing was thrown
  char what[520]{};
  int rank = -1;
  int peer = -1;
  int index = -1;  ///< of the operation
  double seconds = 0;

  [[nodiscard]] bool threw(std::string_view name) const { return name == type; }
  [[nodiscard]] bool says(std::string_view part) const { return has(what, part); }
};

/// What `f()` throws, with its type.
[[nodiscard]] outcome outcome_of(std::function<void()> const& f);

[[nodiscard]] int world_rank();
[[nodiscard]] int world_size();

/// Where the tests' own talk goes, apart from everything under test. One for the program, after MPI has started.
class meeting_place {
 public:
  meeting_place();
  ~meeting_place();
  meeting_place(meeting_place const&) = delete;
  meeting_place& operator=(meeting_place const&) = delete;
};

/// Waits for all ranks, asleep. A rank that does not come for two minutes ends the program with a message.
void meet();

/// Calls `f()` on every rank; returns how it ended on each, in rank order and the same on all ranks.
[[nodiscard]] std::vector<outcome> everywhere(std::function<void()> const& f);

/// As `everywhere`, with a communicator of all ranks. Nothing but the library ends a wait.
[[nodiscard]] std::vector<outcome> outcomes(mpi::communicator_options const& options,
                                            std::function<void(mpi::communicator&)> const& f);

/// As `outcomes`, but a rank that throws aborts the communicator, and every rank has to end well: "" if they all
/// do, or what went wrong where.
[[nodiscard]] std::string faults(mpi::communicator_options const& options,
                                 std::function<void(mpi::communicator&)> const& f);

/// As above, for what has to go well without a communicator.
[[nodiscard]] std::string faults(std::function<void()> const& f);

}  // namespace tpoverlap_test
