// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "programs.hpp"

#include <support/catch.hpp>

#include <tpoverlap/schedule/print_text.hpp>
#include <tpoverlap/schedule/verify.hpp>

#include <string>
#include <vector>

using namespace tpoverlap;
using namespace printing_test;

namespace {

auto text_for(int rank) {
  return [rank](program_view const& p) { return to_text(p, rank); };
}

}  // namespace

TEST_CASE("a gather by ring in words", "[text]") {
  auto const policy = producer_before_consumer<ring{}>{};
  CHECK(printed(policy, 3, text_for(0)) ==
        R"(  0  compute        fork      begins on the caller's stream
  1  communication  exchange  sends input shard 0 chunk 0 to rank 1, receives gathered shard 2 chunk 0 from rank 2; waits for 0
  2  compute        gemm      input shard 0 chunk 0 into output shard 0 chunk 0
  3  communication  exchange  sends gathered shard 2 chunk 0 to rank 1, receives gathered shard 1 chunk 0 from rank 2
  4  compute        gemm      gathered shard 2 chunk 0 into output shard 2 chunk 0; waits for 1
  5  compute        gemm      gathered shard 1 chunk 0 into output shard 1 chunk 0; waits for 3
  6  compute        join      ends on the caller's stream
)");
  CHECK(printed(policy, 3, text_for(2)) ==
        R"(  0  compute        fork      begins on the caller's stream
  1  communication  exchange  sends input shard 2 chunk 0 to rank 0, receives gathered shard 1 chunk 0 from rank 1; waits for 0
  2  compute        gemm      input shard 2 chunk 0 into output shard 2 chunk 0
  3  communication  exchange  sends gathered shard 1 chunk 0 to rank 0, receives gathered shard 0 chunk 0 from rank 1
  4  compute        gemm      gathered shard 1 chunk 0 into output shard 1 chunk 0; waits for 1
  5  compute        gemm      gathered shard 0 chunk 0 into output shard 0 chunk 0; waits for 3
  6  compute        join      ends on the caller's stream
)");
}

TEST_CASE("a reduction by ring in words", "[text]") {
  CHECK(printed(consumer_before_reduction<ring{}>{}, 2, text_for(1)) ==
        R"(  0  compute        fork      begins on the caller's stream
  1  compute        gemm      own contribution into partial shard 0 chunk 0 in slot 0
  2  communication  exchange  sends partial shard 0 chunk 0 in slot 0 to rank 0, receives bucket shard 1 chunk 0 in slot 1 from rank 0; waits for 1
  3  compute        gemm      own contribution into partial shard 1 chunk 0 in slot 1
  4  elementwise    reduce    bucket shard 1 chunk 0 in slot 1 + partial shard 1 chunk 0 in slot 1 into output shard 1 chunk 0; waits for 3, 2
  5  compute        join      ends on the caller's stream; waits for 4
)");
}

TEST_CASE("chunks that are not alike have their sizes in the last line", "[text]") {
  auto const last_line = [](std::string const& text) { return lines_of(text).back(); };
  CHECK(last_line(printed(producer_before_consumer<ring{.chunks = 3, .ratio = halving}>{}, 2, text_for(0))) ==
        "  sizes of a shard's chunks: 4:2:1");
  CHECK(last_line(printed(producer_before_consumer<ring{.chunks = 3}>{}, 2, text_for(0))).find("join") !=
        std::string::npos);
}

TEST_CASE("pipelines in words", "[text]") {
  CHECK(printed(producer_before_consumer<pipeline{.chunks = 2}>{}, 4, text_for(1)) ==
        R"(  0  compute        fork        begins on the caller's stream
  1  communication  all_gather  input shard 1 chunk 0 into gathered every shard chunk 0; waits for 0
  2  compute        gemm        input shard 1 chunks 0 and 1 into output shard 1 chunks 0 and 1
  3  communication  all_gather  input shard 1 chunk 1 into gathered every shard chunk 1
  4  compute        gemm        gathered every other shard chunk 0 into output every other shard chunk 0; waits for 1
  5  compute        gemm        gathered every other shard chunk 1 into output every other shard chunk 1; waits for 3
  6  compute        join        ends on the caller's stream
)");
  CHECK(printed(consumer_before_reduction<pipeline{.chunks = 1}>{}, 2, text_for(0)) ==
        R"(  0  compute        fork            begins on the caller's stream
  1  compute        gemm            own contribution into partial every shard chunk 0
  2  communication  reduce_scatter  partial every shard chunk 0 into output shard 0 chunk 0; waits for 1
  3  compute        join            ends on the caller's stream; waits for 2
)");
}

