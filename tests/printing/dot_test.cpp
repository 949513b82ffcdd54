// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "programs.hpp"

#include <support/catch.hpp>

#include <tpoverlap/schedule/print_dot.hpp>

#include <set>
#include <string>

using namespace tpoverlap;
using namespace printing_test;

namespace {

std::string edge(int from, int to, std::string const& attribute) {
  return "\"op" + std::to_string(from) + "\" -> \"op" + std::to_string(to) + "\" [" + attribute + "];\n";
}

/// Text outside of quoted strings; nothing if a string is not closed on its line.
std::string unquoted(std::string const& dot) {
  std::string rest;
  bool quoted = false;
  for (std::size_t i = 0; i < dot.size(); ++i) {
    if (quoted && dot[i] == '\n') return {};
    if (quoted && dot[i] == '\\') {
      ++i;
    } else if (dot[i] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      rest += dot[i];
    }
  }
  return quoted ? std::string{} : rest;
}

/// A line without indentation and with only the kind of each quoted string.
std::string form_of(std::string const& line) {
  std::string form;
  for (std::size_t i = line.find_first_not_of(' '); i < line.size(); ++i) {
    form += line[i];
    if (line[i] != '"') continue;
    std::string text;
    for (++i; i < line.size() && line[i] != '"'; ++i) text += line[i] == '\\' ? line[i++] : line[i];
    std::size_t const digits = text.find_last_not_of("0123456789") + 1;
    std::string const head = text.substr(0, digits);
    bool const numbered = digits < text.size();
    form += numbered && head == "op" ? "op\"" : numbered && head == "cluster_" ? "cluster\"" : "...\"";
  }
  return form;
}

}  // namespace

TEST_CASE("a reduction by ring as a graph", "[dot]") {
  auto const dot = [](program_view const& p) { return to_dot(p, 1); };
  CHECK(printed(consumer_before_reduction<ring{}>{}, 2, dot) ==
        R"(digraph "schedule" {
  label="2 ranks, 1 chunk a shard, seen from rank 1";
  node [shape="box"];
  subgraph "cluster_0" {
    label="compute";
    "op0" [label="0 fork\nbegins on the caller's stream"];
    "op1" [label="1 gemm\nown contribution into partial shard 0 chunk 0 in slot 0"];
    "op3" [label="3 gemm\nown contribution into partial shard 1 chunk 0 in slot 1"];
    "op5" [label="5 join\nends on the caller's stream"];
    "op0" -> "op1" [color="gray50"];
    "op1" -> "op3" [color="gray50"];
    "op3" -> "op5" [color="gray50"];
  }
  subgraph "cluster_1" {
    label="communication";
    "op2" [label="2 exchange\nsends partial shard 0 chunk 0 in slot 0 to rank 0\nreceives bucket shard 1 chunk 0 in slot 1 from rank 0"];
  }
  subgraph "cluster_2" {
    label="elementwise";
    "op4" [label="4 reduce\nbucket shard 1 chunk 0 in slot 1 + partial shard 1 chunk 0 in slot 1 into output shard 1 chunk 0"];
  }
  "op1" -> "op2" [style="bold"];
  "op3" -> "op4" [style="bold"];
  "op2" -> "op4" [style="bold"];
  "op4" -> "op5" [style="bold"];
}
)");
}

TEST_CASE("the graph has every operation, every wait and every step of a lane, once", "[dot]") {
  for_each_program([](program_view const& p) {
    std::string const dot = to_dot(p);
    int edges = 0;
    for (int i = 0; i < p.operation_count; ++i) {
      operation const& op = p.operations[i];
      CHECK(count_of(dot, "\"op" + std::to_string(i) + "\" [label=\"" + std::to_string(i) + " " +
                              name_of(op.kind) + "\\n") == 1);
      for (int w = op.first_wait; w < op.first_wait + op.waits; ++w) {
        CHECK(count_of(dot, edge(p.waits[w], i, "style=\"bold\"")) == 1);
        ++edges;
      }
      for (int before = i - 1; before >= 0; --before) {
        if (p.operations[before].lane != op.lane) continue;
        CHECK(count_of(dot, edge(before, i, "color=\"gray50\"")) == 1);
        ++edges;
        break;
      }
    }
    CHECK(count_of(dot, " -> ") == edges);
  });
}

TEST_CASE("the graph keeps to the grammar of DOT", "[dot]") {
  std::set<std::string> const statements{R"(digraph "..." {)",
                                         R"(subgraph "cluster" {)",
                                         R"(node [shape="..."];)",
                                         R"(label="...";)",
                                         R"("op" [label="..."];)",
                                         R"("op" -> "op" [color="..."];)",
                                         "}",
                                         R"("op" -> "op" [style="..."];)"};
  for_each_program([&](program_view const& p) {
    std::string const dot = to_dot(p, p.group.ranks - 1);
    for (std::string const& line : lines_of(dot)) {
      CAPTURE(line);
      CHECK(statements.count(form_of(line)) == 1);
    }
    std::string const structure = unquoted(dot);
    int depth = 0;
    for (char const c : structure) {
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      CHECK(depth >= 0);
    }
    CHECK(depth == 0);
    CHECK(count_of(structure, "{") >= 2);
  });
}

TEST_CASE("names cannot break out of their quotes", "[dot]") {
  editable_program program = copy_of(producer_before_consumer<ring{}>{}, 2);
  program.buffers[0].name = "a \"b\" {\\";
  std::string const dot = to_dot(program.view());
  CHECK(count_of(dot, R"(a \"b\" {\\ shard 0)") == 2);
  std::string const structure = unquoted(dot);
  CHECK(count_of(structure, "{") == count_of(structure, "}"));
  CHECK(count_of(structure, "{") == 3);
}
