// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A program as a graph in Graphviz' DOT language.
#pragma once

#include <tpoverlap/schedule/print_words.hpp>

#include <string>
#include <string_view>

namespace tpoverlap::inline v0 {

namespace detail::printing {

/// A quoted DOT string; line breaks become those of a DOT label.
[[nodiscard]] inline std::string dot_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (char const c : text) {
    if (c == '\n') {
      append(quoted, "\\n");
      continue;
    }
    if (c == '"' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c);
  }
  quoted.push_back('"');
  return quoted;
}

[[nodiscard]] inline std::string dot_node(int index) { return concat("\"op", index, "\""); }

[[nodiscard]] inline std::string dot_edge(int from, int to, std::string_view attributes) {
  return concat(dot_node(from), " -> ", dot_node(to), " [", attributes, "];\n");
}

[[nodiscard]] inline std::string dot_lane(program_view const& p, int in_lane, int rank) {
  std::string nodes;
  std::string order;
  int last = -1;
  for (int i = 0; i < p.operation_count; ++i) {
    operation const& op = p.operations[i];
    if (op.lane != in_lane) continue;
    std::string const label = concat(i, " ", name_of(op.kind), "\n", action_words(p, op, rank, "\n"));
    append(nodes, concat("    ", dot_node(i), " [label=", dot_quoted(label), "];\n"));
    if (last >= 0) append(order, concat("    ", dot_edge(last, i, "color=\"gray50\"")));
    last = i;
  }
  if (nodes.empty()) return {};
  return concat("  subgraph \"cluster_", in_lane, "\" {\n    label=", dot_quoted(lane_words(in_lane)), ";\n",
                nodes, order, "  }\n");
}

}  // namespace detail::printing

/// The operations of `rank` as boxes with their tiles and peers, a cluster for each lane; thin edges are the order of
/// a lane, bold edges are waits.
///
/// **Example**: `explain_schedule --policy ring --format dot | dot -Tsvg > ring.svg`
[[nodiscard]] inline std::string to_dot(program_view const& program, int rank = 0) {
  namespace words = detail::printing;
  std::string const title = words::concat(words::world_words(program), ", seen from rank ", rank);
  std::string text = words::concat("digraph \"schedule\" {\n  label=", words::dot_quoted(title),
                                   ";\n  node [shape=\"box\"];\n");
  for (int l = 0; l < program.lanes; ++l) words::append(text, words::dot_lane(program, l, rank));
  for (int i = 0; i < program.operation_count; ++i) {
    operation const& op = program.operations[i];
    for (int w = op.first_wait; w < op.first_wait + op.waits; ++w) {
      if (w < 0 || w >= program.wait_count) continue;
      words::append(text, words::concat("  ", words::dot_edge(program.waits[w], i, "style=\"bold\"")));
    }
  }
  words::append(text, "}\n");
  return text;
}

}  // namespace tpoverlap::inline v0
