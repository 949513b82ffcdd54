// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A second opinion on programs that shares nothing with `verify`: it writes out the whole world, every rank and two
//! calls in a row, as one graph, and carries every piece of data through it by its absolute name.
#pragma once

#include <tpoverlap/schedule/program.hpp>

namespace tpoverlap_test {

enum class reason {
  safe,
  structure,  ///< the program cannot be read
  matching,   ///< a message without its other half, or of another tile, size or type than that
  progress,   ///< some order of the hardware comes to a stop
  reuse,      ///< an operation that may begin before its call
  join,       ///< an operation that may end after its call
  race,       ///< two accesses of one tile, one a write, that no chain of events anywhere in the world orders
  coverage,   ///< something read, or wanted at the end, is not there
  wrong_tile,     ///< something else is there
  counted_twice,  ///< a sum has a piece twice
};

struct finding {
  reason why = reason::safe;
  int call = -1;
  int rank = -1;
  int operation = -1;
  int other = -1;

  [[nodiscard]] bool safe() const { return why == reason::safe; }
};

[[nodiscard]] char const* name_of(reason why);

/// The model: each rank issues its list of operations twice. A lane runs in order, through both calls. A wait is for the
/// latest record of an event that was issued before it. The k-th send from a to b on a lane meets the k-th receive from a
/// at b on that lane, counted through both calls; neither end is done before both have begun, and the same holds for all
/// ends of a collective. The caller writes all buffers after each join and before each fork. Ranks may be delayed
/// against each other by any time. Nothing may depend on whether a rank has one hardware queue, which runs operations one after
/// another as they were issued, or as many as lanes.
[[nodiscard]] finding judge(tpoverlap::program_view const& program);

}  // namespace tpoverlap_test
