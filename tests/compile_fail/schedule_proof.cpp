// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Strategies that are wrong in one place each: the schedule must not compile, and must name the rule.
#include <tpoverlap/schedule/schedule.hpp>
#include <tpoverlap/strategies/gather_strategies.hpp>
#include <tpoverlap/strategies/reduction_strategies.hpp>

using namespace tpoverlap;

namespace engine {

enum class mistake { none, exchange, peer, shard, chunk, lone_send };

/// A direct gather.
struct careless_gather {
  mistake made = mistake::none;
};

constexpr void emit(gather_builder& b, careless_gather const& options) {
  mistake const made = options.made;
  b.consume(b.own(0));
  for (int shard = 1; shard < b.ranks(); ++shard) {
    message_group hop;
    hop.send(b.own(0), b.back(shard));
    if (made != mistake::lone_send)
      hop.receive(b.landed(0, shard, 0), made == mistake::peer ? b.back(shard) : shard);
    if (made != mistake::exchange) b.exchange(hop);
    tile_range tiles = b.landed(0, shard, 0);
    if (made == mistake::shard) tiles.shard = 0;
    if (made == mistake::chunk) tiles.chunk = 1;
    b.consume(tiles);
  }
}

enum class sum_mistake { none, slot, twice, missing };

/// A direct ReduceScatter.
struct careless_sum {
  sum_mistake made = sum_mistake::none;
};

constexpr void emit(reduction_builder& b, careless_sum const& options) {
  sum_mistake const made = options.made;
  for (int shard = 0; shard < b.ranks(); ++shard) b.produce(b.partial(shard, shard, 0));
  if (made == sum_mistake::twice) b.produce(b.partial(1, 1, 0), access_mode::accumulate);
  for (int shard = 1; shard < b.ranks(); ++shard) {
    b.exchange(message_group{}
                   .send(b.partial(shard, shard, 0), shard)
                   .receive(b.landing(shard, 0, 0), b.back(shard)));
  }
  int const partner = made == sum_mistake::slot ? 1 : 0;
  b.add(b.output(0, 0), b.partial(partner, partner, 0), b.landing(1, 0, 0));
  for (int shard = 2; shard < b.ranks() - (made == sum_mistake::missing ? 1 : 0); ++shard) {
    b.add_into(b.output(0, 0), b.landing(shard, 0, 0));
  }
}

}  // namespace engine

template <engine::mistake Made>
using gathers = schedule<producer_before_consumer<engine::careless_gather{Made}>, 4>;
template <engine::sum_mistake Made>
using sums = schedule<consumer_before_reduction<engine::careless_sum{Made}>, 4>;

static_assert(gathers<engine::mistake::none>::verdict.verified());
static_assert(sums<engine::sum_mistake::none>::verdict.verified());
static_assert(schedule<producer_before_consumer<ring{.depth = 2}>, 4>::verdict.verified());
static_assert(schedule<producer_before_consumer<direct{.depth = 2}>, 4>::verdict.verified());

#if defined(CASE_1)  // CASE_1: E010
static_assert(gathers<engine::mistake::chunk>::verdict.verified());
#elif defined(CASE_2)   // CASE_2: E010
static_assert(gathers<engine::mistake::shard>::verdict.verified());
#elif defined(CASE_3)   // CASE_3: E011
static_assert(schedule<producer_before_consumer<ring{.depth = 1}>, 4>::verdict.verified());
#elif defined(CASE_4)   // CASE_4: E012
static_assert(gathers<engine::mistake::exchange>::verdict.verified());
#elif defined(CASE_5)   // CASE_5: E012
static_assert(sums<engine::sum_mistake::missing>::verdict.verified());
#elif defined(CASE_6)   // CASE_6: E013
static_assert(sums<engine::sum_mistake::slot>::verdict.verified());
#elif defined(CASE_7)   // CASE_7: E013
static_assert(schedule<producer_before_consumer<direct{.depth = 1}>, 4>::verdict.verified());
#elif defined(CASE_8)   // CASE_8: E014
static_assert(sums<engine::sum_mistake::twice>::verdict.verified());
#elif defined(CASE_9)   // CASE_9: E015
static_assert(gathers<engine::mistake::peer>::verdict.verified());
#elif defined(CASE_10)  // CASE_10: E015
static_assert(gathers<engine::mistake::lone_send>::verdict.verified());
#endif
