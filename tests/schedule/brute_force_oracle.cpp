// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "brute_force_oracle.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace tpoverlap_test {

using namespace tpoverlap;

namespace {

constexpr int calls = 2;

/// Where a piece of data comes from.
enum class origin : std::uint8_t {
  shard,                 ///< the caller's own shard
  product_of_shard,      ///< that, after a GEMM
  caller_contribution,   ///< the caller's part of a sum
  product_contribution,  ///< a GEMM's part of a sum
  nonsense,              ///< a GEMM on anything but a shard
};

/// `rank` made this piece, for chunk `chunk` of shard `shard`; shards and ranks are absolute. What belongs to a buffer that is
/// not cut has the shard `uncut`.
struct piece {
  origin from = origin::nonsense;
  int rank = 0;
  int shard = 0;
  int chunk = 0;

  friend auto operator<=>(piece const&, piece const&) = default;
};

constexpr int uncut = -1;

using contents = std::vector<piece>;  // sorted, may hold a piece more than once

/// One use of one tile.
struct tile_use {
  int tile = 0;
  int shard = 0;  ///< whose shard the operation takes it for, absolute, or `uncut`
  int chunk = 0;
};

class world_model {
 public:
  explicit world_model(program_view const& p) : p_{p}, ranks_{p.group.ranks}, count_{p.operation_count} {}

  finding judge() {
    if (finding const f = check_shape(); !f.safe()) return f;
    number_tiles();
    if (finding const f = match_messages(); !f.safe()) return f;
    build_graph();
    if (finding const f = check_progress(); !f.safe()) return f;
    find_reachable();
    if (finding const f = check_calls(); !f.safe()) return f;
    if (finding const f = check_races(); !f.safe()) return f;
    return simulate();
  }

 private:
  // --- Ranks, from the documentation of rank_group -------------------------------------------------------------

  [[nodiscard]] int moved(int rank, int step) const {
    switch (p_.group.shape) {
      case rank_group::kind::rotation: return (rank + step) % ranks_;
      case rank_group::kind::exclusive_or: return rank ^ step;
      case rank_group::kind::two_level: {
        int const inner = p_.group.inner;
        int const outer = ranks_ / inner;
        int const digit[2] = {(rank / inner + step / inner) % outer, (rank % inner + step % inner) % inner};
        return digit[0] * inner + digit[1];
      }
    }
    return -1;
  }

  // --- Shape ---------------------------------------------------------------------------------------------------

  [[nodiscard]] int chunks_of(int buffer) const {
    return p_.buffers[buffer].arrangement == layout::whole ? 1 : p_.chunks;
  }
  [[nodiscard]] bool is_whole(int buffer) const { return p_.buffers[buffer].arrangement == layout::whole; }
  [[nodiscard]] bool is_cut_by_shard(int buffer) const {
    return p_.buffers[buffer].arrangement == layout::by_shard ||
           p_.buffers[buffer].arrangement == layout::by_chunk;
  }

  finding check_shape() {
    finding const bad{reason::structure};
    if (ranks_ < 1 || p_.chunks < 1 || p_.lanes < 1 || count_ < 2) return bad;
    if (p_.group.shape == rank_group::kind::exclusive_or) {
      for (int r = ranks_; r > 1; r /= 2) {
        if (r % 2 != 0) return bad;
      }
    }
    if (p_.group.shape == rank_group::kind::two_level && (p_.group.inner < 1 || ranks_ % p_.group.inner != 0))
      return bad;
    for (int b = 0; b < p_.buffer_count; ++b) {
      buffer const& it = p_.buffers[b];
      if (it.slots < 1) return bad;
      if ((it.arrangement == layout::own || it.arrangement == layout::whole) && it.slots != 1) return bad;
      if (is_cut_by_shard(b) && it.slots != ranks_) return bad;
      if (it.arrangement == layout::by_slot &&
          (it.before != content::nothing || it.after != content::nothing))
        return bad;
    }
    std::map<int, int> recorded;
    for (int i = 0; i < count_; ++i) {
      operation const& op = p_.operations[i];
      finding const here{reason::structure, -1, -1, i};
      if (op.lane < 0 || op.lane >= p_.lanes || op.event >= p_.events) return here;
      bool const at_end = i == 0 || i == count_ - 1;
      if (at_end && (op.lane != 0 || op.kind != (i == 0 ? operation_kind::fork : operation_kind::join)))
        return here;
      if (!at_end && (op.kind == operation_kind::fork || op.kind == operation_kind::join)) return here;
      if (op.first_access < 0 || op.accesses < 0 || op.first_access + op.accesses > p_.access_count)
        return here;
      if (op.first_wait < 0 || op.waits < 0 || op.first_wait + op.waits > p_.wait_count) return here;
      for (int a = 0; a < op.accesses; ++a) {
        if (!well_formed(op, p_.accesses[op.first_access + a])) return here;
      }
      if (!at_end && !has_operands(op)) return here;
      for (int w = 0; w < op.waits; ++w) {
        int const awaited = p_.waits[op.first_wait + w];
        if (awaited < 0 || awaited >= count_) return {reason::progress, -1, -1, i, awaited};
        if (p_.operations[awaited].event < 0) return {reason::progress, -1, -1, i, awaited};
      }
    }
    return {};
  }

