// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A policy as values, for tests that are compiled once and learn the policy at run time, and the pieces and orders that
//! its documentation promises, written out independently of the library.
#pragma once

#include "values.hpp"

#include <tpoverlap/policy/dependency.hpp>

#include <string>
#include <vector>

namespace tpoverlap_test {

enum class routing { blocking, ring, direct, pipeline };

struct policy_facts {
  routing route = routing::blocking;
  int chunks = 1;
  direction way = direction::forward;
  int depth = 0;
  chunk_ratio ratio;
  gather gathers;     ///< of producer_before_consumer
  reduction reduces;  ///< of consumer_before_reduction
};

constexpr policy_facts facts_of(blocking const&) { return {}; }
constexpr policy_facts facts_of(ring const& s) {
  return {routing::ring, s.chunks, s.way, s.depth, s.ratio, {}, {}};
}
constexpr policy_facts facts_of(direct const& s) {
  return {routing::direct, s.chunks, direction::forward, s.depth, s.ratio, {}, {}};
}
constexpr policy_facts facts_of(pipeline const& s) {
  return {routing::pipeline, s.chunks, direction::forward, 0, s.ratio, {}, {}};
}

template <auto Strategy, gather Options>
constexpr policy_facts facts_of(producer_before_consumer<Strategy, Options>) {
  policy_facts facts = facts_of(Strategy);
  facts.gathers = Options;
  return facts;
}
template <auto Strategy, reduction Options>
constexpr policy_facts facts_of(consumer_before_reduction<Strategy, Options>) {
  policy_facts facts = facts_of(Strategy);
  facts.reduces = Options;
  return facts;
}

[[nodiscard]] std::string name_of(policy_facts const& facts, int ranks);

/// A range of rows that a functor is given in one piece, and the shard it belongs to (-1 for all).
struct row_piece {
  int shard = -1;
  int chunk = 0;
  row_range rows;
};

/// Relative sizes of the chunks of a shard that is gathered, or reduced.
[[nodiscard]] std::vector<int> gathered_weights(policy_facts const& facts);
[[nodiscard]] std::vector<int> reduced_weights(policy_facts const& facts);

/// The pieces that a gather hands to its functor, in the order in which `rank` does so.
[[nodiscard]] std::vector<row_piece> gathered_pieces(policy_facts const& facts,
                                                     std::vector<row_range> const& shards, int rank);

/// The pieces that a reduction asks its functor for.
[[nodiscard]] std::vector<row_piece> partial_pieces(policy_facts const& facts,
                                                    std::vector<row_range> const& shards);

/// The ranks whose contributions to chunk `chunk` of `owner`'s shard are added, first to last.
[[nodiscard]] std::vector<int> order_of_addition(policy_facts const& facts, int ranks, int owner, int chunk);

}  // namespace tpoverlap_test
