// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A program as a list of sentences, and what `verify` says of it in words.
#pragma once

#include <tpoverlap/schedule/print_words.hpp>
#include <tpoverlap/schedule/violation.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace tpoverlap::inline v0 {

namespace detail::printing {

[[nodiscard]] inline std::string wait_words(program_view const& p, operation const& op) {
  std::string text;
  for (int w = op.first_wait; w < op.first_wait + op.waits; ++w) {
    if (w < 0 || w >= p.wait_count) continue;
    append(text, text.empty() ? "; waits for " : ", ");
    append(text, p.waits[w]);
  }
  return text;
}

}  // namespace detail::printing

/// Every operation of `rank`, one line each: number, lane, kind, what it does with which tiles and peers, and the
/// operations of other lanes that it waits for. Operations of one lane run one after another without waits. Chunks
/// that are not alike have their sizes in a line at the end.
///
/// **Units**: `rank` is 0..P-1.
/// **Example**: `  5  compute        gemm      gathered shard 2 chunk 0 into output shard 2 chunk 0; waits for 3`
[[nodiscard]] inline std::string to_text(program_view const& program, int rank) {
  namespace words = detail::printing;
  std::size_t const digits = std::to_string(program.operation_count).size() + 2;
  std::size_t lane_width = 0;
  std::size_t kind_width = 0;
  auto const widen = [](std::size_t& width, std::size_t size) { width = size > width ? size : width; };
  for (int i = 0; i < program.operation_count; ++i) {
    widen(lane_width, words::lane_words(program.operations[i].lane).size());
    widen(kind_width, std::string_view{name_of(program.operations[i].kind)}.size());
  }
  std::string text;
  for (int i = 0; i < program.operation_count; ++i) {
    operation const& op = program.operations[i];
    words::append(text, words::concat(words::padded_left(i, digits), "  ",
                                      words::padded(words::lane_words(op.lane), lane_width), "  ",
                                      words::padded(name_of(op.kind), kind_width), "  ",
                                      words::action_words(program, op, rank, ", "),
                                      words::wait_words(program, op), "\n"));
  }
  if (std::string const sizes = words::weight_words(program); !sizes.empty())
    words::append(text, words::concat("  sizes of a shard's chunks: ", sizes, "\n"));
  return text;
}

namespace detail::printing {

/// Turns a verdict into sentences.
class verdict_words {
 public:
  verdict_words(violation const& v, program_view const& p) : v_{v}, p_{p} {}

  [[nodiscard]] std::string text() const {
    if (v_.verified()) return "The schedule is right: every rule holds on every rank.";
    return concat(name_of(v_.broken), ", as seen from rank ", v_.rank, ": ", what(), ". ", advice(), ".");
  }

 private:
  [[nodiscard]] std::string what() const {
    switch (v_.broken) {
      case rule::none: break;
      case rule::structure:
        if (v_.first < 0) {
          return "the program cannot be read: its ranks, chunks, sizes of chunks or lanes make no world, or "
                 "it lacks a fork or a join";
        }
        return concat(title(v_.first), " is out of its place, or names tiles, a lane or a peer that do not ",
                      "exist or do not fit its kind");
      case rule::race:
        if (v_.first == v_.second) return concat(uses(v_.first), ", and nothing orders the two");
        return concat(uses(v_.first), ", ", uses(v_.second), ", and nothing orders the two");
      case rule::coverage:
        if (is_join(v_.first)) return concat(tile(), " lacks a part of the result when the schedule ends");
        return concat(uses(v_.first), " before anything is in it");
      case rule::wrong_tile:
        if (is_join(v_.first)) return concat(tile(), " holds another shard or chunk when the schedule ends");
        return concat(uses(v_.first), ", but another shard or chunk lies there, or is to be put there");
      case rule::counted_twice:
        return concat(title(v_.first), " adds a contribution to ", tile(), " that is in that sum already");
      case rule::matching:
        return concat(uses(v_.first),
                      ", but no other half of that message, with the same tile and type, is in ",
                      "the exchange");
      case rule::progress:
        return concat(title(v_.first), " waits for ", title(v_.second),
                      ", which comes later or records no event");
      case rule::join: return concat(title(v_.first), " may still run when the schedule has ended");
      case rule::reuse:
        return concat(title(v_.second),
                      " does not wait for the start of its call, so that it could meet the ", "call before");
    }
    return "an unknown rule is broken";
  }