  [[nodiscard]] bool well_formed(operation const& op, tile_access const& use) const {
    tile_range const& r = use.tiles;
    if (r.buffer < 0 || r.buffer >= p_.buffer_count) return false;
    if (r.slot < 0 || r.slots < 1 || r.slot + r.slots > p_.buffers[r.buffer].slots) return false;
    if (r.chunk < 0 || r.chunks < 1 || r.chunk + r.chunks > chunks_of(r.buffer)) return false;
    if (r.shard < 0 || r.shard >= ranks_) return false;
    if (op.kind == operation_kind::fork || op.kind == operation_kind::join) return true;
    // What a message, a piece of a collective or an addition takes at once has to lie in one run of memory.
    bool const in_pieces = op.kind == operation_kind::gemm || op.kind == operation_kind::copy;
    layout const arrangement = p_.buffers[r.buffer].arrangement;
    if (!in_pieces && r.chunks > 1 && (arrangement == layout::by_chunk || arrangement == layout::by_slot))
      return false;
    if (op.kind == operation_kind::reduce && r.slots > 1) return false;
    if (op.kind == operation_kind::exchange) {
      return use.peer >= 1 && use.peer < ranks_ && r.slots == 1 && use.mode != access_mode::accumulate &&
             names_its_shard(r);
    }
    return use.peer == no_peer && names_its_shard(r);
  }

  /// Where the layout fixes which shard a slot holds, the range says the same.
  [[nodiscard]] bool names_its_shard(tile_range const& r) const {
    switch (p_.buffers[r.buffer].arrangement) {
      case layout::own:
      case layout::whole: return r.shard == 0;
      case layout::by_shard:
      case layout::by_chunk: return r.shard == r.slot;
      case layout::by_slot: return r.slots == 1;
    }
    return false;
  }

  [[nodiscard]] bool has_operands(operation const& op) const {
    std::vector<tile_access const*> read, written, added;
    for (int a = 0; a < op.accesses; ++a) {
      tile_access const& use = p_.accesses[op.first_access + a];
      auto& list = use.mode == access_mode::read ? read : use.mode == access_mode::write ? written : added;
      list.push_back(&use);
    }
    auto const all_shards = [&](tile_access const* use) {
      return is_cut_by_shard(use->tiles.buffer) && use->tiles.slot == 0 && use->tiles.slots == ranks_;
    };
    auto const own_shard = [&](tile_access const* use) {
      return !is_whole(use->tiles.buffer) && use->tiles.slots == 1 && use->tiles.shard == 0;
    };
    auto const alike = [&](tile_access const* a, tile_access const* b) {
      return a->tiles.slots == b->tiles.slots && a->tiles.chunks == b->tiles.chunks;
    };
    switch (op.kind) {
      case operation_kind::gemm:
        if (written.size() + added.size() != 1 || read.size() > 1) return false;
        if (read.empty()) return true;
        return is_whole((added.empty() ? written : added)[0]->tiles.buffer) ||
               alike(read[0], (added.empty() ? written : added)[0]);
      case operation_kind::exchange: return op.accesses > 0;
      case operation_kind::reduce:
        if (added.size() == 1) return written.empty() && read.size() == 1 && alike(read[0], added[0]);
        return written.size() == 1 && read.size() == 2 && alike(read[0], written[0]) &&
               alike(read[1], written[0]);
      case operation_kind::copy:
        return read.size() == 1 && written.size() == 1 && added.empty() && alike(read[0], written[0]);
      case operation_kind::all_gather:
        return read.size() == 1 && written.size() == 1 && added.empty() && own_shard(read[0]) &&
               all_shards(written[0]) && read[0]->tiles.chunks == written[0]->tiles.chunks;
      case operation_kind::reduce_scatter:
        return read.size() == 1 && written.size() == 1 && added.empty() && own_shard(written[0]) &&
               all_shards(read[0]) && read[0]->tiles.chunks == written[0]->tiles.chunks;
      case operation_kind::all_reduce:
        return read.empty() && written.empty() && added.size() == 1 && all_shards(added[0]);
      default: return false;
    }
  }

