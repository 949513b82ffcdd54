// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "policy_facts.hpp"

namespace tpoverlap_test {

std::string name_of(policy_facts const& facts, int ranks) {
  static char const* const routes[] = {"blocking", "ring", "direct", "pipeline"};
  static char const* const ways[] = {"", " backward", " both ways"};
  std::string name = routes[static_cast<int>(facts.route)];
  name += ways[static_cast<int>(facts.way)];
  name += ", " + std::to_string(facts.chunks) + " chunks";
  if (facts.ratio.earlier != facts.ratio.later)
    name += " " + std::to_string(facts.ratio.earlier) + ":" + std::to_string(facts.ratio.later);
  if (facts.depth > 0) name += ", depth " + std::to_string(facts.depth);
  if (facts.gathers.dimension == gathered_dimension::contraction) name += ", contraction";
  if (facts.gathers.operand == gathered_operand::right) name += " of the right operand";
  if (facts.gathers.keep_gathered) name += ", kept";
  if (facts.reduces.result == reduction_result::all_reduce) name += ", everywhere";
  if (facts.reduces.accumulate == accumulation::fused) name += ", fused";
  if (facts.reduces.reduce_in == reduction_type::float32) name += ", in float32";
  if (facts.reduces.reduce_in == reduction_type::float64) name += ", in float64";
  return name + ", " + std::to_string(ranks) + " ranks";
}

namespace {

row_range everything(std::vector<row_range> const& shards) { return {0, shards.back().end()}; }

row_piece piece_of(std::vector<row_range> const& shards, int shard, int chunk,
                   std::vector<int> const& weights) {
  return {shard, chunk, chunk_of(shards[static_cast<std::size_t>(shard)], chunk, weights)};
}

/// `chunks` numbers, each to the next as the ratio says.
std::vector<int> graded(chunk_ratio ratio, int chunks) {
  std::vector<int> weights(1, 1);
  for (int c = 1; c < chunks; ++c) {
    int const last = weights.back() * ratio.later;
    for (int& weight : weights) weight *= ratio.earlier;
    weights.push_back(last);
  }
  return weights;
}

}  // namespace

std::vector<int> gathered_weights(policy_facts const& facts) { return graded(facts.ratio, facts.chunks); }

std::vector<int> reduced_weights(policy_facts const& facts) {
  if (facts.way != direction::both) return graded(facts.ratio, facts.chunks);
  std::vector<int> weights = graded(facts.ratio, (facts.chunks + 1) / 2);
  for (std::size_t c = 0; static_cast<int>(weights.size()) < facts.chunks; ++c) weights.push_back(weights[c]);
  return weights;
}

std::vector<row_piece> gathered_pieces(policy_facts const& facts, std::vector<row_range> const& shards,
                                       int rank) {
  int const ranks = static_cast<int>(shards.size());
  int const chunks = facts.chunks;
  std::vector<int> const weights = gathered_weights(facts);
  auto const at = [&](int step) { return ((rank + step) % ranks + ranks) % ranks; };
  std::vector<row_piece> pieces;
  auto const add = [&](int step, int chunk) { pieces.push_back(piece_of(shards, at(step), chunk, weights)); };

  switch (facts.route) {
    case routing::blocking: return {{-1, 0, everything(shards)}};
    case routing::pipeline:
      if (ranks == 1) return {{-1, 0, everything(shards)}};
      pieces.push_back({rank, 0, shards[static_cast<std::size_t>(rank)]});
      for (int c = 0; c < chunks; ++c)
        for (int step = 1; step < ranks; ++step) add(step, c);
      return pieces;
    case routing::direct:
      for (int step = 0; step < ranks; ++step)
        for (int c = 0; c < chunks; ++c) add(step, c);
      return pieces;
    case routing::ring: break;
  }
  // A shard that moves forward is met by the ranks before its owner last: forward brings rank - 1 first.
  int const toward = facts.way == direction::backward ? 1 : -1;
  if (facts.way != direction::both) {
    for (int step = 0; step < ranks; ++step)
      for (int c = 0; c < chunks; ++c) add(toward * step, c);
    return pieces;
  }
  for (int step = 0; 2 * step <= ranks; ++step) {
    bool const last_of_even = step > 0 && 2 * step == ranks;
    for (int c = 0; c < chunks; ++c) {
      bool const first_half = c < (chunks + 1) / 2;
      if (!last_of_even || first_half) add(-step, c);
      if (step > 0 && (!last_of_even || !first_half)) add(step, c);
    }
  }
  return pieces;
}

std::vector<row_piece> partial_pieces(policy_facts const& facts, std::vector<row_range> const& shards) {
  int const ranks = static_cast<int>(shards.size());
  bool const whole = facts.route == routing::blocking || (ranks == 1 && facts.route != routing::pipeline);
  if (whole) return {{-1, 0, everything(shards)}};
  std::vector<row_piece> pieces;
  for (int s = 0; s < ranks; ++s)
    for (int c = 0; c < facts.chunks; ++c) pieces.push_back(piece_of(shards, s, c, reduced_weights(facts)));
  return pieces;
}

std::vector<int> order_of_addition(policy_facts const& facts, int ranks, int owner, int chunk) {
  bool const goes_back =
      facts.route == routing::ring &&
      (facts.way == direction::backward || (facts.way == direction::both && chunk >= (facts.chunks + 1) / 2));
  std::vector<int> order;
  for (int i = 1; i <= ranks; ++i) order.push_back((owner + (goes_back ? ranks - i : i)) % ranks);
  return order;
}

}  // namespace tpoverlap_test
