// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The third pass of `verify`: what every tile holds, followed symbolically through messages and sums.
#pragma once

#include <tpoverlap/schedule/check_structure.hpp>
#include <tpoverlap/schedule/tile_index.hpp>
#include <tpoverlap/schedule/violation.hpp>

#include <bit>
#include <cstdint>

namespace tpoverlap::inline v0::detail {

/// Follows contents in issue order, which is one of the orders the program may run in; since it has no race, all of
/// them give the same contents. A tile holds (shard, chunk) it belongs to, and a set of (rank, chunk) pieces, all
/// ranks named by their step from the rank that holds the tile. What a peer holds is what this rank holds, relabelled
/// by the step between them.
class content_tracker {
 public:
  constexpr content_tracker(program_view const& p, tile_index const& tiles)
      : p_{p},
        tiles_{tiles},
        words_{(2 * p.group.ranks * p.chunks + 63) / 64},
        shard_(tiles.size(), -1),
        chunk_(tiles.size(), -1),
        pieces_(tiles.size() * words_, 0),
        incoming_(words_, 0) {
    for (int b = 0; b < p.buffer_count; ++b) {
      if (p.buffers[b].before == content::nothing) continue;
      for (int s = 0; s < p.buffers[b].slots; ++s) {
        for (int c = 0; c < p.chunks_in(b); ++c) {
          int const tile = tiles(b, s, c);
          shard_[tile] = s;
          chunk_[tile] = c;
          if (p.buffers[b].before == content::shard_piece) {
            insert(tile, s, c);
          } else {
            insert(tile, 0, summand(c));
          }
        }
      }
    }
  }

  constexpr violation run() {
    for (int i = 1; i < p_.operation_count - 1; ++i) {
      violation const found = step(i);
      if (!found.verified()) return found;
    }
    return check_results();
  }

 private:
  constexpr violation step(int i) {
    operation const& op = p_.operations[i];
    if (op.kind == operation_kind::exchange) return exchange(i, op);
    tile_access const* const uses = p_.accesses + op.first_access;
    for (int a = 0; a < op.accesses; ++a) {
      if (uses[a].mode == access_mode::write) continue;
      if (violation const v = check_held(i, uses[a]); !v.verified()) return v;
    }
    int target = 0;
    while (uses[target].mode == access_mode::read) ++target;
    tile_range const& to = uses[target].tiles;
    bool const keeps = uses[target].mode == access_mode::accumulate;
    if (is_collective(op.kind)) {
      return collective(i, op.kind, to, op.kind == operation_kind::all_reduce ? to : uses[1 - target].tiles);
    }
    if (op.kind == operation_kind::gemm && op.accesses == 1) return contribute(i, to, keeps);

    bool const whole = p_.buffers[to.buffer].arrangement == layout::whole;
    if (!keeps) clear(to);
    for (int a = 0; a < op.accesses; ++a) {
      if (a == target) continue;
      tile_range const& from = uses[a].tiles;
      for (int s = 0; s < from.slots; ++s) {
        for (int c = 0; c < from.chunks; ++c) {
          int const source = tiles_(from.buffer, from.slot + s, from.chunk + c);
          int const result = whole ? tiles_(to.buffer, 0, 0) : tiles_(to.buffer, to.slot + s, to.chunk + c);
          if (!whole && (shard_[source] != shard_at(to, s) || chunk_[source] != to.chunk + c)) {
            return at(rule::wrong_tile, i, to, s, c);
          }
          load(source, 0);
          shard_[result] = whole ? 0 : shard_[source];
          chunk_[result] = whole ? 0 : chunk_[source];
          if (!merge(result)) return at(rule::counted_twice, i, to, whole ? 0 : s, whole ? 0 : c);
        }
      }
    }
    return {};
  }

  /// A GEMM that reads no tile adds this rank's own contribution.
  constexpr violation contribute(int i, tile_range const& to, bool keeps) {
    if (!keeps) clear(to);
    for (int s = 0; s < to.slots; ++s) {
      for (int c = 0; c < to.chunks; ++c) {
        int const tile = tiles_(to.buffer, to.slot + s, to.chunk + c);
        int const own_piece = summand(to.chunk + c) * p_.group.ranks;
        for (int w = 0; w < words_; ++w) incoming_[w] = 0;
        incoming_[own_piece / 64] = std::uint64_t{1} << (own_piece % 64);
        shard_[tile] = shard_at(to, s);
        chunk_[tile] = to.chunk + c;
        if (!merge(tile)) return at(rule::counted_twice, i, to, s, c);
      }
    }
    return {};
  }