  // --- Tiles ---------------------------------------------------------------------------------------------------

  void number_tiles() {
    first_tile_.assign(1, 0);
    for (int b = 0; b < p_.buffer_count; ++b) {
      first_tile_.push_back(first_tile_.back() + p_.buffers[b].slots * chunks_of(b));
    }
    tiles_ = first_tile_.back();
  }

  /// The tiles of a range as rank `rank` uses them: slot after slot, chunk after chunk.
  [[nodiscard]] std::vector<tile_use> uses(tile_range const& r, int rank) const {
    std::vector<tile_use> result;
    for (int s = 0; s < r.slots; ++s) {
      int const step = is_cut_by_shard(r.buffer) ? r.slot + s : r.shard;
      for (int c = 0; c < r.chunks; ++c) {
        result.push_back({first_tile_[as_index(r.buffer)] + (r.slot + s) * chunks_of(r.buffer) + r.chunk + c,
                          is_whole(r.buffer) ? uncut : moved(rank, step), r.chunk + c});
      }
    }
    return result;
  }

  static std::size_t as_index(int i) { return static_cast<std::size_t>(i); }

  // --- Messages ------------------------------------------------------------------------------------------------

  /// One end of a message: access `use` of operation `op` in call `call` of the rank in question.
  struct message_end {
    int call = 0;
    int op = 0;
    int use = 0;
  };
  struct message {
    int from = 0;
    int to = 0;
    message_end sent;
    message_end received;
  };

  finding match_messages() {
    std::map<std::tuple<int, int, int>, std::pair<std::vector<message_end>, std::vector<message_end>>> links;
    for (int call = 0; call < calls; ++call) {
      for (int r = 0; r < ranks_; ++r) {
        for (int i = 0; i < count_; ++i) {
          operation const& op = p_.operations[i];
          if (op.kind != operation_kind::exchange) continue;
          for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
            int const peer = moved(r, p_.accesses[a].peer);
            bool const sends = p_.accesses[a].mode == access_mode::read;
            auto& link = links[sends ? std::tuple{r, peer, op.lane} : std::tuple{peer, r, op.lane}];
            (sends ? link.first : link.second).push_back({call, i, a});
          }
        }
      }
    }
    arriving_.assign(as_index(nodes() / 2), {});
    for (auto const& [key, ends] : links) {
      auto const& [from, to, lane] = key;
      if (ends.first.size() != ends.second.size()) {
        bool const more_sent = ends.first.size() > ends.second.size();
        message_end const& lonely = more_sent ? ends.first.back() : ends.second.back();
        return {reason::matching, lonely.call, more_sent ? from : to, lonely.op};
      }
      for (std::size_t k = 0; k < ends.first.size(); ++k) {
        message_end const& received = ends.second[k];
        arriving_[as_index((received.call * ranks_ + to) * count_ + received.op)].push_back(
            static_cast<int>(messages_.size()));
        messages_.push_back({from, to, ends.first[k], received});
      }
    }
    return {};
  }

  // --- The graph -----------------------------------------------------------------------------------------------

  [[nodiscard]] int start_of(int call, int rank, int op) const {
    return 2 * ((call * ranks_ + rank) * count_ + op);
  }
  [[nodiscard]] int end_of(int call, int rank, int op) const { return start_of(call, rank, op) + 1; }
  [[nodiscard]] int nodes() const { return 2 * calls * ranks_ * count_; }

  void edge(int from, int to) { edges_.emplace_back(from, to); }