TEST_CASE("what is not cut, summed in place or added to has words of its own", "[text]") {
  CHECK(count_of(printed(independent_side_work<all_reduce{}>{}, 2, text_for(0)),
                 "sum over ranks of source every shard chunk 0, in place; waits for 0\n") == 1);
  CHECK(count_of(printed(independent_side_work<all_reduce{}>{}, 2, text_for(0)),
                 "own contribution into product\n") == 1);
  CHECK(count_of(printed(producer_before_consumer<direct{}, summed>{}, 2, text_for(0)),
                 "gathered shard 1 chunk 0 added to output; waits for 1\n") == 1);
}

TEST_CASE("every operation has one line, with its number, kind and waits", "[text]") {
  for_each_program([](program_view const& p) {
    for (int rank = 0; rank < p.group.ranks; ++rank) {
      std::vector<std::string> const lines = lines_of(to_text(p, rank));
      bool const graded = p.weights[0] != p.weights[p.chunks - 1];
      REQUIRE(static_cast<int>(lines.size()) == p.operation_count + (graded ? 1 : 0));
      for (int i = 0; i < p.operation_count; ++i) {
        operation const& op = p.operations[i];
        std::string const& line = lines[static_cast<std::size_t>(i)];
        CAPTURE(line);
        CHECK(std::stoi(line) == i);
        CHECK(line.find(std::string{"  "} + name_of(op.kind) + " ") != std::string::npos);
        CHECK(line.find('?') == std::string::npos);

        std::string waits;
        for (int w = 0; w < op.waits; ++w) {
          waits += (w == 0 ? "; waits for " : ", ") + std::to_string(p.waits[op.first_wait + w]);
        }
        CHECK(count_of(line, "waits for") == (op.waits > 0 ? 1 : 0));
        CHECK(line.substr(line.size() - waits.size()) == waits);
      }
    }
  });
}

TEST_CASE("every message names a peer that is another rank of the world", "[text]") {
  for_each_program([](program_view const& p) {
    for (int rank = 0; rank < p.group.ranks; ++rank) {
      std::string const text = to_text(p, rank);
      int messages = 0;
      for (int a = 0; a < p.access_count; ++a) messages += p.accesses[a].peer == no_peer ? 0 : 1;
      int named = 0;
      for (int peer = 0; peer < p.group.ranks; ++peer) {
        for (char const* end : {",", ";", "\n"}) {
          int const to = count_of(text, " to rank " + std::to_string(peer) + end);
          int const from = count_of(text, " from rank " + std::to_string(peer) + end);
          CHECK((peer != rank || to + from == 0));
          named += to + from;
        }
      }
      CHECK(named == messages);
    }
  });
}

TEST_CASE("a program that makes no sense is printed all the same", "[text]") {
  editable_program program = copy_of(producer_before_consumer<ring{}>{}, 3);
  program.operations[1].first_access = 1000;
  program.operations[2].lane = 7;
  program.operations[3].first_wait = -3;
  program.operations[3].waits = 2;
  program.accesses[static_cast<std::size_t>(program.operations[4].first_access)].tiles.buffer = 9;
  program.accesses[static_cast<std::size_t>(program.operations[5].first_access)].tiles.shard = 3;
  std::string const text = to_text(program.view(), 0);
  CHECK(lines_of(text).size() == 7);
  CHECK(count_of(text, "lane 7") == 1);
  CHECK(count_of(text, "(no such buffer)") == 1);
  CHECK(count_of(text, "gathered shard ? chunk 0") == 1);
  CHECK(verify(program.view()).broken == rule::structure);
  CHECK_FALSE(to_text(verify(program.view()), program.view()).empty());

  program_view no_world = program.view();
  no_world.group = {4, rank_group::kind::two_level, 0};
  CHECK(count_of(to_text(no_world, 0), "shard ?") > 0);
}
