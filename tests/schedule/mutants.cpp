// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "mutants.hpp"

#include <utility>
#include <vector>

namespace tpoverlap_test {

using namespace tpoverlap;

namespace {

class mutator {
 public:
  mutator(editable_program const& base, std::function<void(mutant const&)> const& use)
      : base_{base}, now_{base}, use_{use} {}

  void run() {
    for (int i = 0; i < base_.count(); ++i) {
      change_waits(i);
      if (i > 0 && i + 1 < base_.count()) {
        change_accesses(i);
        change_place(i);
        change_kinds(i);
        drop_accesses(i);
      }
      share_events(i);
    }
    change_messages();
  }

 private:
  void show(mutation kind, int first, int second = -1, tile_range before = {}, tile_range after = {}) {
    use_({now_.view(), kind, first, second, before, after});
  }

  void change_waits(int i) {
    operation& op = now_.op(i);
    for (int w = op.first_wait; w < op.first_wait + op.waits; ++w) {
      int const last = op.first_wait + op.waits - 1;
      int const awaited = wait(w);
      std::swap(wait(w), wait(last));
      --op.waits;
      show(mutation::remove_wait, i, awaited);
      ++op.waits;
      std::swap(wait(w), wait(last));
      for (int other = 0; other < base_.count(); ++other) {
        if (other == awaited || base_.op(other).event < 0) continue;
        wait(w) = other;
        show(mutation::retarget_wait, i, other);
      }
      wait(w) = awaited;
    }
  }

  int& wait(int w) { return now_.waits[static_cast<std::size_t>(w)]; }

  void redirect(int i, int a, tile_range const& to) {
    tile_range& tiles = now_.use(a).tiles;
    tile_range const before = tiles;
    if (to == before) return;
    tiles = to;
    show(mutation::redirect_tile, i, a, before, to);
    tiles = before;
  }

  void change_accesses(int i) {
    operation const op = base_.op(i);
    int const ranks = base_.group.ranks;
    for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
      tile_range const r = now_.use(a).tiles;
      buffer const& in = base_.buffers[static_cast<std::size_t>(r.buffer)];
      for (int s = 0; s < in.slots; ++s) {
        tile_range to = r;
        to.slot = s;
        redirect(i, a, to);
        to.shard = s;
        if (s < ranks) redirect(i, a, to);
      }
      for (int s = 1; s <= in.slots; ++s) {
        tile_range to = r;
        to.slots = s;
        redirect(i, a, to);
      }
      for (int e = 0; e < ranks; ++e) {
        tile_range to = r;
        to.shard = e;
        redirect(i, a, to);
      }
      for (int c = 0; c < base_.chunks; ++c) {
        tile_range to = r;
        to.chunk = c;
        redirect(i, a, to);
        to.chunks = base_.chunks - c;
        redirect(i, a, to);
        to = r;
        to.chunks = c + 1;
        redirect(i, a, to);
      }
      for (int b = 0; b < static_cast<int>(base_.buffers.size()); ++b) {
        for (int s = 0; b != r.buffer && s < base_.buffers[static_cast<std::size_t>(b)].slots; ++s) {
          tile_range to = r;
          to.buffer = b;
          to.slot = s;
          redirect(i, a, to);
          to.shard = s;
          if (s < ranks) redirect(i, a, to);
          if (base_.buffers[static_cast<std::size_t>(b)].arrangement != layout::whole) continue;
          to = {b, 0, 1, 0, 0, 1};
          redirect(i, a, to);
        }
      }
      access_mode const before = now_.use(a).mode;
      for (access_mode mode : {access_mode::read, access_mode::write, access_mode::accumulate}) {
        if (mode == before) continue;
        now_.use(a).mode = mode;
        show(mutation::change_mode, i, a);
      }
      now_.use(a).mode = before;
    }
  }

  void change_kinds(int i) {
    operation_kind const before = base_.op(i).kind;
    for (int k = 0; k <= static_cast<int>(operation_kind::all_reduce); ++k) {
      if (k == static_cast<int>(before)) continue;
      now_.op(i).kind = static_cast<operation_kind>(k);
      show(mutation::change_kind, i, k);
    }
    now_.op(i).kind = before;
  }

  void drop_accesses(int i) {
    operation& op = now_.op(i);
    int const end = op.first_access + op.accesses;
    for (int a = op.first_access; a < end; ++a) {
      tile_access const dropped = now_.use(a);
      for (int b = a; b + 1 < end; ++b) now_.use(b) = now_.use(b + 1);
      --op.accesses;
      show(mutation::drop_access, i, a - op.first_access);
      ++op.accesses;
      for (int b = end - 1; b > a; --b) now_.use(b) = now_.use(b - 1);
      now_.use(a) = dropped;
    }
  }

  void share_events(int i) {
    for (int j = 0; j < base_.count(); ++j) {
      if (j == i || base_.op(j).event < 0) continue;
      int const before = now_.op(i).event;
      now_.op(i).event = base_.op(j).event;
      show(mutation::share_event, i, j);
      now_.op(i).event = before;
    }
  }

