// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "../support/catch.hpp"
#include "builtin_policies.hpp"

#include <tpoverlap/schedule/schedule.hpp>
#include <tpoverlap/strategies/gather_strategies.hpp>

#include <algorithm>
#include <set>
#include <vector>

using namespace tpoverlap;
using namespace tpoverlap_test;

TEST_CASE("no wait is redundant", "[synchronize]") {
  long removed = 0;
  for (int chunks = 1; chunks <= most_chunks; ++chunks) {
    for (named_policy const& policy : builtin_policies(chunks)) {
      for (int ranks : {1, 2, 3, 4, 6, 8}) {
        editable_program p = policy.build(ranks);
        INFO(policy.name << ", P = " << ranks);
        for (operation& op : p.operations) {
          for (int w = op.first_wait; w < op.first_wait + op.waits; ++w) {
            int& taken_out = p.waits[static_cast<std::size_t>(w)];
            int& last = p.waits[static_cast<std::size_t>(op.first_wait + op.waits - 1)];
            std::swap(taken_out, last);
            --op.waits;
            bool const noticed = !verify(p.view()).verified();
            ++op.waits;
            std::swap(taken_out, last);
            if (!noticed)
              FAIL_CHECK("operation " << (&op - p.operations.data()) << " need not wait for " << taken_out);
            ++removed;
          }
        }
      }
    }
  }
  CHECK(removed > 50000);
}

TEST_CASE("events are recorded once, for somebody, and waits are for other lanes", "[synchronize]") {
  for (int chunks = 1; chunks <= 3; ++chunks) {
    for (named_policy const& policy : builtin_policies(chunks)) {
      for (int ranks : {1, 2, 3, 8}) {
        editable_program const p = policy.build(ranks);
        INFO(policy.name << ", P = " << ranks);
        std::set<int> recorded, awaited;
        for (operation const& op : p.operations) {
          if (op.event >= 0) CHECK(recorded.insert(op.event).second);
          std::set<int> lanes;
          for (int w = op.first_wait; w < op.first_wait + op.waits; ++w) {
            int const other = p.waits[static_cast<std::size_t>(w)];
            awaited.insert(p.op(other).event);
            CHECK(p.op(other).lane != op.lane);
            CHECK(lanes.insert(p.op(other).lane).second);
          }
        }
        CHECK(recorded == awaited);
        CHECK(static_cast<int>(recorded.size()) == p.events);
        CHECK((recorded.empty() || *recorded.rbegin() == p.events - 1));
      }
    }
  }
}

TEST_CASE("what a ring costs in events", "[synchronize]") {
  program_view const p = schedule<producer_before_consumer<ring{}>, 8>::program;
  int gemms = 0;
  int exchanges = 0;
  int records = 0;
  int waits = 0;
  for (int i = 0; i < p.operation_count; ++i) {
    operation const& op = p.operations[i];
    gemms += op.kind == operation_kind::gemm ? 1 : 0;
    exchanges += op.kind == operation_kind::exchange ? 1 : 0;
    records += op.event >= 0 ? 1 : 0;
    waits += op.waits;
  }
  CHECK(gemms == 8);
  CHECK(exchanges == 7);
  CHECK(p.operation_count == 8 + 7 + 2);
  CHECK(p.lanes == 2);
  // One record and one wait tell each GEMM that its shard is there; the fork adds one of each. The last GEMM joins.
  CHECK(records == 7 + 1);
  CHECK(waits == 7 + 1);
  CHECK(p.events == records);
  // With two landing slots, an exchange waits for the GEMM that frees its slot as well.
  program_view const tight = schedule<producer_before_consumer<ring{.depth = 2}>, 8>::program;
  CHECK(tight.wait_count == 8 + 5);
  CHECK(tight.events <= 2 * 7 + 2);
}

TEST_CASE("lanes that have nothing to tell each other need no events", "[synchronize]") {
  program_builder b{{4}, 1};
  int const buffer = b.add_buffer({"memory", storage::workspace, layout::by_slot, element_role::output, 2});
  b.emit(operation_kind::gemm, 0, {{{buffer, 0, 1, 0, 0, 1}, access_mode::write}});
  b.emit(operation_kind::gemm, 1, {{{buffer, 1, 1, 0, 0, 1}, access_mode::write}});
  b.emit(operation_kind::gemm, 1, {{{buffer, 1, 1, 0, 0, 1}, access_mode::write}});
  b.finish();
  synchronize(b);
  program_view const p = b.view();
  CHECK(p.operations[1].waits == 0);
  CHECK(p.operations[2].waits == 1);  // for the fork
  CHECK(p.operations[3].waits == 0);
  CHECK(p.operations[4].waits == 1);  // the join, for the last operation of lane 1
  CHECK(p.waits[p.operations[4].first_wait] == 3);
  CHECK(p.events == 2);
  CHECK(verify(p).verified());
}