  void build_graph() {
    for (int r = 0; r < ranks_; ++r) {
      std::vector<int> last(as_index(p_.lanes), -1);
      for (int call = 0; call < calls; ++call) {
        for (int i = 0; i < count_; ++i) {
          operation const& op = p_.operations[i];
          int const start = start_of(call, r, i);
          edge(start, start + 1);
          if (last[as_index(op.lane)] >= 0) edge(last[as_index(op.lane)], start);
          last[as_index(op.lane)] = start + 1;
          for (int w = op.first_wait; w < op.first_wait + op.waits; ++w) {
            edge(end_of(call, r, meant_by(p_.waits[w], i)), start);
          }
          if (is_collective(op.kind)) {
            for (int other = 0; other < ranks_; ++other) edge(start, end_of(call, other, i));
          }
        }
      }
    }
    for (message const& m : messages_) {
      edge(start_of(m.sent.call, m.from, m.sent.op), end_of(m.received.call, m.to, m.received.op));
      edge(start_of(m.received.call, m.to, m.received.op), end_of(m.sent.call, m.from, m.sent.op));
    }
  }

  /// A wait names an event: what it waits for is that event's latest record before operation `at`.
  [[nodiscard]] int meant_by(int awaited, int at) const {
    int const event = p_.operations[awaited].event;
    int latest = -1;
    for (int i = 0; i < at; ++i) {
      if (p_.operations[i].event == event) latest = i;
    }
    return latest >= 0 ? latest : awaited;
  }

  /// Runs the graph until nothing can move.
  [[nodiscard]] std::vector<int> run(std::vector<std::pair<int, int>> const& edges) const {
    std::vector<int> first(as_index(nodes()) + 1, 0), missing(as_index(nodes()), 0), next(edges.size());
    for (auto const& [from, to] : edges) {
      ++first[as_index(from) + 1];
      ++missing[as_index(to)];
    }
    for (std::size_t n = 1; n < first.size(); ++n) first[n] += first[n - 1];
    std::vector<int> fill(first.begin(), first.end() - 1);
    for (auto const& [from, to] : edges) next[as_index(fill[as_index(from)]++)] = to;
    std::vector<int> order;
    order.reserve(as_index(nodes()));
    for (int n = 0; n < nodes(); ++n) {
      if (missing[as_index(n)] == 0) order.push_back(n);
    }
    for (std::size_t at = 0; at < order.size(); ++at) {
      int const n = order[at];
      for (int e = first[as_index(n)]; e < first[as_index(n) + 1]; ++e) {
        if (--missing[as_index(next[as_index(e)])] == 0) order.push_back(next[as_index(e)]);
      }
    }
    return order;
  }

  [[nodiscard]] finding stopped(std::vector<int> const& order) const {
    std::vector<bool> done(as_index(nodes()), false);
    for (int n : order) done[as_index(n)] = true;
    for (int n = 0; n < nodes(); ++n) {
      if (!done[as_index(n)]) {
        int const place = n / 2;
        return {reason::progress, place / (ranks_ * count_), place / count_ % ranks_, place % count_};
      }
    }
    return {};
  }

  finding check_progress() {
    order_ = run(edges_);
    if (order_.size() != as_index(nodes())) return stopped(order_);
    std::vector<std::pair<int, int>> one_queue = edges_;
    for (int r = 0; r < ranks_; ++r) {
      int before = -1;
      for (int call = 0; call < calls; ++call) {
        for (int i = 0; i < count_; ++i) {
          if (before >= 0) one_queue.emplace_back(before, start_of(call, r, i));
          before = end_of(call, r, i);
        }
      }
    }
    std::vector<int> const order = run(one_queue);
    return order.size() == as_index(nodes()) ? finding{} : stopped(order);
  }

  // --- Reachability: for every node, a bit for each operation that is done before it ---------------------------

  void find_reachable() {
    words_ = as_index(nodes() / 2 + 63) / 64;
    done_.assign(as_index(nodes()) * words_, 0);
    std::vector<int> first(as_index(nodes()) + 1, 0), previous(edges_.size());
    for (auto const& [from, to] : edges_) ++first[as_index(to) + 1];
    for (std::size_t n = 1; n < first.size(); ++n) first[n] += first[n - 1];
    std::vector<int> fill(first.begin(), first.end() - 1);
    for (auto const& [from, to] : edges_) previous[as_index(fill[as_index(to)]++)] = from;
    for (int n : order_) {
      std::uint64_t* const mine = done_.data() + as_index(n) * words_;
      for (int e = first[as_index(n)]; e < first[as_index(n) + 1]; ++e) {
        int const from = previous[as_index(e)];
        std::uint64_t const* const theirs = done_.data() + as_index(from) * words_;
        for (std::size_t w = 0; w < words_; ++w) mine[w] |= theirs[w];
        if (from % 2 == 1) mine[as_index(from / 2) / 64] |= std::uint64_t{1} << (from / 2 % 64);
      }
    }
  }

