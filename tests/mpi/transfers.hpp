// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Messages whose bytes both ends can make, and what the tests of transfers share.
#pragma once

#include "ranks.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace tpoverlap_test {

using octets = std::vector<std::uint8_t>;

/// The bytes of the message `number` from one rank to another.
[[nodiscard]] inline std::uint8_t byte_at(int from, int to, int number, std::size_t index) {
  auto const mixed = (index + 1) * 0x9e3779b97f4a7c15u +
                     static_cast<std::uint64_t>(from * 4099 + to * 131 + number) * 0xbf58476d1ce4e5b9u;
  return static_cast<std::uint8_t>(mixed >> 40);
}

[[nodiscard]] inline octets made(int from, int to, int number, std::size_t bytes) {
  octets data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = byte_at(from, to, number, i);
  return data;
}

/// Messages of one exchange, with their memory; `check` compares what has come.
class messages_of {
 public:
  explicit messages_of(int rank) : rank_{rank} {}

  void send(int peer, std::size_t bytes) {
    auto& data = keep(made(rank_, peer, sent_to_[index(peer)]++, bytes));
    halves_.push_back({message::direction::send, peer, data.data(), bytes});
  }
  void receive(int peer, std::size_t bytes) {
    auto& data = keep(octets(bytes, 0xee));
    expected_.push_back({halves_.size(), peer, come_from_[index(peer)]++});
    halves_.push_back({message::direction::receive, peer, data.data(), bytes});
  }

  [[nodiscard]] std::span<message const> halves() const { return halves_; }

  void check(std::string const& what) const {
    for (auto const& each : expected_) {
      auto const& half = halves_[each.half];
      auto const* const data = static_cast<std::uint8_t const*>(half.data);
      for (std::size_t i = 0; i < half.bytes; ++i)
        if (data[i] != byte_at(each.peer, rank_, each.number, i))
          throw std::runtime_error{what + ": byte " + std::to_string(i) + " of message " +
                                   std::to_string(each.number) + " of " + std::to_string(half.bytes) +
                                   " bytes from rank " + std::to_string(each.peer)};
    }
  }

 private:
  struct expectation {
    std::size_t half;
    int peer;
    int number;
  };

  static std::size_t index(int peer) { return static_cast<std::size_t>(peer); }
  octets& keep(octets data) { return *memory_.emplace_back(std::make_unique<octets>(std::move(data))); }

  int rank_;
  int sent_to_[8]{};
  int come_from_[8]{};
  std::vector<std::unique_ptr<octets>> memory_;
  std::vector<message> halves_;
  std::vector<expectation> expected_;
};

/// Collectives of whatever pieces against plain loops; `elements(shard)` is the size of each.
template <class Elements>
void run_collectives(mpi::communicator& comm, int lane, Elements elements) {
  int const me = comm.rank();
  int const size = comm.size();
  auto const own = static_cast<std::size_t>(me);
  auto const contribution = [](int rank, int shard, std::size_t i) {
    return static_cast<float>(byte_at(rank, shard, 7, i)) / 7.0F;
  };
  auto const sum = [&](int shard, std::size_t i) {
    float total = contribution((shard + 1) % size, shard, i);
    for (int r = 2; r <= size; ++r) total += contribution((shard + r) % size, shard, i);
    return total;
  };
  std::vector<std::vector<float>> shards(static_cast<std::size_t>(size));
  auto const refill = [&] {
    for (int s = 0; s < size; ++s) {
      auto& shard = shards[static_cast<std::size_t>(s)];
      shard.resize(static_cast<std::size_t>(elements(s)));
      for (std::size_t i = 0; i < shard.size(); ++i) shard[i] = contribution(me, s, i);
    }
  };
  auto const pieces = [&] {
    std::vector<piece> made;
    for (auto& each : shards) made.push_back({each.data(), static_cast<std::int64_t>(each.size())});
    return made;
  };
  auto const holds = [&](std::vector<float> const& is, int shard, auto value, char const* what) {
    for (std::size_t i = 0; i < is.size(); ++i)
      if (is[i] != value(shard, i))
        throw std::runtime_error{std::string{what} + ": element " + std::to_string(i) + " of " +
                                 std::to_string(is.size()) + " of shard " + std::to_string(shard)};
  };
  auto const all_hold = [&](auto value, char const* what) {
    for (int s = 0; s < size; ++s) holds(shards[static_cast<std::size_t>(s)], s, value, what);
  };
  auto const by_owner = [&](int shard, std::size_t i) { return contribution(shard, shard, i); };

  refill();
  std::vector<float> result(shards[own].size(), -1.0F);
  comm.reduce_scatter(lane, pieces(), result.data(), element::float32);
  comm.wait(comm.lane(lane));
  holds(result, me, sum, "reduce_scatter");
  all_hold([&](int s, std::size_t i) { return contribution(me, s, i); }, "reduce_scatter's input");

  comm.reduce_scatter(lane, pieces(), shards[own].data(), element::float32);
  comm.wait(comm.lane(lane));
  holds(shards[own], me, sum, "reduce_scatter in place");

  refill();
  comm.all_gather(lane, shards[own].data(), pieces(), element::float32);
  comm.wait(comm.lane(lane));
  all_hold(by_owner, "all_gather in place");

  refill();
  std::vector<float> const mine = shards[own];
  shards[own].assign(shards[own].size(), -1.0F);
  comm.all_gather(lane, mine.data(), pieces(), element::float32);
  comm.wait(comm.lane(lane));
  all_hold(by_owner, "all_gather");

  refill();
  comm.all_reduce(lane, pieces(), element::float32);
  comm.wait(comm.lane(lane));
  all_hold(sum, "all_reduce");
}

}  // namespace tpoverlap_test
