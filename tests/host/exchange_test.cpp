// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Point-to-point messages: groups, rings, sizes, late ranks, lanes.

#include "../support/catch.hpp"
#include "rank_check.hpp"

#include <tpoverlap/host.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

using namespace tpoverlap;
using namespace std::chrono_literals;

TEST_CASE("a ring forwards every shard to every rank", "[exchange]") {
  auto const ranks = GENERATE(1, 2, 3, 5);
  host::run_ranks(ranks, [](host::communicator& comm) {
    auto const size = comm.size();
    auto const next = (comm.rank() + 1) % size;
    auto const previous = (comm.rank() + size - 1) % size;
    // Shards differ in size and one is empty.
    auto const count = [](int shard) { return static_cast<std::size_t>(shard) * 700; };
    std::vector<std::vector<int>> shards;
    for (int shard = 0; shard < size; ++shard)
      shards.emplace_back(count(shard), shard == comm.rank() ? 100 + shard : -1);
    for (int step = 0; step < size - 1; ++step) {
      auto& sent = shards[static_cast<std::size_t>((comm.rank() + size - step) % size)];
      auto& received = shards[static_cast<std::size_t>((previous + size - step) % size)];
      message const group[] = {send_to(next, sent.data(), sent.size()),
                               receive_from(previous, received.data(), received.size())};
      comm.exchange(1, group);
    }
    comm.wait(comm.lane(1));
    for (int shard = 0; shard < size; ++shard)
      for (int each : shards[static_cast<std::size_t>(shard)])
        rank_check(each == 100 + shard, "shard arrives");
  });
}

TEST_CASE("all transfers of a group progress together", "[exchange]") {
  host::run_ranks<4>([](host::communicator& comm) {
    // Everybody lists its receives first and in rank order, so no order of single messages could work.
    std::vector<int> received(4, -1);
    auto const mine = comm.rank();
    std::vector<message> group;
    for (int peer = 0; peer < 4; ++peer)
      group.push_back(receive_from(peer, &received[static_cast<std::size_t>(peer)], 1));
    for (int peer = 0; peer < 4; ++peer) group.push_back(send_to(peer, &mine, 1));  // to itself, too
    comm.exchange(3, group);
    group.clear();  // read before the call returned
    comm.wait(comm.lane(3));
    rank_check(received == std::vector<int>{0, 1, 2, 3}, "every rank's number arrives");
  });
}

TEST_CASE("messages between two ranks keep their order within a group and across groups", "[exchange]") {
  host::run_ranks<2>([](host::communicator& comm) {
    std::vector<int> data(6);
    if (comm.rank() == 0) {
      for (int i = 0; i < 6; ++i) data[static_cast<std::size_t>(i)] = i;
      message const all[] = {send_to(1, &data[0], 1), send_to(1, &data[1], 2), send_to(1, &data[3], 3)};
      comm.exchange(1, all);
    } else {
      message const first[] = {receive_from(0, &data[0], 1), receive_from(0, &data[1], 2)};
      message const second[] = {receive_from(0, &data[3], 3)};
      comm.exchange(1, first);
      comm.exchange(1, second);
    }
    comm.wait(comm.lane(1));
    rank_check(data == std::vector<int>{0, 1, 2, 3, 4, 5}, "messages arrive in order");
  });
}

TEST_CASE("many messages of one size between two ranks keep their order", "[exchange]") {
  // The receiver looks through its list while the sender posts: no later entry may take an earlier one's message.
  host::run_ranks<2>([](host::communicator& comm) {
    std::vector<int> out(64);
    std::vector<int> in(64);
    for (int call = 0; call < 100; ++call) {
      std::vector<message> group;
      for (std::size_t i = 0; i < 64; ++i) {
        out[i] = 64 * call + static_cast<int>(i);
        group.push_back(send_to(1 - comm.rank(), &out[i], 1));
        group.push_back(receive_from(1 - comm.rank(), &in[i], 1));
      }
      comm.exchange(1, group);
      comm.wait(comm.lane(1));
      rank_check(in == out, "messages arrive in order");
    }
  });
}

TEST_CASE("a send is complete when its data has been copied, and not before", "[exchange]") {
  std::atomic<bool> receiver_called{false};
  host::run_ranks<2>([&](host::communicator& comm) {
    int value = comm.rank();
    if (comm.rank() == 0) {
      message const group[] = {send_to(1, &value, 1)};
      comm.exchange(1, group);
      comm.wait(comm.lane(1));
      rank_check(receiver_called, "a send does not complete before the receiver has come");
      value = -1;
    } else {
      std::this_thread::sleep_for(20ms);
      receiver_called = true;
      message const group[] = {receive_from(0, &value, 1)};
      comm.exchange(1, group);
      comm.wait(comm.lane(1));
      rank_check(value == 0, "the value from before the reuse arrives");
    }
  });
}

