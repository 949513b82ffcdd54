// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "programs.hpp"

#include <support/catch.hpp>

#include <tpoverlap/schedule/print_memory.hpp>

#include <string>

using namespace tpoverlap;
using namespace printing_test;

namespace {

constexpr reduction float64{.reduce_in = reduction_type::float64};
auto const memory = [](program_view const& p) { return to_memory(p); };

}  // namespace

TEST_CASE("the memory of a gather by ring", "[memory]") {
  CHECK(
      printed(producer_before_consumer<ring{.chunks = 2}>{}, 4, memory) ==
      R"(  input     caller     1 slot of one shard, 2 chunks a shard; the rank's own shard; the input's type
  gathered  workspace  4 slots of one shard each, 2 chunks a shard; shard after shard in rank order; the input's type
  output    caller     4 slots of one shard each, 2 chunks a shard; shard after shard in rank order; the output's type
  workspace in all: 4 shards of the input's type
)");
}

TEST_CASE("the memory of a reduction by ring leaves out what nothing touches", "[memory]") {
  CHECK(printed(consumer_before_reduction<ring{.depth = 2}, float64>{}, 4, memory) ==
        R"(  output   caller     1 slot of one shard, 1 chunk a shard; the rank's own shard; the output's type
  partial  workspace  3 slots of one shard each, 1 chunk a shard; each slot takes whichever shard comes; the output's type
  bucket   workspace  2 slots of one shard each, 1 chunk a shard; each slot takes whichever shard comes; the reduction's type
  workspace in all: 3 shards of the output's type and 2 shards of the reduction's type
)");
}

TEST_CASE("the memory of a pipeline lies chunk by chunk", "[memory]") {
  CHECK(
      printed(producer_before_consumer<pipeline{.chunks = 2}>{}, 2, memory) ==
      R"(  input     caller     1 slot of one shard, 2 chunks a shard; the rank's own shard; the input's type
  gathered  workspace  2 slots of one shard each, 2 chunks a shard; chunk 0 of every shard first, then chunk 1, ...; the input's type
  output    caller     2 slots of one shard each, 2 chunks a shard; shard after shard in rank order; the output's type
  workspace in all: 2 shards of the input's type
)");
}

TEST_CASE("chunks that are not alike have their sizes named", "[memory]") {
  CHECK(
      printed(producer_before_consumer<direct{.chunks = 3, .depth = 2, .ratio = halving}>{}, 3, memory) ==
      R"(  input     caller     1 slot of one shard, 3 chunks a shard, sized 4:2:1; the rank's own shard; the input's type
  gathered  workspace  2 slots of one shard each, 3 chunks a shard, sized 4:2:1; each slot takes whichever shard comes; the input's type
  output    caller     3 slots of one shard each, 3 chunks a shard, sized 4:2:1; shard after shard in rank order; the output's type
  workspace in all: 2 shards of the input's type
)");
}

TEST_CASE("what the caller keeps is not workspace, and a contraction has one result", "[memory]") {
  CHECK(printed(producer_before_consumer<direct{}, summed>{}, 2, memory) ==
        R"(  input     caller     1 slot of one shard, 1 chunk a shard; the rank's own shard; the input's type
  gathered  caller     2 slots of one shard each, 1 chunk a shard; shard after shard in rank order; the input's type
  output    caller     one matrix; not cut; the output's type
  workspace in all: none
)");
}

TEST_CASE("exactly the buffers that an operation touches are listed", "[memory]") {
  for_each_program([](program_view const& p) {
    std::string const text = to_memory(p);
    CAPTURE(text);
    int used = 0;
    for (int b = 0; b < p.buffer_count; ++b) {
      bool touched = false;
      for (int i = 1; i < p.operation_count - 1; ++i) {
        operation const& op = p.operations[i];
        for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
          touched = touched || p.accesses[a].tiles.buffer == b;
        }
      }
      used += touched ? 1 : 0;
      CHECK(count_of(text, std::string{"  "} + p.buffers[b].name + " ") == (touched ? 1 : 0));
    }
    CHECK(static_cast<int>(lines_of(text).size()) == used + 1);
  });
}
