// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "programs.hpp"

#include <support/catch.hpp>

#include <tpoverlap/schedule/critical_path.hpp>
#include <tpoverlap/schedule/print_grid.hpp>

#include <set>
#include <string>
#include <vector>

using namespace tpoverlap;
using namespace printing_test;

namespace {

auto const grid = [](program_view const& p) { return to_grid(p); };

/// The lines above the legend.
std::vector<std::string> table_of(std::string const& text) {
  std::size_t const end = text.find("\n\n");
  return end == std::string::npos ? std::vector<std::string>{} : lines_of(text.substr(0, end + 1));
}

}  // namespace

TEST_CASE("a gather by ring as a grid", "[grid]") {
  CHECK(printed(producer_before_consumer<ring{}>{}, 3, grid) ==
        R"(step                   | 0    | 1    | 2    |
rank 0  compute        | g0.0 | g2.0 | g1.0 |
rank 0  communication  | x2.0 | x1.0 |      |
rank 1  compute        | g1.0 | g0.0 | g2.0 |
rank 1  communication  | x0.0 | x2.0 |      |
rank 2  compute        | g2.0 | g1.0 | g0.0 |
rank 2  communication  | x1.0 | x0.0 |      |

gS.C  GEMM on shard S, chunk C
xS.C  exchange that brings shard S, chunk C
)");
}

TEST_CASE("a reduction by ring as a grid", "[grid]") {
  CHECK(printed(consumer_before_reduction<ring{}>{}, 2, grid) ==
        R"(step                   | 0    | 1    | 2    |
rank 0  compute        | g1.0 | g0.0 |      |
rank 0  communication  |      | x0.0 |      |
rank 0  elementwise    |      |      | +0.0 |
rank 1  compute        | g0.0 | g1.0 |      |
rank 1  communication  |      | x1.0 |      |
rank 1  elementwise    |      |      | +1.0 |

gS.C  GEMM on shard S, chunk C
xS.C  exchange that brings shard S, chunk C
+S.C  addition to shard S, chunk C
)");
}

TEST_CASE("a pipeline as a grid", "[grid]") {
  CHECK(printed(producer_before_consumer<pipeline{.chunks = 2}>{}, 3, grid) ==
        R"(step                   | 0    | 1    | 2    | 3    | 4    | 5    |
rank 0  compute        | g0.* ------ | g*.0 ------ | g*.1 ------ |
rank 0  communication  | AG.0 ------ | AG.1 ------ |      |      |
rank 1  compute        | g1.* ------ | g*.0 ------ | g*.1 ------ |
rank 1  communication  | AG.0 ------ | AG.1 ------ |      |      |
rank 2  compute        | g2.* ------ | g*.0 ------ | g*.1 ------ |
rank 2  communication  | AG.0 ------ | AG.1 ------ |      |      |

gS.C  GEMM on shard S, chunk C
AG.C  AllGather of chunk C of every shard
*     several shards, or every chunk; a step for each tile, ---- while it goes on
)");
}

TEST_CASE("an exchange both ways brings two shards", "[grid]") {
  std::string const text = printed(producer_before_consumer<ring{.way = direction::both}>{}, 5, grid);
  CHECK(count_of(text, "rank 0  communication  | x4.0,1.0 | x3.0,2.0 |") == 1);
}

TEST_CASE("the grid has a row for every rank and lane, all of one length", "[grid]") {
  for_each_program([](program_view const& p) {
    std::string const text = to_grid(p);
    std::vector<std::string> const table = table_of(text);
    CAPTURE(text);
    std::set<int> lanes;
    for (int i = 1; i < p.operation_count - 1; ++i) lanes.insert(p.operations[i].lane);
    REQUIRE(table.size() == 1 + static_cast<std::size_t>(p.group.ranks) * lanes.size());
    for (std::string const& row : table) {
      CHECK(row.size() == table[0].size());
      CHECK(row.back() == '|');
    }
  });
}

TEST_CASE("every operation stands once in each rank's rows", "[grid]") {
  for_each_program([](program_view const& p) {
    std::string const text = to_grid(p);
    CAPTURE(text);
    int cells[9] = {};
    for (int i = 0; i < p.operation_count; ++i)
      cells[static_cast<int>(p.operations[i].kind)] += p.group.ranks;
    auto const drawn = [&](char const* mark) { return count_of(text, std::string{"| "} + mark); };
    auto const wanted = [&](operation_kind kind) { return cells[static_cast<int>(kind)]; };
    CHECK(drawn("g") == wanted(operation_kind::gemm));
    CHECK(drawn("x") == wanted(operation_kind::exchange));
    CHECK(drawn("+") == wanted(operation_kind::reduce));
    CHECK(drawn("=") == wanted(operation_kind::copy));
    CHECK(drawn("AG.") == wanted(operation_kind::all_gather));
    CHECK(drawn("RS.") == wanted(operation_kind::reduce_scatter));
    CHECK(drawn("AR.") == wanted(operation_kind::all_reduce));
  });
}

TEST_CASE("without additions and copies the grid is as long as the critical path", "[grid]") {
  int compared = 0;
  for_each_program([&](program_view const& p) {
    for (int i = 0; i < p.operation_count; ++i) {
      operation_kind const kind = p.operations[i].kind;
      if (kind == operation_kind::reduce || kind == operation_kind::copy) return;
    }
    std::vector<std::string> const table = table_of(to_grid(p));
    REQUIRE_FALSE(table.empty());
    CHECK(count_of(table[0], "| ") == critical_path_of(p).longest.total());
    ++compared;
  });
  CHECK(compared > 20);
}

TEST_CASE("sizes of chunks stand below a grid, shortened if there are many", "[grid]") {
  auto const sizes = [](std::string const& text) {
    std::string found;
    for (std::string const& line : lines_of(text)) {
      if (std::size_t const end = line.find("  sizes of a shard's chunks, drawn alike");
          end != std::string::npos)
        found += line.substr(0, end);
    }
    return found;
  };
  CHECK(sizes(printed(producer_before_consumer<ring{.chunks = 3}>{}, 2, grid)) == "");
  CHECK(sizes(printed(producer_before_consumer<ring{.chunks = 3, .ratio = halving}>{}, 2, grid)) == "4:2:1");
  CHECK(sizes(printed(producer_before_consumer<direct{.chunks = 8, .ratio = halving}>{}, 2, grid)) ==
        "128:64:32:16:8:4:2:1");
  CHECK(sizes(printed(producer_before_consumer<direct{.chunks = 9, .ratio = halving}>{}, 2, grid)) ==
        "256:128:64:32:16:8:...:1");
}