TEST_CASE("lanes are independent of each other", "[exchange]") {
  host::run_ranks<2>([](host::communicator& comm) {
    // The ranks issue to two lanes in opposite orders; each lane's own order is the same on both.
    int in[2] = {-1, -1};
    int const out[2] = {10 + comm.rank(), 20 + comm.rank()};
    auto const peer = 1 - comm.rank();
    for (int i = 0; i < 2; ++i) {
      auto const which = comm.rank() == 0 ? i : 1 - i;
      message const group[] = {send_to(peer, &out[which], 1), receive_from(peer, &in[which], 1)};
      comm.exchange(1 + which, group);
    }
    comm.wait(comm.lane(1));
    comm.wait(comm.lane(2));
    rank_check(in[0] == 10 + peer && in[1] == 20 + peer, "each lane carries its own messages");
  });
}

TEST_CASE("a rank that is late but within the limit is waited for", "[exchange]") {
  host::run_ranks<2>(
      [](host::communicator& comm) {
        if (comm.rank() == 1) std::this_thread::sleep_for(60ms);
        int value = 7 * comm.rank();
        message const group[] = {comm.rank() == 1 ? send_to(0, &value, 1) : receive_from(1, &value, 1)};
        comm.exchange(1, group);
        comm.wait(comm.lane(1));
        rank_check(value == 7, "the value arrives");
      },
      {.time_limit = 20s});
}

TEST_CASE("exchanges are ordered with compute by events", "[exchange]") {
  host::run_ranks<2>([](host::communicator& comm) {
    host::stream compute;
    host::event ready;
    host::event arrived;
    std::vector<float> own(1000, 0.0F);
    std::vector<float> other(1000);
    std::vector<float> const one(1000, 1.0F);
    auto const peer = 1 - comm.rank();
    for (int call = 1; call <= 20; ++call) {
      host::backend::add(compute, own.data(), own.data(), one.data(), 1000);
      ready.record(compute);
      ready.wait(comm.lane(1));
      message const group[] = {send_to(peer, own.data(), own.size()),
                               receive_from(peer, other.data(), other.size())};
      comm.exchange(1, group);
      arrived.record(comm.lane(1));
      arrived.wait(compute);
      auto const expected = static_cast<float>(call);
      compute.enqueue([&other, expected] {
        for (float each : other) rank_check(each == expected, "the peer's sum of this call arrives");
      });
    }
    comm.wait(compute);
  });
}

TEST_CASE("ranks agree on words, and learn when they do not", "[exchange]") {
  host::run_ranks<3>([](host::communicator& comm) {
    auto const rank = static_cast<std::uint64_t>(comm.rank());
    std::vector<std::uint64_t> const mine{rank, 100 + rank};
    std::vector<std::uint64_t> all(6);
    comm.host_all_gather(mine, all);
    rank_check(all == std::vector<std::uint64_t>{0, 100, 1, 101, 2, 102}, "words arrive in rank order");

    std::vector<std::uint64_t> const uneven(comm.rank() == 1 ? 3 : 2);
    std::vector<std::uint64_t> room(3 * uneven.size());
    auto const text = text_thrown<communication_error>([&] { comm.host_all_gather(uneven, room); });
    rank_check(has(text, "rank 0 passes 2 words and rank 1 passes 3"), "every rank learns who differs");
    comm.host_all_gather(mine, all);  // still usable
    rank_check(text_thrown<usage_error>([&] { comm.host_all_gather(mine, room); }) != "", "room must fit");
  });
}

TEST_CASE("wrong arguments are refused before anything is issued", "[exchange]") {
  host::world world{2};
  host::communicator comm{world, 0};
  int value = 0;
  message const stranger[] = {send_to(2, &value, 1)};
  message const nowhere[] = {send_to(1, static_cast<int*>(nullptr), 1)};
  CHECK_THROWS_AS(comm.exchange(1, stranger), usage_error);
  CHECK_THROWS_AS(comm.exchange(1, nowhere), usage_error);
  CHECK_THROWS_AS(comm.lane(0), usage_error);
  CHECK_THROWS_AS(comm.lane(8), usage_error);
  CHECK_THROWS_AS(host::world(0), usage_error);
  CHECK_THROWS_AS(host::communicator(world, 2), usage_error);
  CHECK_THROWS_AS(host::communicator(world, 0), usage_error);  // there is one already
  piece const pieces[] = {{&value, 1}, {nullptr, 0}};
  CHECK_THROWS_AS(comm.reduce_scatter(1, pieces, &value, element::float16), usage_error);
  CHECK_THROWS_AS(comm.all_gather(1, &value, std::span{pieces, 1}, element::int32), usage_error);
  comm.exchange(1, {});
  comm.wait(comm.lane(1));
  CHECK(&comm.lane(1) == &comm.lane(1));
}
