// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A program as an ASCII grid: time runs to the right, every rank has a row for each of its lanes.
#pragma once

#include <tpoverlap/schedule/critical_path.hpp>
#include <tpoverlap/schedule/print_words.hpp>
#include <tpoverlap/schedule/scratch.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace tpoverlap::inline v0 {

namespace detail::printing {

/// Draws one program. A cell is `width_` characters; cells stand between "| " and " ".
class grid_drawing {
 public:
  explicit grid_drawing(program_view const& p) : p_{p}, start_(p.operation_count), used_(p.lanes, false) {
    scratch<int> end(p.operation_count);
    scratch<int> last(p.lanes, -1);
    for (int i = 0; i < p.operation_count; ++i) {
      operation const& op = p.operations[i];
      if (last[op.lane] >= 0) start_[i] = end[last[op.lane]];
      for (int w = op.first_wait; w < op.first_wait + op.waits; ++w) {
        if (start_[i] < end[p.waits[w]]) start_[i] = end[p.waits[w]];
      }
      end[i] = start_[i] + steps(op);
      last[op.lane] = i;
      if (steps_ < end[i]) steps_ = end[i];
      if (steps(op) == 0) continue;
      used_[op.lane] = true;
      for (int rank = 0; rank < p.group.ranks; ++rank) widen(width_, cell(op, rank).size());
    }
    widen(width_, std::to_string(steps_).size());
    widen(head_width_, std::string_view{"step"}.size());
    for (int l = 0; l < p.lanes; ++l) {
      if (used_[l]) widen(head_width_, head(p.group.ranks - 1, l).size());
    }
  }

  [[nodiscard]] std::string text() const {
    std::string all = padded("step", head_width_ + 2);
    for (int s = 0; s < steps_; ++s) append(all, concat("| ", padded(std::to_string(s), width_), " "));
    append(all, "|\n");
    for (int rank = 0; rank < p_.group.ranks; ++rank) {
      for (int l = 0; l < p_.lanes; ++l) {
        if (used_[l]) append(all, row(rank, l));
      }
    }
    append(all, legend());
    return all;
  }

 private:
  /// Columns that an operation takes: one a tile or message, and one for what the critical path counts as nothing.
  [[nodiscard]] int steps(operation const& op) const {
    if (op.kind == operation_kind::fork || op.kind == operation_kind::join) return 0;
    int const cost = cost_of(p_, op).total();
    return cost > 0 ? cost : 1;
  }

  [[nodiscard]] std::string head(int rank, int in_lane) const {
    std::size_t const digits = std::to_string(p_.group.ranks - 1).size();
    return concat("rank ", padded_left(rank, digits), "  ", lane_words(in_lane));
  }

  [[nodiscard]] std::string row(int rank, int in_lane) const {
    std::string line = padded(head(rank, in_lane), head_width_ + 2);
    int at = 0;
    auto const idle_until = [&](int step) {
      for (; at < step; ++at) append(line, concat("| ", padded("", width_), " "));
    };
    for (int i = 0; i < p_.operation_count; ++i) {
      operation const& op = p_.operations[i];
      if (op.lane != in_lane || steps(op) == 0) continue;
      idle_until(start_[i]);
      at += steps(op);
      std::string text = cell(op, rank);
      if (steps(op) > 1) {
        std::size_t const full = static_cast<std::size_t>(steps(op)) * (width_ + 3) - 3;
        text.push_back(' ');
        text.append(full - text.size(), '-');
      }
      append(line, concat("| ", padded(text, width_), " "));
    }
    idle_until(steps_);
    append(line, "|\n");
    return line;
  }

  [[nodiscard]] std::string cell(operation const& op, int rank) const {
    switch (op.kind) {
      case operation_kind::gemm: return concat("g", first_cut_tile(op, rank));
      case operation_kind::exchange: return concat("x", received_tiles(op, rank));
      case operation_kind::reduce: return concat("+", changed_tile(op, rank));
      case operation_kind::copy: return concat("=", changed_tile(op, rank));
      case operation_kind::all_gather: return concat("AG.", chunks(p_.accesses[op.first_access].tiles));
      case operation_kind::reduce_scatter: return concat("RS.", chunks(p_.accesses[op.first_access].tiles));
      case operation_kind::all_reduce: return concat("AR.", chunks(p_.accesses[op.first_access].tiles));
      case operation_kind::fork:
      case operation_kind::join: break;
    }
    return {};
  }