  /// The k-th send by a step meets the k-th receive by its inverse in the same exchange. That both halves lie in one
  /// exchange is what lets it run on any finite number of hardware queues: issue order is then an order that every
  /// rank can follow.
  constexpr violation exchange(int i, operation const& op) {
    int const first = op.first_access;
    int const end = first + op.accesses;
    scratch<int> sender(op.accesses, -1);
    for (int a = first; a < end; ++a) {
      tile_access const& use = p_.accesses[a];
      if (use.mode == access_mode::read) {
        if (violation const v = check_held(i, use); !v.verified()) return v;
        if (nth_match(first, end, a) < 0) return at(rule::matching, i, use.tiles, 0, 0);
      } else {
        sender[a - first] = nth_match(first, end, a);
        if (sender[a - first] < 0) return at(rule::matching, i, use.tiles, 0, 0);
      }
    }
    // Sends read what was there before the exchange, and no tile is both sent and received in one (that is a race),
    // so receives can be carried out one by one.
    for (int a = first; a < end; ++a) {
      tile_access const& use = p_.accesses[a];
      if (use.mode == access_mode::read) continue;
      tile_range const& to = use.tiles;
      tile_range const& from = p_.accesses[sender[a - first]].tiles;
      if (from.chunks != to.chunks || p_.buffers[from.buffer].element != p_.buffers[to.buffer].element) {
        return at(rule::matching, i, to, 0, 0);
      }
      clear(to);
      for (int c = 0; c < to.chunks; ++c) {
        int const source = tiles_(from.buffer, from.slot, from.chunk + c);
        int const result = tiles_(to.buffer, to.slot, to.chunk + c);
        shard_[result] = p_.group.apply(use.peer, shard_[source]);
        chunk_[result] = chunk_[source];
        if (shard_[result] != to.shard || chunk_[result] != to.chunk + c)
          return at(rule::matching, i, to, 0, c);
        load(source, use.peer);
        merge(result);
      }
    }
    return {};
  }

  /// The other half of message `a` within an exchange, or -1.
  [[nodiscard]] constexpr int nth_match(int first, int end, int a) const {
    tile_access const& use = p_.accesses[a];
    int nth = 0;
    for (int b = first; b < a; ++b) nth += same_half(p_.accesses[b], use) ? 1 : 0;
    int const step_back = p_.group.inverse(use.peer);
    for (int b = first; b < end; ++b) {
      tile_access const& other = p_.accesses[b];
      if (other.mode != use.mode && other.peer == step_back && nth-- == 0) return b;
    }
    return -1;
  }

  static constexpr bool same_half(tile_access const& a, tile_access const& b) {
    return a.mode == b.mode && a.peer == b.peer;
  }

  constexpr violation collective(int i, operation_kind kind, tile_range const& to, tile_range const& from) {
    int const ranks = p_.group.ranks;
    if (kind == operation_kind::all_gather) {
      for (int c = 0; c < to.chunks; ++c) {
        int const source = tiles_(from.buffer, from.slot, from.chunk + c);
        for (int e = 0; e < ranks; ++e) {
          int const result = tiles_(to.buffer, e, to.chunk + c);
          load(source, e);
          shard_[result] = e;
          chunk_[result] = to.chunk + c;
          for (int w = 0; w < words_; ++w) pieces_[result * words_ + w] = incoming_[w];
        }
      }
      return {};
    }
    // Sums need every slot's old contents: rank j's tile for shard e lies in its slot j⁻¹e.
    scratch<std::uint64_t> old(ranks * words_, 0);
    for (int c = 0; c < to.chunks; ++c) {
      for (int e = 0; e < ranks; ++e) {
        for (int w = 0; w < words_; ++w)
          old[e * words_ + w] = pieces_[tiles_(from.buffer, e, from.chunk + c) * words_ + w];
      }
      for (int e = 0; e < to.slots; ++e) {
        int const result = tiles_(to.buffer, to.slot + e, to.chunk + c);
        for (int w = 0; w < words_; ++w) pieces_[result * words_ + w] = 0;
        shard_[result] = e;
        chunk_[result] = to.chunk + c;
        for (int j = 0; j < ranks; ++j) {
          int const slot = p_.group.apply(p_.group.inverse(j), e);
          translate(old.data() + slot * words_, j);
          if (!merge(result)) return at(rule::counted_twice, i, to, e, c);
        }
      }
    }
    return {};
  }

  /// What is read must be there, and be what the operation takes it for.
  [[nodiscard]] constexpr violation check_held(int i, tile_access const& use) const {
    tile_range const& r = use.tiles;
    if (p_.buffers[r.buffer].arrangement == layout::whole) {
      return shard_[tiles_(r.buffer, 0, 0)] < 0 ? at(rule::coverage, i, r, 0, 0) : violation{};
    }
    for (int s = 0; s < r.slots; ++s) {
      for (int c = 0; c < r.chunks; ++c) {
        int const tile = tiles_(r.buffer, r.slot + s, r.chunk + c);
        if (shard_[tile] < 0) return at(rule::coverage, i, r, s, c);
        if (shard_[tile] != shard_at(r, s) || chunk_[tile] != r.chunk + c)
          return at(rule::wrong_tile, i, r, s, c);
      }
    }
    return {};
  }

