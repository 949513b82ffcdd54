// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What the printers share: lanes, tiles and operations in words, with every step resolved for one rank. Programs that
//! `verify` rejects are printed too, so nothing here trusts a number that it finds.
#pragma once

#include <tpoverlap/schedule/program.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace tpoverlap::inline v0::detail::printing {

inline void append(std::string& text, std::string_view part) { text.append(part); }
inline void append(std::string& text, int part) { text.append(std::to_string(part)); }

template <class... Parts>
[[nodiscard]] std::string concat(Parts const&... parts) {
  std::string text;
  (append(text, parts), ...);
  return text;
}

[[nodiscard]] inline std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

[[nodiscard]] inline std::string padded_left(int number, std::size_t width) {
  std::string text = std::to_string(number);
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

/// "1 slot", "2 slots".
[[nodiscard]] inline std::string counted(int count, std::string_view thing) {
  return concat(count, " ", thing, count == 1 ? "" : "s");
}

[[nodiscard]] inline std::string lane_words(int index) {
  switch (index) {
    case lane::compute: return "compute";
    case lane::communication: return "communication";
    case lane::elementwise: return "elementwise";
    case lane::side: return "side";
    default: return concat("lane ", index);
  }
}

/// "8:4:2:1", shortened in the middle if there are many; nothing where chunks are alike.
[[nodiscard]] inline std::string weight_words(program_view const& p) {
  bool alike = true;
  for (int c = 1; c < p.chunks; ++c) alike = alike && p.weights[c] == p.weights[0];
  if (alike) return {};
  constexpr int most = 8;
  std::string text;
  for (int c = 0; c < p.chunks; ++c) {
    if (c > 0) append(text, ":");
    if (p.chunks > most && c == most - 2) {
      append(text, "...:");
      c = p.chunks - 1;
    }
    append(text, p.weights[c]);
  }
  return text;
}

/// "2 chunks a shard", "4 chunks a shard, sized 8:4:2:1".
[[nodiscard]] inline std::string chunking_words(program_view const& p) {
  std::string const sizes = weight_words(p);
  return concat(counted(p.chunks, "chunk"), " a shard", sizes.empty() ? "" : ", sized ", sizes);
}

/// "4 ranks, 2 chunks a shard".
[[nodiscard]] inline std::string world_words(program_view const& p) {
  return concat(counted(p.group.ranks, "rank"), ", ", chunking_words(p));
}

/// The rank that is `step` away from `rank`, or "?" if there is none.
[[nodiscard]] inline std::string rank_at(program_view const& p, int rank, int step) {
  if (!p.group.valid() || step < 0 || step >= p.group.ranks) return "?";
  return std::to_string(p.group.apply(rank, step));
}

[[nodiscard]] inline bool has_buffer(program_view const& p, int index) {
  return index >= 0 && index < p.buffer_count;
}

[[nodiscard]] inline std::string_view buffer_name(program_view const& p, int index) {
  return has_buffer(p, index) ? std::string_view{p.buffers[index].name}
                              : std::string_view{"(no such buffer)"};
}

[[nodiscard]] inline bool is_whole(program_view const& p, int buffer_index) {
  return has_buffer(p, buffer_index) && p.buffers[buffer_index].arrangement == layout::whole;
}

/// "shard 2", "shards 0, 1", "every shard" or "every other shard".
[[nodiscard]] inline std::string shard_words(program_view const& p, tile_range const& r, int rank) {
  if (r.slots <= 1) return concat("shard ", rank_at(p, rank, r.shard));
  if (r.slots == p.group.ranks) return "every shard";
  if (r.slot == 1 && r.slots == p.group.ranks - 1) return "every other shard";
  std::string text = "shards";
  for (int s = 0; s < r.slots && s < p.group.ranks; ++s) {
    append(text, s == 0 ? " " : ", ");
    append(text, rank_at(p, rank, r.slot + s));
  }
  return text;
}

[[nodiscard]] inline std::string chunk_words(tile_range const& r) {
  if (r.chunks <= 1) return concat("chunk ", r.chunk);
  return concat("chunks ", r.chunk, r.chunks == 2 ? " and " : " to ", r.chunk + r.chunks - 1);
}

/// "gathered shard 2 chunk 0", with its slot where the slot does not follow from the shard. A negative shard is not
/// named: a slot that nobody has put a shard into.
[[nodiscard]] inline std::string tile_words(program_view const& p, tile_range const& r, int rank) {
  std::string text{buffer_name(p, r.buffer)};
  if (is_whole(p, r.buffer)) return text;
  if (r.shard >= 0) append(text, concat(" ", shard_words(p, r, rank)));
  append(text, concat(" ", chunk_words(r)));
  if (!has_buffer(p, r.buffer) || p.buffers[r.buffer].arrangement == layout::by_slot) {
    append(text, concat(" in slot ", r.slot));
  }
  return text;
}

/// Runs `visit(access)` for each access of an operation that lies in the program's list.
template <class Visit>
void for_each_access(program_view const& p, operation const& op, Visit visit) {
  for (int a = 0; a < op.accesses; ++a) {
    int const index = op.first_access + a;
    if (index >= 0 && index < p.access_count) visit(p.accesses[index]);
  }
}

/// What an operation does, its messages set apart by `separator`.
[[nodiscard]] inline std::string action_words(program_view const& p, operation const& op, int rank,
                                              std::string_view separator) {
  if (op.kind == operation_kind::fork) return "begins on the caller's stream";
  if (op.kind == operation_kind::join) return "ends on the caller's stream";
  std::string from;
  std::string into;
  for_each_access(p, op, [&](tile_access const& use) {
    bool const reads = use.mode == access_mode::read;
    std::string const tiles = tile_words(p, use.tiles, rank);
    if (op.kind == operation_kind::exchange) {
      if (!from.empty()) append(from, separator);
      append(from, concat(reads ? "sends " : "receives ", tiles, reads ? " to rank " : " from rank ",
                          rank_at(p, rank, use.peer)));
    } else if (op.kind == operation_kind::all_reduce) {
      append(into, concat("sum over ranks of ", tiles, ", in place"));
    } else if (reads) {
      append(from, concat(from.empty() ? "" : " + ", tiles));
    } else {
      append(into, concat(use.mode == access_mode::write ? " into " : " added to ", tiles));
    }
  });
  if (op.kind == operation_kind::gemm && from.empty()) return concat("own contribution", into);
  return concat(from, into);
}

}  // namespace tpoverlap::inline v0::detail::printing
