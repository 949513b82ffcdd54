// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The words a schedule is written in: buffers, tiles, accesses and operations, all plain data.
#pragma once

#include <cstdint>

namespace tpoverlap::inline v0 {

/// Whose memory a buffer is.
enum class storage : std::uint8_t { caller, workspace };

/// How a tile of a buffer is found.
enum class layout : std::uint8_t {
  own,       ///< one slot: the rank's own shard, chunk after chunk
  by_shard,  ///< one slot a shard, in rank order; slot number = step from the rank to the shard's owner
  by_chunk,  ///< as by_shard, but all shards' chunk 0 come first, then all their chunks 1, ...
  by_slot,   ///< landing places that hold whichever shard the schedule puts there
  whole,     ///< one tile that is not cut
};

/// Which element type a buffer has; the binding knows which type that is.
enum class element_role : std::uint8_t { input, output, reduction };

/// What a tile (shard e, chunk c) holds, as the set of (rank, chunk) pieces that went into it.
enum class content : std::uint8_t {
  nothing,
  shard_piece,       ///< {(e, c)}: a piece of the matrix that is gathered
  own_contribution,  ///< {(this rank, c)}: this rank's part of a sum
  sum,               ///< {(r, c) for every rank r}
  everything,        ///< {(r, c) for every rank r and chunk c}
};

/// A set of tiles of one kind. `slots * chunks` tiles, unless it is `whole`.
struct buffer {
  char const* name = "";
  storage where = storage::workspace;
  layout arrangement = layout::by_slot;
  element_role element = element_role::input;
  int slots = 1;
  content before = content::nothing;  ///< what the caller left in it when the schedule starts
  content after = content::nothing;   ///< what the caller must find in it when the schedule ends
};

/// Chunks `chunk` to `chunk + chunks` of slots `slot` to `slot + slots`. `shard` is the step from the rank that runs
/// the operation to the owner of what lies in the first slot.
struct tile_range {
  int buffer = 0;
  int slot = 0;
  int slots = 1;
  int shard = 0;
  int chunk = 0;
  int chunks = 1;

  friend constexpr bool operator==(tile_range const&, tile_range const&) = default;
};

enum class access_mode : std::uint8_t { read, write, accumulate };

inline constexpr int no_peer = -1;

/// One use of tiles by an operation. In an exchange, a read is sent to and a write is received from the rank that is
/// the step `peer` away.
struct tile_access {
  tile_range tiles;
  access_mode mode = access_mode::read;
  int peer = no_peer;

  friend constexpr bool operator==(tile_access const&, tile_access const&) = default;
};

enum class operation_kind : std::uint8_t {
  fork,            ///< start of the schedule on the caller's stream: the caller owns every buffer until here
  join,            ///< end of the schedule on the caller's stream: the caller owns every buffer from here
  gemm,            ///< the functor on each tile: reads gathered tiles, or writes partial ones
  exchange,        ///< one group of sends and receives
  reduce,          ///< written tile = sum of the read tiles (and of itself, if accumulated)
  copy,            ///< written tile = read tile, converted to its type
  all_gather,      ///< reads the rank's own tiles, writes every shard's
  reduce_scatter,  ///< reads every shard's tiles, writes the rank's own
  all_reduce,      ///< accumulates every shard's tiles
};

/// Lanes of the built-in schedules. Lane 0 is the caller's stream, the others belong to the communicator.
namespace lane {
inline constexpr int compute = 0;
inline constexpr int communication = 1;
inline constexpr int elementwise = 2;
inline constexpr int side = 3;
}  // namespace lane

/// One entry of a schedule. Accesses and waits lie in the program's flat lists.
struct operation {
  operation_kind kind = operation_kind::fork;
  int lane = 0;
  int first_access = 0;
  int accesses = 0;
  int first_wait = 0;
  int waits = 0;
  int event = -1;  ///< number of the event recorded behind the operation, or -1 if nothing waits for it
};

[[nodiscard]] constexpr char const* name_of(operation_kind kind) noexcept {
  switch (kind) {
    case operation_kind::fork: return "fork";
    case operation_kind::join: return "join";
    case operation_kind::gemm: return "gemm";
    case operation_kind::exchange: return "exchange";
    case operation_kind::reduce: return "reduce";
    case operation_kind::copy: return "copy";
    case operation_kind::all_gather: return "all_gather";
    case operation_kind::reduce_scatter: return "reduce_scatter";
    case operation_kind::all_reduce: return "all_reduce";
  }
  return "unknown";
}

[[nodiscard]] constexpr bool is_collective(operation_kind kind) noexcept {
  return kind == operation_kind::all_gather || kind == operation_kind::reduce_scatter ||
         kind == operation_kind::all_reduce;
}

}  // namespace tpoverlap::inline v0
