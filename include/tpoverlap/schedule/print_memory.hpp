// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Which memory a program uses, in words.
#pragma once

#include <tpoverlap/schedule/print_words.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace tpoverlap::inline v0 {

namespace detail::printing {

/// Whether an operation between fork and join touches the buffer: others take no memory.
[[nodiscard]] inline bool is_used(program_view const& p, int buffer_index) {
  bool used = false;
  for (int i = 1; i < p.operation_count - 1; ++i) {
    for_each_access(p, p.operations[i],
                    [&](tile_access const& use) { used = used || use.tiles.buffer == buffer_index; });
  }
  return used;
}

[[nodiscard]] inline std::string_view type_words(element_role role) {
  switch (role) {
    case element_role::input: return "the input's type";
    case element_role::output: return "the output's type";
    case element_role::reduction: return "the reduction's type";
  }
  return "unknown type";
}

[[nodiscard]] inline std::string_view layout_words(layout arrangement) {
  switch (arrangement) {
    case layout::own: return "the rank's own shard";
    case layout::by_shard: return "shard after shard in rank order";
    case layout::by_chunk: return "chunk 0 of every shard first, then chunk 1, ...";
    case layout::by_slot: return "each slot takes whichever shard comes";
    case layout::whole: break;
  }
  return "not cut";
}

/// "4 slots of one shard each, 2 chunks a shard, sized 2:1"
[[nodiscard]] inline std::string extent_words(program_view const& p, buffer const& b) {
  if (b.arrangement == layout::whole) return "one matrix";
  std::string const slots =
      b.slots == 1 ? "1 slot of one shard" : concat(b.slots, " slots of one shard each");
  return concat(slots, ", ", chunking_words(p));
}

}  // namespace detail::printing

/// The buffers that operations use, one line each: whose memory it is, how many slots of how many chunks, how tiles
/// lie in it and of which type they are; then the workspace in all. A shard is the rows that one rank owns.
///
/// **Example**: `gathered  workspace  4 slots of one shard each, 2 chunks a shard; shard after shard in rank order; ...`
[[nodiscard]] inline std::string to_memory(program_view const& program) {
  namespace words = detail::printing;
  std::size_t name_width = 0;
  for (int b = 0; b < program.buffer_count; ++b) {
    std::size_t const size = std::string_view{program.buffers[b].name}.size();
    if (words::is_used(program, b) && size > name_width) name_width = size;
  }
  std::string text;
  int shards[3] = {0, 0, 0};
  for (int b = 0; b < program.buffer_count; ++b) {
    buffer const& about = program.buffers[b];
    if (!words::is_used(program, b)) continue;
    bool const own = about.where == storage::workspace;
    if (own) shards[static_cast<int>(about.element)] += about.slots;
    words::append(text,
                  words::concat("  ", words::padded(about.name, name_width), "  ",
                                own ? "workspace" : "caller   ", "  ", words::extent_words(program, about),
                                "; ", words::layout_words(about.arrangement), "; ",
                                words::type_words(about.element), "\n"));
  }
  std::string total;
  for (int role = 0; role < 3; ++role) {
    if (shards[role] == 0) continue;
    words::append(total, words::concat(total.empty() ? "" : " and ", words::counted(shards[role], "shard"),
                                       " of ", words::type_words(static_cast<element_role>(role))));
  }
  words::append(text, words::concat("  workspace in all: ", total.empty() ? "none" : total, "\n"));
  return text;
}

}  // namespace tpoverlap::inline v0