  /// Whether the operation whose end is `end` is done before node `later`.
  [[nodiscard]] bool ordered(int end, int later) const {
    return (done_[as_index(later) * words_ + as_index(end / 2) / 64] >> (end / 2 % 64) & 1) != 0;
  }

  finding check_calls() {
    for (int call = 0; call < calls; ++call) {
      for (int r = 0; r < ranks_; ++r) {
        for (int i = 1; i + 1 < count_; ++i) {
          if (!ordered(end_of(call, r, 0), start_of(call, r, i))) return {reason::reuse, call, r, i};
          if (!ordered(end_of(call, r, i), start_of(call, r, count_ - 1))) return {reason::join, call, r, i};
        }
      }
    }
    return {};
  }

  // --- Races ---------------------------------------------------------------------------------------------------

  finding check_races() {
    struct touch {
      int call = 0;
      int op = 0;
      bool writes = false;
    };
    std::vector<std::vector<touch>> touched(as_index(tiles_));
    for (int call = 0; call < calls; ++call) {
      for (int i = 0; i < count_; ++i) {
        operation const& op = p_.operations[i];
        if (i == 0 || i == count_ - 1) continue;  // check_calls has ordered everything against these two
        for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
          for (tile_use const& use : uses(p_.accesses[a].tiles, 0)) {
            touched[as_index(use.tile)].push_back({call, i, p_.accesses[a].mode != access_mode::read});
          }
        }
      }
    }
    for (auto const& list : touched) {
      for (std::size_t a = 0; a < list.size(); ++a) {
        for (std::size_t b = a + 1; b < list.size(); ++b) {
          if (!list[a].writes && !list[b].writes) continue;
          for (int r = 0; r < ranks_; ++r) {
            bool const one_way =
                ordered(end_of(list[a].call, r, list[a].op), start_of(list[b].call, r, list[b].op));
            bool const other_way =
                ordered(end_of(list[b].call, r, list[b].op), start_of(list[a].call, r, list[a].op));
            if (!one_way && !other_way) return {reason::race, list[a].call, r, list[a].op, list[b].op};
          }
        }
      }
    }
    return {};
  }

  // --- Contents ------------------------------------------------------------------------------------------------

  contents& tile_of(int rank, int tile) { return memory_[as_index(rank * tiles_ + tile)]; }

  static contents only(piece p) { return {p}; }

  [[nodiscard]] contents wanted(content what, element_role role, int rank, int shard, int chunk,
                                bool whole) const {
    bool const product = role != element_role::input;
    origin const part = product ? origin::product_contribution : origin::caller_contribution;
    contents result;
    switch (what) {
      case content::nothing: break;
      case content::shard_piece:
        result = only({product ? origin::product_of_shard : origin::shard, shard, shard, chunk});
        break;
      case content::own_contribution: result = only({part, rank, whole ? uncut : shard, chunk}); break;
      case content::sum:
        for (int r = 0; r < ranks_; ++r) result.push_back({part, r, shard, chunk});
        break;
      case content::everything:
        for (int r = 0; r < ranks_; ++r) {
          for (int c = 0; c < p_.chunks; ++c) result.push_back({origin::product_of_shard, r, r, c});
        }
        break;
    }
    std::sort(result.begin(), result.end());
    return result;
  }

  /// What a tile of the caller's holds when a call begins; anything else holds nothing that may be relied on.
  void start_call(int rank) {
    for (int b = 0; b < p_.buffer_count; ++b) {
      for (int s = 0; s < p_.buffers[b].slots; ++s) {
        for (int c = 0; c < chunks_of(b); ++c) {
          int const shard = moved(rank, is_cut_by_shard(b) ? s : 0);
          tile_of(rank, first_tile_[as_index(b)] + s * chunks_of(b) + c) =
              wanted(p_.buffers[b].before, element_role::input, rank, shard, c, is_whole(b));
        }
      }
    }
  }

  finding end_call(int call, int rank) {
    for (int b = 0; b < p_.buffer_count; ++b) {
      if (p_.buffers[b].after == content::nothing) continue;
      for (int s = 0; s < p_.buffers[b].slots; ++s) {
        for (int c = 0; c < chunks_of(b); ++c) {
          int const shard = moved(rank, is_cut_by_shard(b) ? s : 0);
          contents const& held = tile_of(rank, first_tile_[as_index(b)] + s * chunks_of(b) + c);
          contents const right =
              wanted(p_.buffers[b].after, p_.buffers[b].element, rank, shard, c, is_whole(b));
          if (held == right) continue;
          bool const all_of_it = std::includes(right.begin(), right.end(), held.begin(), held.end());
          return {all_of_it ? reason::coverage : reason::wrong_tile, call, rank, count_ - 1, b};
        }
      }
    }
    return {};
  }

  /// Whether what a tile holds is what an operation takes it for.
  static bool fits(contents const& held, tile_use const& use) {
    if (use.shard == uncut) return true;
    return std::all_of(held.begin(), held.end(),
                       [&](piece const& p) { return p.shard == use.shard && p.chunk == use.chunk; });
  }

  static bool merge(contents& into, contents const& more) {
    contents all;
    std::merge(into.begin(), into.end(), more.begin(), more.end(), std::back_inserter(all));
    into = all;
    return std::adjacent_find(into.begin(), into.end()) == into.end();
  }

  static contents multiplied(contents const& held) {
    contents result = held;
    for (piece& p : result) p.from = p.from == origin::shard ? origin::product_of_shard : origin::nonsense;
    std::sort(result.begin(), result.end());
    return result;
  }

  /// What an operation reads, taken when it starts: everything it may read is there by then, or its order is a race.
  finding begin(int call, int rank, int i) {
    operation const& op = p_.operations[i];
    auto& taken = taken_[as_index((call * ranks_ + rank) * count_ + i)];
    for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
      tile_access const& use = p_.accesses[a];
      taken.emplace_back();
      if (use.mode == access_mode::write) continue;
      for (tile_use const& tile : uses(use.tiles, rank)) {
        contents const& held = tile_of(rank, tile.tile);
        if (held.empty()) return {reason::coverage, call, rank, i};
        if (!fits(held, tile)) return {reason::wrong_tile, call, rank, i};
        taken.back().push_back(held);
      }
    }
    return {};
  }

  /// `put` writes a tile; what lies there afterwards has to be what the operation takes it for.
  finding put(reason otherwise, int call, int rank, int i, tile_use const& use, contents what) {
    if (!fits(what, use)) return {otherwise, call, rank, i};
    tile_of(rank, use.tile) = std::move(what);
    return {};
  }

  finding finish(int call, int rank, int i) {
    operation const& op = p_.operations[i];
    if (op.kind == operation_kind::exchange) return receive(call, rank, i);
    if (is_collective(op.kind)) return gather_or_sum(call, rank, i);
    auto const& taken = taken_[as_index((call * ranks_ + rank) * count_ + i)];
    int target = op.first_access;
    while (p_.accesses[target].mode == access_mode::read) ++target;
    tile_access const& changed = p_.accesses[target];
    std::vector<tile_use> const to = uses(changed.tiles, rank);
    bool const adds = changed.mode == access_mode::accumulate;
    bool const into_whole = is_whole(changed.tiles.buffer);

    std::vector<contents> result(to.size());
    if (adds) result = taken[as_index(target - op.first_access)];
    if (op.kind == operation_kind::gemm && op.accesses == 1) {
      for (std::size_t t = 0; t < to.size(); ++t) {
        piece const part{origin::product_contribution, rank, to[t].shard, to[t].chunk};
        if (!merge(result[t], only(part))) return {reason::counted_twice, call, rank, i};
      }
    }
    for (int a = 0; a < op.accesses; ++a) {
      if (op.first_access + a == target) continue;
      for (std::size_t t = 0; t < taken[as_index(a)].size(); ++t) {
        contents const& read = taken[as_index(a)][t];
        contents const more = op.kind == operation_kind::gemm ? multiplied(read) : read;
        if (!merge(result[into_whole ? 0 : t], more)) return {reason::counted_twice, call, rank, i};
      }
    }
    for (std::size_t t = 0; t < to.size(); ++t) {
      if (finding const f = put(reason::wrong_tile, call, rank, i, to[t], result[t]); !f.safe()) return f;
    }
    return {};
  }

  finding receive(int call, int rank, int i) {
    for (int arriving : arriving_[as_index((call * ranks_ + rank) * count_ + i)]) {
      message const& m = messages_[as_index(arriving)];
      operation const& sender = p_.operations[m.sent.op];
      auto const& sent = taken_[as_index((m.sent.call * ranks_ + m.from) * count_ + m.sent.op)]
                               [as_index(m.sent.use - sender.first_access)];
      tile_range const& from = p_.accesses[m.sent.use].tiles;
      tile_range const& to = p_.accesses[m.received.use].tiles;
      finding const mismatch{reason::matching, call, rank, i, m.sent.op};
      if (p_.buffers[from.buffer].element != p_.buffers[to.buffer].element) return mismatch;
      std::vector<tile_use> const there = uses(from, m.from);
      std::vector<tile_use> const here = uses(to, rank);
      if (there.size() != here.size()) return mismatch;
      for (std::size_t t = 0; t < here.size(); ++t) {
        // Tiles of different shards or chunks may differ in size.
        if (there[t].shard != here[t].shard || there[t].chunk != here[t].chunk) return mismatch;
        if (there[t].shard == uncut && from.buffer != to.buffer) return mismatch;
        if (finding const f = put(reason::matching, call, rank, i, here[t], sent[t]); !f.safe()) return f;
      }
    }
    return {};
  }

  finding gather_or_sum(int call, int rank, int i) {
    operation const& op = p_.operations[i];
    int source = 0;
    int target = 0;
    for (int a = 0; a < op.accesses; ++a) {
      access_mode const mode = p_.accesses[op.first_access + a].mode;
      if (mode != access_mode::write) source = a;
      if (mode != access_mode::read) target = a;
    }
    tile_range const& from = p_.accesses[op.first_access + source].tiles;
    tile_range const& to = p_.accesses[op.first_access + target].tiles;
    if (p_.buffers[from.buffer].element != p_.buffers[to.buffer].element)
      return {reason::matching, call, rank, i};
    for (tile_use const& here : uses(to, rank)) {
      contents result;
      bool found = false;
      for (int other = 0; other < ranks_; ++other) {
        std::vector<tile_use> const there = uses(from, other);
        auto const& theirs = taken_[as_index((call * ranks_ + other) * count_ + i)][as_index(source)];
        for (std::size_t t = 0; t < there.size(); ++t) {
          if (there[t].shard != here.shard || there[t].chunk != here.chunk) continue;
          found = true;
          if (!merge(result, theirs[t])) return {reason::counted_twice, call, rank, i};
        }
      }
      if (!found) return {reason::wrong_tile, call, rank, i};
      if (finding const f = put(reason::wrong_tile, call, rank, i, here, result); !f.safe()) return f;
    }
    return {};
  }

  finding simulate() {
    memory_.assign(as_index(ranks_ * tiles_), {});
    taken_.assign(as_index(nodes() / 2), {});
    for (int n : order_) {
      int const place = n / 2;
      int const call = place / (ranks_ * count_);
      int const rank = place / count_ % ranks_;
      int const i = place % count_;
      finding f;
      if (i == 0) {
        if (n % 2 == 1) start_call(rank);
      } else if (i == count_ - 1) {
        if (n % 2 == 0) f = end_call(call, rank);
      } else {
        f = n % 2 == 0 ? begin(call, rank, i) : finish(call, rank, i);
      }
      if (!f.safe()) return f;
    }
    return {};
  }

  program_view p_;
  int ranks_;
  int count_;
  int tiles_ = 0;
  std::vector<int> first_tile_;
  std::vector<message> messages_;
  std::vector<std::vector<int>> arriving_;  // messages by the operation that receives them
  std::vector<std::pair<int, int>> edges_;
  std::vector<int> order_;
  std::size_t words_ = 0;
  std::vector<std::uint64_t> done_;
  std::vector<contents> memory_;
  std::vector<std::vector<std::vector<contents>>> taken_;
};

}  // namespace

char const* name_of(reason why) {
  switch (why) {
    case reason::safe: return "safe";
    case reason::structure: return "structure";
    case reason::matching: return "matching";
    case reason::progress: return "progress";
    case reason::reuse: return "reuse";
    case reason::join: return "join";
    case reason::race: return "race";
    case reason::coverage: return "coverage";
    case reason::wrong_tile: return "wrong tile";
    case reason::counted_twice: return "counted twice";
  }
  return "unknown";
}

finding judge(program_view const& program) { return world_model{program}.judge(); }

}  // namespace tpoverlap_test