  /// The program with its operations in another order; waits follow what they waited for, or stay where they were.
  void reorder(mutation kind, int first, int second, std::vector<int> const& order) {
    std::vector<int> position(static_cast<std::size_t>(base_.count()), -1);
    for (std::size_t n = 0; n < order.size(); ++n)
      position[static_cast<std::size_t>(order[n])] = static_cast<int>(n);
    editable_program changed = base_;
    changed.operations.clear();
    changed.waits.clear();
    for (int from : order) {
      operation op = base_.op(from);
      int const first_wait = static_cast<int>(changed.waits.size());
      for (int w = op.first_wait; w < op.first_wait + op.waits; ++w) {
        int const awaited = position[static_cast<std::size_t>(base_.waits[static_cast<std::size_t>(w)])];
        if (awaited >= 0) changed.waits.push_back(awaited);
      }
      op.first_wait = first_wait;
      op.waits = static_cast<int>(changed.waits.size()) - first_wait;
      changed.operations.push_back(op);
    }
    use_({changed.view(), kind, first, second, {}, {}});
  }

  void change_place(int i) {
    std::vector<int> order;
    for (int n = 0; n < base_.count(); ++n) {
      if (n != i) order.push_back(n);
    }
    reorder(mutation::drop_operation, i, -1, order);

    int const lane = base_.op(i).lane;
    for (int l = 0; l <= base_.lanes; ++l) {
      if (l == lane) continue;
      now_.op(i).lane = l;
      if (l == base_.lanes) ++now_.lanes;
      show(mutation::move_to_lane, i, l);
      now_.lanes = base_.lanes;
    }
    now_.op(i).lane = lane;

    int next = i + 1;
    while (next + 1 < base_.count() && base_.op(next).lane != lane) ++next;
    if (next + 1 >= base_.count()) return;
    order.clear();
    for (int n = 0; n < base_.count(); ++n) order.push_back(n == i ? next : n == next ? i : n);
    reorder(mutation::swap_neighbours, i, next, order);
    // The same again, but what was waited for stays where it was in the list.
    std::swap(now_.op(i).kind, now_.op(next).kind);
    std::swap(now_.op(i).first_access, now_.op(next).first_access);
    std::swap(now_.op(i).accesses, now_.op(next).accesses);
    show(mutation::swap_neighbours, i, next);
    now_.op(i) = base_.op(i);
    now_.op(next) = base_.op(next);
  }

  void change_messages() {
    std::vector<int> ends;  // accesses of exchanges
    std::vector<int> owner;
    for (int i = 0; i < base_.count(); ++i) {
      operation const& op = base_.op(i);
      if (op.kind != operation_kind::exchange) continue;
      for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
        ends.push_back(a);
        owner.push_back(i);
      }
    }
    for (std::size_t x = 0; x < ends.size(); ++x) {
      for (std::size_t y = x + 1; y < ends.size(); ++y) {
        tile_access& a = now_.use(ends[x]);
        tile_access& b = now_.use(ends[y]);
        bool const sends = a.mode == access_mode::read;
        if (a.mode == b.mode && !(a.tiles == b.tiles)) {
          std::swap(a.tiles, b.tiles);
          show(sends ? mutation::swap_sent_tiles : mutation::swap_received_tiles, ends[x], ends[y]);
          std::swap(a.tiles, b.tiles);
        }
        if (a.peer != b.peer) {
          std::swap(a.peer, b.peer);
          show(mutation::swap_peers, ends[x], ends[y]);
          std::swap(a.peer, b.peer);
        }
        if (owner[x] != owner[y]) {
          std::swap(a, b);
          show(mutation::swap_message_ends, ends[x], ends[y]);
          std::swap(a, b);
        }
        // Strategies write a send and its receive side by side.
        if (sends && b.mode == access_mode::read && owner[x] != owner[y] && x + 1 < ends.size() &&
            y + 1 < ends.size() && owner[x + 1] == owner[x] && owner[y + 1] == owner[y]) {
          std::swap(a, b);
          std::swap(now_.use(ends[x + 1]), now_.use(ends[y + 1]));
          show(mutation::swap_messages, ends[x], ends[y]);
          std::swap(a, b);
          std::swap(now_.use(ends[x + 1]), now_.use(ends[y + 1]));
        }
      }
    }
  }

  editable_program const& base_;
  editable_program now_;
  std::function<void(mutant const&)> const& use_;
};

std::string text(tile_range const& r) {
  return "buffer " + std::to_string(r.buffer) + " slot " + std::to_string(r.slot) + "+" +
         std::to_string(r.slots) + " shard " + std::to_string(r.shard) + " chunk " + std::to_string(r.chunk) +
         "+" + std::to_string(r.chunks);
}

}  // namespace

char const* name_of(mutation kind) {
  switch (kind) {
    case mutation::remove_wait: return "remove a wait";
    case mutation::retarget_wait: return "wait for another";
    case mutation::swap_sent_tiles: return "swap tiles of sends";
    case mutation::swap_received_tiles: return "swap tiles of receives";
    case mutation::swap_peers: return "swap peers";
    case mutation::swap_message_ends: return "swap ends of messages";
    case mutation::swap_messages: return "swap messages";
    case mutation::redirect_tile: return "redirect a tile";
    case mutation::swap_neighbours: return "swap neighbours";
    case mutation::drop_operation: return "drop an operation";
    case mutation::drop_access: return "drop an access";
    case mutation::move_to_lane: return "move to another lane";
    case mutation::change_mode: return "change a mode";
    case mutation::change_kind: return "change a kind";
    case mutation::share_event: return "share an event";
  }
  return "unknown";
}

std::string mutant::description() const {
  std::string result =
      std::string{name_of(kind)} + " (" + std::to_string(first) + ", " + std::to_string(second) + ")";
  if (kind == mutation::redirect_tile) result += " from " + text(before) + " to " + text(after);
  return result;
}

void for_each_mutant(editable_program const& base, std::function<void(mutant const&)> const& use) {
  mutator{base, use}.run();
}

}  // namespace tpoverlap_test
