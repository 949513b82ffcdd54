// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Programs that are wrong in one known way each: both `verify` and the oracle have to say which. This is what shows
// that the oracle can fail at all.

#include "../support/catch.hpp"
#include "brute_force_oracle.hpp"
#include "hand_made.hpp"

#include <tpoverlap/schedule/verify.hpp>

#include <string>

using namespace tpoverlap;
using namespace tpoverlap_test;

namespace {

using gathering = hand_made_gather;
using reducing = hand_made_reduction;

void expect(editable_program const& p, rule broken, reason why) {
  CHECK(std::string{name_of(verify(p.view()).broken)} == name_of(broken));
  CHECK(std::string{name_of(judge(p.view()).why)} == name_of(why));
}

void drop_waits(editable_program& p, int i) { p.op(i).waits = 0; }

tpoverlap::tile_access& use_of(editable_program& p, int i, int a) { return p.use(p.op(i).first_access + a); }

}  // namespace

TEST_CASE("hand-made programs are safe before they are broken", "[hand_made]") {
  expect(gathering::make(), rule::none, reason::safe);
  expect(reducing::make(), rule::none, reason::safe);
}

TEST_CASE("structure", "[hand_made]") {
  editable_program p = gathering::make();
  SECTION("a chunk that does not exist") { use_of(p, gathering::own_gemm, 1).tiles.chunk = 1; }
  SECTION("a slot that does not exist") { use_of(p, gathering::own_gemm, 1).tiles.slot = 2; }
  SECTION("a buffer that does not exist") { use_of(p, gathering::own_gemm, 1).tiles.buffer = 3; }
  SECTION("a shard that does not exist") { use_of(p, gathering::own_gemm, 1).tiles.shard = -1; }
  SECTION("a shard in another shard's slot") { use_of(p, gathering::own_gemm, 1).tiles.shard = 1; }
  SECTION("a peer that does not exist") { use_of(p, gathering::exchange, 0).peer = 2; }
  SECTION("a message to itself") { use_of(p, gathering::exchange, 0).peer = 0; }
  SECTION("a GEMM with a peer") { use_of(p, gathering::own_gemm, 0).peer = 1; }
  SECTION("a lane that does not exist") { p.op(gathering::own_gemm).lane = 2; }
  SECTION("a GEMM without a result") { use_of(p, gathering::own_gemm, 1).mode = access_mode::read; }
  SECTION("a fork in the middle") { p.op(gathering::own_gemm).kind = operation_kind::fork; }
  SECTION("no fork") { p.op(0).kind = operation_kind::join; }
  SECTION("a join on another lane") { p.op(gathering::join).lane = 1; }
  SECTION("a halving of three ranks") { p.group = {3, rank_group::kind::exclusive_or}; }
  SECTION("an event that does not exist") { p.op(gathering::exchange).event = 7; }
  SECTION("a buffer of all shards with room for one") {
    p.buffers[gathering::output].slots = 1;
    use_of(p, gathering::other_gemm, 1).tiles = gathering::result(0);
  }
  SECTION("an own shard of two slots") { p.buffers[gathering::input].slots = 2; }
  expect(p, rule::structure, reason::structure);
}

TEST_CASE("a message of a tile that does not lie in one piece", "[hand_made]") {
  // Chunks 0 and 1 of a shard are apart where all shards' chunks 0 come first.
  editable_program p = gathering::make();
  p.chunks = 2;
  p.weights = {1, 1};
  p.buffers[gathering::gathered].arrangement = layout::by_chunk;
  for (tpoverlap::tile_access& use : p.accesses) use.tiles.chunks = 2;
  expect(p, rule::structure, reason::structure);
}

TEST_CASE("races", "[hand_made]") {
  SECTION("a GEMM that does not wait for its tile") {
    editable_program p = gathering::make();
    drop_waits(p, gathering::other_gemm);
    expect(p, rule::race, reason::race);
  }
  SECTION("a message that does not wait for its tile") {
    editable_program p = reducing::make();
    p.waits[static_cast<std::size_t>(p.op(reducing::exchange).first_wait)] = reducing::fork;
    p.op(reducing::fork).event = p.events++;
    expect(p, rule::race, reason::race);
  }
  SECTION("two accesses in one operation") {
    editable_program p = reducing::make();
    use_of(p, reducing::reduce, 0).tiles = reducing::part(0);
    expect(p, rule::race, reason::race);
  }
  SECTION("one event for two operations") {
    // The second record takes the place of the first, which then nobody waits for.
    editable_program p = gathering::make();
    p.op(gathering::own_gemm).event = p.op(gathering::exchange).event;
    CHECK(!verify(p.view()).verified());
    CHECK(!judge(p.view()).safe());
  }
}

