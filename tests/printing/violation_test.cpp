// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "programs.hpp"

#include <support/catch.hpp>

#include <tpoverlap/schedule/print_text.hpp>
#include <tpoverlap/schedule/verify.hpp>

#include <string>

using namespace tpoverlap;
using namespace printing_test;

namespace {

std::string verdict_on(program_view const& p) { return to_text(verify(p), p); }

}  // namespace

TEST_CASE("a schedule that is right is called so", "[violation]") {
  for_each_program([](program_view const& p) {
    CHECK(verdict_on(p) == "The schedule is right: every rule holds on every rank.");
  });
}

TEST_CASE("a missing wait is a race between two operations", "[violation]") {
  editable_program program = copy_of(producer_before_consumer<ring{}>{}, 3);
  program.operations[4].waits = 0;
  CHECK(
      verdict_on(program.view()) ==
      "race, as seen from rank 0: operation 1 (exchange, communication) receives gathered shard 2 chunk 0, "
      "operation 4 (gemm, compute) reads gathered shard 2 chunk 0, and nothing orders the two. Give the tile "
      "more slots (a larger `depth`, or 0 for a slot a shard), or emit the operations so that one can wait "
      "for the other.");
}

TEST_CASE("a ring with one landing slot sends what it overwrites", "[violation]") {
  CHECK(printed(producer_before_consumer<ring{.depth = 1}>{}, 4, verdict_on) ==
        "race, as seen from rank 0: operation 3 (exchange, communication) sends gathered shard 3 chunk 0 in "
        "slot 0 and receives gathered shard 2 chunk 0 in slot 0, and nothing orders the two. Give the tile "
        "more "
        "slots (a larger `depth`, or 0 for a slot a shard), or emit the operations so that one can wait for "
        "the other.");
}

TEST_CASE("a slot that holds another shard is named with what it is taken for", "[violation]") {
  CHECK(printed(producer_before_consumer<direct{.depth = 1}>{}, 3, verdict_on) ==
        "wrong tile, as seen from rank 0: operation 4 (gemm, compute) reads gathered shard 1 chunk 0 in slot "
        "0, "
        "but another shard or chunk lies there, or is to be put there. Correct the shard, slot or chunk that "
        "the strategy names, or give the tile more slots (a larger `depth`), so that it is used before the "
        "next one lands.");
}

TEST_CASE("a join that does not wait for a lane names what may still run", "[violation]") {
  editable_program program = copy_of(consumer_before_reduction<ring{}>{}, 2);
  program.operations[5].waits = 0;
  std::string const said = verdict_on(program.view());
  CAPTURE(said);
  CHECK(count_of(said, "join, as seen from rank 0: operation 2 (exchange, communication)") == 1);
  CHECK(count_of(said, "may still run when the schedule has ended") == 1);
}

TEST_CASE("an incomplete result is found at the end", "[violation]") {
  editable_program program = copy_of(producer_before_consumer<ring{}>{}, 3);
  program.operations[5].first_access = program.operations[4].first_access;  // shard 2 twice, shard 1 never
  CHECK(verdict_on(program.view()) ==
        "coverage, as seen from rank 0: output shard 1 chunk 0 lacks a part of the result when the schedule "
        "ends. Emit the exchange, GEMM or collective that fills it.");
}

TEST_CASE("every rule has a verdict with its operations, its tile and an advice", "[violation]") {
  editable_program const program = copy_of(producer_before_consumer<ring{}>{}, 3);
  // Operation 3 sends shard 2 and receives shard 1; operation 5 reads shard 1.
  auto const words = [&](rule broken) {
    return to_text(violation{broken, 1, 3, 5, gather_buffer::gathered, 1, 0}, program.view());
  };
  struct expectation {
    rule broken;
    char const* begin;
  };
  for (auto const& [broken, begin] : {
           expectation{rule::structure,
                       "structure, as seen from rank 1: operation 3 (exchange, communication) is out"},
           expectation{rule::race,
                       "race, as seen from rank 1: operation 3 (exchange, communication) receives gathered "
                       "shard 2 chunk 0, operation 5 (gemm, compute) reads gathered shard 2 chunk 0, and"},
           expectation{rule::coverage, "coverage, as seen from rank 1: operation 3 (exchange, communication) "
                                       "receives gathered shard 2 chunk 0 before"},
           expectation{rule::wrong_tile, "wrong tile, as seen from rank 1: operation 3 (exchange, "
                                         "communication) receives gathered shard 2 chunk 0, but"},
           expectation{rule::counted_twice,
                       "counted twice, as seen from rank 1: operation 3 (exchange, communication) adds a "
                       "contribution to gathered shard 2 chunk 0 that"},
           expectation{rule::matching, "matching, as seen from rank 1: operation 3 (exchange, communication) "
                                       "receives gathered shard 2 chunk 0, but"},
           expectation{rule::progress, "progress, as seen from rank 1: operation 3 (exchange, communication) "
                                       "waits for operation 5 (gemm, compute), which"},
           expectation{rule::join,
                       "join, as seen from rank 1: operation 3 (exchange, communication) may still run"},
           expectation{rule::reuse, "reuse, as seen from rank 1: operation 5 (gemm, compute) does not wait"},
       }) {
    std::string const text = words(broken);
    CAPTURE(text);
    CHECK(text.substr(0, std::string{begin}.size()) == begin);
    CHECK(count_of(text, ". ") == 1);  // what, and what to do
    CHECK(text.back() == '.');
  }
  CHECK(to_text(violation{rule::structure}, program.view()).find("lacks a fork or a join") !=
        std::string::npos);
  CHECK(to_text(violation{rule::progress, 0, 3, 99}, program.view())
            .find("operation 99 (which does not exist)") != std::string::npos);
}