  [[nodiscard]] constexpr violation check_results() const {
    int const last = p_.operation_count - 1;
    for (int b = 0; b < p_.buffer_count; ++b) {
      content const wanted = p_.buffers[b].after;
      if (wanted == content::nothing) continue;
      tile_range const all{b, 0, p_.buffers[b].slots, 0, 0, p_.chunks_in(b)};
      for (int s = 0; s < all.slots; ++s) {
        for (int c = 0; c < all.chunks; ++c) {
          int const tile = tiles_(b, s, c);
          if (shard_[tile] < 0) return at(rule::coverage, last, all, s, c);
          if (shard_[tile] != s || chunk_[tile] != c) return at(rule::wrong_tile, last, all, s, c);
          if (!holds(tile, wanted, s, c)) return at(rule::coverage, last, all, s, c);
        }
      }
    }
    return {};
  }

  [[nodiscard]] constexpr bool holds(int tile, content wanted, int shard, int chunk) const {
    int found = 0;
    for (int w = 0; w < words_; ++w) found += std::popcount(pieces_[tile * words_ + w]);
    switch (wanted) {
      case content::nothing: return true;
      case content::shard_piece: return found == 1 && has(tile, shard, chunk);
      case content::own_contribution: return found == 1 && has(tile, 0, summand(chunk));
      case content::everything:
        for (int bit = 0; bit < p_.group.ranks * p_.chunks; ++bit) {
          if (!has(tile, bit, 0)) return false;
        }
        return found == p_.group.ranks * p_.chunks;
      case content::sum:
        for (int r = 0; r < p_.group.ranks; ++r) {
          if (!has(tile, r, summand(chunk))) return false;
        }
        return found == p_.group.ranks;
    }
    return false;
  }

  /// Parts of a sum are numbered behind the pieces of the gathered matrix, so that neither passes for the other.
  [[nodiscard]] constexpr int summand(int chunk) const { return p_.chunks + chunk; }

  [[nodiscard]] constexpr bool has(int tile, int rank, int chunk) const {
    int const bit = rank + chunk * p_.group.ranks;
    return (pieces_[tile * words_ + bit / 64] >> (bit % 64) & 1) != 0;
  }

  constexpr void insert(int tile, int rank, int chunk) {
    int const bit = rank + chunk * p_.group.ranks;
    pieces_[tile * words_ + bit / 64] |= std::uint64_t{1} << (bit % 64);
  }

  constexpr void load(int tile, int step) { translate(pieces_.data() + tile * words_, step); }

  /// `incoming_` = a peer's set as seen from here, `step` being the way to the peer.
  constexpr void translate(std::uint64_t const* set, int step) {
    for (int w = 0; w < words_; ++w) incoming_[w] = step == 0 ? set[w] : 0;
    if (step == 0) return;
    for (int w = 0; w < words_; ++w) {
      for (std::uint64_t rest = set[w]; rest != 0; rest &= rest - 1) {
        int const bit = w * 64 + std::countr_zero(rest);
        int const chunk = bit / p_.group.ranks;
        int const moved = chunk * p_.group.ranks + p_.group.apply(step, bit - chunk * p_.group.ranks);
        incoming_[moved / 64] |= std::uint64_t{1} << (moved % 64);
      }
    }
  }

  /// Adds `incoming_` to a tile; false if a piece was there already.
  constexpr bool merge(int tile) {
    bool disjoint = true;
    for (int w = 0; w < words_; ++w) {
      disjoint = disjoint && (pieces_[tile * words_ + w] & incoming_[w]) == 0;
      pieces_[tile * words_ + w] |= incoming_[w];
    }
    return disjoint;
  }

  constexpr void clear(tile_range const& r) {
    for (int s = r.slot; s < r.slot + r.slots; ++s) {
      for (int c = r.chunk; c < r.chunk + r.chunks; ++c) {
        int const tile = tiles_(r.buffer, s, c);
        shard_[tile] = -1;
        for (int w = 0; w < words_; ++w) pieces_[tile * words_ + w] = 0;
      }
    }
  }

  static constexpr int shard_at(tile_range const& r, int s) { return r.slots == 1 ? r.shard : r.slot + s; }

  static constexpr violation at(rule r, int i, tile_range const& range, int s, int c) {
    return {r, 0, i, -1, range.buffer, range.slot + s, range.chunk + c};
  }

  program_view p_;
  tile_index const& tiles_;
  int words_;
  scratch<int> shard_;
  scratch<int> chunk_;
  scratch<std::uint64_t> pieces_;
  scratch<std::uint64_t> incoming_;
};

}  // namespace tpoverlap::inline v0::detail