TEST_CASE("coverage", "[hand_made]") {
  SECTION("a tile that never arrives") {
    editable_program p = gathering::make();
    p.op(gathering::exchange) = {operation_kind::copy,
                                 1,
                                 p.op(gathering::exchange).first_access,
                                 2,
                                 p.op(gathering::exchange).first_wait,
                                 1,
                                 p.op(gathering::exchange).event};
    use_of(p, gathering::exchange, 0) = {gathering::own(), access_mode::read};
    use_of(p, gathering::exchange, 1) = {{gathering::gathered, 0, 1, 0, 0, 1}, access_mode::write};
    expect(p, rule::coverage, reason::coverage);
  }
  SECTION("a result that nobody computes") {
    editable_program p = gathering::make();
    use_of(p, gathering::own_gemm, 1).tiles = gathering::result(1);
    use_of(p, gathering::own_gemm, 0).tiles = gathering::other();
    p.waits.push_back(gathering::exchange);
    p.op(gathering::own_gemm).first_wait = static_cast<int>(p.waits.size()) - 1;
    p.op(gathering::own_gemm).waits = 1;
    expect(p, rule::coverage, reason::coverage);
  }
  SECTION("a sum that lacks a part") {
    editable_program p = reducing::make();
    p.op(reducing::reduce).kind = operation_kind::copy;
    p.op(reducing::reduce).accesses = 2;
    expect(p, rule::coverage, reason::coverage);
  }
}

TEST_CASE("wrong tiles", "[hand_made]") {
  SECTION("a GEMM that writes another shard's result") {
    editable_program p = gathering::make();
    use_of(p, gathering::own_gemm, 1).tiles = gathering::result(1);
    expect(p, rule::wrong_tile, reason::wrong_tile);
  }
  SECTION("a partial that is taken for another shard's") {
    editable_program p = reducing::make();
    use_of(p, reducing::own_gemm, 0).tiles.shard = 1;
    expect(p, rule::wrong_tile, reason::wrong_tile);
  }
  SECTION("a GEMM that reads nothing where a shard should be multiplied") {
    editable_program p = gathering::make();
    p.op(gathering::own_gemm).first_access += 1;
    p.op(gathering::own_gemm).accesses = 1;
    CHECK(!verify(p.view()).verified());
    CHECK(!judge(p.view()).safe());
  }
  SECTION("a copy where a shard should be multiplied") {
    editable_program p = gathering::make();
    p.op(gathering::own_gemm).kind = operation_kind::copy;
    CHECK(!verify(p.view()).verified());
    CHECK(!judge(p.view()).safe());
  }
}

TEST_CASE("contributions that are counted twice", "[hand_made]") {
  editable_program p = reducing::make();
  SECTION("by a GEMM") {
    use_of(p, reducing::own_gemm, 0) = {reducing::part(1), access_mode::accumulate};
    p.waits[static_cast<std::size_t>(p.op(reducing::exchange).first_wait)] = reducing::own_gemm;
  }
  SECTION("by an addition") { use_of(p, reducing::reduce, 2).tiles = reducing::landed(); }
  expect(p, rule::counted_twice, reason::counted_twice);
}

TEST_CASE("messages without their other half", "[hand_made]") {
  editable_program p = reducing::make();
  SECTION("no receive") {
    // Somebody else has to fill the landing slot.
    p.op(reducing::exchange).accesses = 1;
    use_of(p, reducing::own_gemm, 0).tiles = reducing::landed();
    use_of(p, reducing::reduce, 2).tiles = reducing::landed();
  }
  SECTION("another tile") {
    use_of(p, reducing::exchange, 0).tiles = reducing::part(0);
    p.waits[static_cast<std::size_t>(p.op(reducing::exchange).first_wait)] = reducing::own_gemm;
  }
  SECTION("another type") { p.buffers[reducing::landing].element = element_role::reduction; }
  expect(p, rule::matching, reason::matching);
}

TEST_CASE("collectives between buffers of different types", "[hand_made]") {
  editable_program p;
  p.group = {2};
  p.buffers = {
      {"output", storage::caller, layout::own, element_role::output, 1, content::nothing, content::sum},
      {"partial", storage::workspace, layout::by_shard, element_role::reduction, 2}};
  p.add(operation_kind::fork, 0, {});
  p.add(operation_kind::gemm, 0, {{{1, 0, 2, 0, 0, 1}, access_mode::write}});
  p.add(operation_kind::reduce_scatter, 1,
        {{{0, 0, 1, 0, 0, 1}, access_mode::write}, {{1, 0, 2, 0, 0, 1}, access_mode::read}}, {1});
  p.add(operation_kind::join, 0, {}, {2});
  CHECK(!verify(p.view()).verified());
  CHECK(judge(p.view()).why == reason::matching);
  p.buffers[1].element = element_role::output;
  expect(p, rule::none, reason::safe);
}

TEST_CASE("waits that stop everything", "[hand_made]") {
  editable_program p = gathering::make();
  SECTION("for something issued later") {
    p.waits[static_cast<std::size_t>(p.op(gathering::exchange).first_wait)] = gathering::own_gemm;
    p.op(gathering::own_gemm).event = p.events++;
  }
  SECTION("for itself") {
    p.waits[static_cast<std::size_t>(p.op(gathering::exchange).first_wait)] = gathering::exchange;
  }
  SECTION("for something that records no event") { p.op(gathering::exchange).event = -1; }
  expect(p, rule::progress, reason::progress);
}

TEST_CASE("a lane that is not joined", "[hand_made]") {
  editable_program p = gathering::make();
  drop_waits(p, gathering::join);
  expect(p, rule::none, reason::safe);  // the last GEMM waits for the lane, too
  p.op(gathering::other_gemm).lane = 2;
  p.lanes = 3;
  expect(p, rule::join, reason::join);
}

TEST_CASE("an operation that may meet the call before", "[hand_made]") {
  editable_program p = gathering::make();
  drop_waits(p, gathering::exchange);
  expect(p, rule::reuse, reason::reuse);
}
