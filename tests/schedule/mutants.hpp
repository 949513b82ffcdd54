// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Every way to break a program by one small change.
#pragma once

#include "editable_program.hpp"

#include <functional>
#include <string>

namespace tpoverlap_test {

enum class mutation {
  remove_wait,      ///< (operation, wait)
  retarget_wait,    ///< (operation, what it waits for now)
  swap_sent_tiles,  ///< (access, access)
  swap_received_tiles,
  swap_peers,
  swap_message_ends,  ///< two sends, two receives, or one of each, tile and peer
  swap_messages,      ///< a send with its receive and another with its receive
  redirect_tile,      ///< (operation, access)
  swap_neighbours,    ///< two operations that follow each other on a lane (operation, operation)
  drop_operation,
  drop_access,
  move_to_lane,  ///< (operation, lane)
  change_mode,   ///< (operation, access)
  change_kind,   ///< (operation, kind)
  share_event,   ///< two operations record one event (operation, operation)
};
inline constexpr int mutation_kinds = 15;

[[nodiscard]] char const* name_of(mutation kind);

struct mutant {
  tpoverlap::program_view program;
  mutation kind = mutation::remove_wait;
  int first = -1;
  int second = -1;
  tpoverlap::tile_range before;  ///< of a redirected tile
  tpoverlap::tile_range after;

  [[nodiscard]] std::string description() const;
};

/// Calls `use` with every mutant of `base`; the program in it lives until `use` returns.
void for_each_mutant(editable_program const& base, std::function<void(mutant const&)> const& use);

}  // namespace tpoverlap_test
