// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Worlds and policies that are none.

#include <tpoverlap/tpoverlap.hpp>

using namespace tpoverlap;

namespace {

template <class Policy, class World>
using bound = overlap<Policy, World, host::communicator, host::reference_gemm<float>>;

using ring_gather = producer_before_consumer<ring{}>;

static_assert(sizeof(bound<ring_gather, world<1>>) > 0);

[[maybe_unused]] int size_of_world(int ranks) {
  return dispatch_world<1, 2>(ranks, []<class World>(World) { return World::size; });
}

}  // namespace

#if defined(CASE_1)  // CASE_1: E001
static_assert(world<0>::size == 0);
#elif defined(CASE_2)  // CASE_2: E001
static_assert(world<-1>::size == -1);
#elif defined(CASE_3)  // CASE_3: E009
static_assert(sizeof(bound<ring, world<2>>) > 0);
#elif defined(CASE_4)  // CASE_4: E009
static_assert(sizeof(bound<world<2>, ring_gather>) > 0);
#elif defined(CASE_5)  // CASE_5: E019
int size_of_none(int ranks) {
  return dispatch_world<>(ranks, []<class World>(World) { return World::size; });
}
#elif defined(CASE_6)  // CASE_6: E001
static_assert(sizeof(bound<ring_gather, world<0>>) > 0);
#endif