  /// "2.0" for shard 2 chunk 0, "*.0" for several shards, "2.*" for every chunk; nothing for what is not cut.
  [[nodiscard]] std::string tile(tile_range const& r, int rank) const {
    if (is_whole(p_, r.buffer)) return {};
    return concat(r.slots > 1 ? std::string{"*"} : rank_at(p_, rank, r.shard), ".", chunks(r));
  }

  [[nodiscard]] std::string chunks(tile_range const& r) const {
    if (r.chunks == 1) return std::to_string(r.chunk);
    if (r.chunks == p_.chunks) return "*";
    return concat(r.chunk, "-", r.chunk + r.chunks - 1);
  }

  [[nodiscard]] std::string first_cut_tile(operation const& op, int rank) const {
    std::string text;
    for_each_access(p_, op, [&](tile_access const& use) {
      if (text.empty()) text = tile(use.tiles, rank);
    });
    return text;
  }

  [[nodiscard]] std::string changed_tile(operation const& op, int rank) const {
    std::string text;
    for_each_access(p_, op, [&](tile_access const& use) {
      if (use.mode != access_mode::read) text = tile(use.tiles, rank);
    });
    return text;
  }

  [[nodiscard]] std::string received_tiles(operation const& op, int rank) const {
    std::string text;
    for_each_access(p_, op, [&](tile_access const& use) {
      if (use.mode == access_mode::write)
        append(text, concat(text.empty() ? "" : ",", tile(use.tiles, rank)));
    });
    return text;
  }

  [[nodiscard]] std::string legend() const {
    bool seen[9]{};
    bool lasts = false;
    for (int i = 0; i < p_.operation_count; ++i) {
      seen[static_cast<int>(p_.operations[i].kind)] = true;
      lasts = lasts || steps(p_.operations[i]) > 1;
    }
    auto const has = [&](operation_kind kind) { return seen[static_cast<int>(kind)]; };
    std::string text = "\n";
    if (std::string const sizes = weight_words(p_); !sizes.empty())
      append(text, concat(sizes, "  sizes of a shard's chunks, drawn alike\n"));
    if (has(operation_kind::gemm)) append(text, "gS.C  GEMM on shard S, chunk C\n");
    if (has(operation_kind::exchange)) append(text, "xS.C  exchange that brings shard S, chunk C\n");
    if (has(operation_kind::reduce)) append(text, "+S.C  addition to shard S, chunk C\n");
    if (has(operation_kind::copy)) append(text, "=S.C  copy of shard S, chunk C\n");
    if (has(operation_kind::all_gather)) append(text, "AG.C  AllGather of chunk C of every shard\n");
    if (has(operation_kind::reduce_scatter)) append(text, "RS.C  ReduceScatter of chunk C of every shard\n");
    if (has(operation_kind::all_reduce)) append(text, "AR.C  AllReduce of chunk C of every shard\n");
    if (lasts)
      append(text, "*     several shards, or every chunk; a step for each tile, ---- while it goes on\n");
    return text;
  }

  static void widen(std::size_t& width, std::size_t size) { width = size > width ? size : width; }

  program_view const& p_;
  scratch<int> start_;
  scratch<bool> used_;
  int steps_ = 0;
  std::size_t width_ = 1;
  std::size_t head_width_ = 0;
};

}  // namespace detail::printing

/// All ranks beside each other, one row for each rank and lane that has operations, and a legend below.
///
/// A column is one step: a GEMM on one tile or one message of one tile, whatever its size; an addition or a copy, which the critical path
/// counts as nothing, gets a column of its own, too. An operation stands in the first column in which everything
/// before it, in its lane and among its waits, is done. Works for programs that `verify` accepts.
[[nodiscard]] inline std::string to_grid(program_view const& program) {
  return detail::printing::grid_drawing{program}.text();
}

}  // namespace tpoverlap::inline v0
