// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Missing and wrong waits. `synchronize` never makes them, so that they are written by hand here.
#include <tpoverlap/schedule/proof.hpp>
#include <tpoverlap/schedule/verify.hpp>

using namespace tpoverlap;

enum class mistake { none, race, later, no_event, join, reuse };

/// fork | exchange on lane 1 | GEMM of the own shard, GEMM of the other one on lane 2 | join. The other GEMM's lane is joined,
/// and with it the exchange's.
constexpr violation verdict_on(mistake made) {
  buffer const buffers[] = {
      {"input", storage::caller, layout::own, element_role::input, 1, content::shard_piece},
      {"gathered", storage::workspace, layout::by_shard, element_role::input, 2},
      {"output", storage::caller, layout::by_shard, element_role::output, 2, content::nothing,
       content::shard_piece}};
  tile_range const own{0, 0, 1, 0, 0, 1};
  tile_range const other{1, 1, 1, 1, 0, 1};
  tile_access const accesses[] = {{own, access_mode::read, 1}, {other, access_mode::write, 1},
                                  {own, access_mode::read},    {{2, 0, 1, 0, 0, 1}, access_mode::write},
                                  {other, access_mode::read},  {{2, 1, 1, 1, 0, 1}, access_mode::write}};
  int const weights[] = {1};
  // exchange: fork; other GEMM: exchange; join: exchange, other GEMM.
  int waits[] = {0, 1, 1, 3};
  operation operations[] = {{operation_kind::fork, 0, 0, 0, 0, 0, 0},
                            {operation_kind::exchange, 1, 0, 2, 0, 1, 1},
                            {operation_kind::gemm, 0, 2, 2, 0, 0},
                            {operation_kind::gemm, 2, 4, 2, 1, 1, 2},
                            {operation_kind::join, 0, 0, 0, 2, 2}};
  switch (made) {
    case mistake::none: break;
    case mistake::race: waits[1] = 0; break;
    case mistake::later: waits[0] = 3; break;
    case mistake::no_event: operations[1].event = -1; break;
    case mistake::join: operations[4].waits = 1; break;
    case mistake::reuse: operations[1].waits = 0; break;
  }
  return verify({rank_group{2}, 1, 3, 3, weights, buffers, operations, accesses, waits, 3, 5, 6, 4});
}

static_assert(proof<verdict_on(mistake::none)>::holds);

#if defined(CASE_1)  // CASE_1: E011
static_assert(proof<verdict_on(mistake::race)>::holds);
#elif defined(CASE_2)  // CASE_2: E016
static_assert(proof<verdict_on(mistake::later)>::holds);
#elif defined(CASE_3)  // CASE_3: E016
static_assert(proof<verdict_on(mistake::no_event)>::holds);
#elif defined(CASE_4)  // CASE_4: E017
static_assert(proof<verdict_on(mistake::join)>::holds);
#elif defined(CASE_5)  // CASE_5: E018
static_assert(proof<verdict_on(mistake::reuse)>::holds);
#endif