  [[nodiscard]] std::string_view advice() const {
    switch (v_.broken) {
      case rule::none:
      case rule::structure: break;
      case rule::race:
        return "Give the tile more slots (a larger `depth`, or 0 for a slot a shard), or emit the operations "
               "so that one can wait for the other";
      case rule::coverage: return "Emit the exchange, GEMM or collective that fills it";
      case rule::wrong_tile:
        return "Correct the shard, slot or chunk that the strategy names, or give the tile more slots (a "
               "larger `depth`), so that it is used before the next one lands";
      case rule::counted_twice:
        return "Emit each contribution once, and give what lands more slots (a larger `depth`) if it is used "
               "later";
      case rule::matching:
        return "Receive from `back(step)` in the same exchange what is sent by `step`, chunk for chunk";
      case rule::progress: return "Run `synchronize`, or emit first what is waited for";
      case rule::join: return "Let the join wait for it: run `synchronize`";
      case rule::reuse: return "Let it wait for the fork: run `synchronize`";
    }
    return "Correct the strategy's emit function";
  }

  [[nodiscard]] bool known(int index) const { return index >= 0 && index < p_.operation_count; }

  [[nodiscard]] bool is_join(int index) const {
    return known(index) && p_.operations[index].kind == operation_kind::join;
  }

  /// "operation 6 (gemm, compute)"
  [[nodiscard]] std::string title(int index) const {
    if (!known(index)) return concat("operation ", index, " (which does not exist)");
    operation const& op = p_.operations[index];
    return concat("operation ", index, " (", name_of(op.kind), ", ", lane_words(op.lane), ")");
  }

  /// The tile of the verdict. Only operations can tell which shard lies in a landing slot.
  [[nodiscard]] std::string tile() const {
    bool const by_slot = has_buffer(p_, v_.buffer) && p_.buffers[v_.buffer].arrangement == layout::by_slot;
    return tile_words(p_, {v_.buffer, v_.slot, 1, by_slot ? -1 : v_.slot, v_.chunk, 1}, v_.rank);
  }

  /// "operation 6 (gemm, compute) reads gathered shard 3 chunk 0 in slot 0": what it does with the verdict's tile.
  [[nodiscard]] std::string uses(int index) const {
    if (!known(index)) return title(index);
    operation const& op = p_.operations[index];
    std::string text;
    for_each_access(p_, op, [&](tile_access const& use) {
      tile_range const& r = use.tiles;
      if (r.buffer != v_.buffer || v_.slot < r.slot || v_.slot >= r.slot + r.slots) return;
      if (v_.chunk < r.chunk || v_.chunk >= r.chunk + r.chunks) return;
      append(text, concat(text.empty() ? " " : " and ", verb(op.kind, use.mode), " "));
      if (is_end(op.kind)) {
        append(text, tile());
      } else {
        int const shard = r.slots == 1 ? r.shard : v_.slot;
        append(text, tile_words(p_, {r.buffer, v_.slot, 1, shard, v_.chunk, 1}, v_.rank));
      }
    });
    return concat(title(index), text.empty() ? concat(" touches ", tile()) : text);
  }

  static bool is_end(operation_kind kind) {
    return kind == operation_kind::fork || kind == operation_kind::join;
  }

  static std::string_view verb(operation_kind kind, access_mode mode) {
    if (kind == operation_kind::fork) return "hands over";
    if (kind == operation_kind::join) return "takes back";
    if (kind == operation_kind::exchange) return mode == access_mode::read ? "sends" : "receives";
    switch (mode) {
      case access_mode::read: return "reads";
      case access_mode::write: return "writes";
      case access_mode::accumulate: return "adds to";
    }
    return "touches";
  }

  violation const& v_;
  program_view const& p_;
};

}  // namespace detail::printing

/// The verdict of `verify(program)` in one or two sentences: the rule, the operations by number, kind and lane, the
/// tile in words, and what to do about it.
[[nodiscard]] inline std::string to_text(violation const& verdict, program_view const& program) {
  return detail::printing::verdict_words{verdict, program}.text();
}

}  // namespace tpoverlap::inline v0
