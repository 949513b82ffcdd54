// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Exchanges and collectives of all sizes around a segment, with all options, against bytes that both ends can make.

#include "../support/catch.hpp"
#include "transfers.hpp"

#include <algorithm>
#include <random>

using namespace tpoverlap_test;

namespace {

/// The default, the smallest of everything, and one in which a message is a rendezvous for every transport.
std::vector<mpi::communicator_options> const& all_options() {
  static std::vector<mpi::communicator_options> const made{
      {},
      {.segment_bytes = 1024, .window = 1, .polling = {.shortest = std::chrono::microseconds{0}}},
      {.segment_bytes = 8192, .window = 3, .lanes = 1},
      {.segment_bytes = std::size_t{1} << 18,
       .window = 2,
       .polling = {.longest = std::chrono::microseconds{50}}}};
  return made;
}

}  // namespace

TEST_CASE("messages of every size around a segment arrive, several to each peer, both ways, to itself, too",
          "[exchange]") {
  auto const which = GENERATE(0u, 1u, 2u, 3u);
  CAPTURE(which);
  auto const& options = all_options()[which];
  auto const segment = options.segment_bytes;
  std::vector<std::size_t> const sizes{0, 1, segment - 1, segment, segment + 1, 3 * segment, 17 * segment + 5,
                                       0, 7};
  CHECK(faults(options, [&](mpi::communicator& comm) {
          for (int repeat = 0; repeat < 3; ++repeat) {
            messages_of group{comm.rank()};
            for (std::size_t i = 0; i < sizes.size(); ++i) {
              for (int step = 0; step < comm.size(); ++step) {
                // Ranks differ in the order of their peers; between two ranks it is the same.
                int const to = (comm.rank() + step) % comm.size();
                int const from = (comm.rank() + comm.size() - step) % comm.size();
                group.send(to, sizes[i]);
                group.receive(from, sizes[i]);
              }
            }
            comm.exchange(1, group.halves());
            comm.wait(comm.lane(1));
            group.check("repeat " + std::to_string(repeat));
          }
        }) == "");
}

TEST_CASE("exchanges of random messages in any order arrive", "[exchange]") {
  auto const which = GENERATE(1u, 2u, 3u);
  CAPTURE(which);
  auto const& options = all_options()[which];
  CHECK(faults(options, [&](mpi::communicator& comm) {
          std::mt19937 all{7};  // the same on all ranks
          std::mt19937 own{
              static_cast<unsigned>(100 + comm.rank())};  // in which order a rank names its messages
          std::vector<std::unique_ptr<messages_of>> groups;
          int const size = comm.size();
          for (int call = 0; call < 12; ++call) {
            struct planned {
              int from, to;
              std::size_t bytes;
            };
            std::vector<planned> plan;
            for (auto count = all() % 10; count > 0; --count)
              plan.push_back({static_cast<int>(all() % 8) % size, static_cast<int>(all() % 8) % size,
                              all() % (6 * options.segment_bytes)});
            // Own order among the peers, the common order with each of them.
            std::vector<int> order;
            for (int i = 0; i < 2 * size; ++i) order.push_back(i);
            std::shuffle(order.begin(), order.end(), own);
            auto& group = *groups.emplace_back(std::make_unique<messages_of>(comm.rank()));
            for (int which_half : order) {
              for (auto const& each : plan) {
                if (which_half < size && each.from == comm.rank() && each.to == which_half)
                  group.send(each.to, each.bytes);
                if (which_half >= size && each.to == comm.rank() && each.from == which_half - size)
                  group.receive(each.from, each.bytes);
              }
            }
            if (own() % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds{own() % 20});
            comm.exchange(1, group.halves(), {.operation = "random", .index = call});
          }
          comm.wait(comm.lane(1));
          for (auto const& each : groups) each->check("random");
        }) == "");
}

TEST_CASE("a message far larger than the window arrives", "[exchange]") {
  mpi::communicator_options const options{.segment_bytes = 1024, .window = 2};
  CHECK(faults(options, [](mpi::communicator& comm) {
          messages_of group{comm.rank()};
          constexpr std::size_t bytes = 3'000'001;  // 2930 segments
          group.send((comm.rank() + 1) % comm.size(), bytes);
          group.receive((comm.rank() + comm.size() - 1) % comm.size(), bytes);
          comm.exchange(2, group.halves());
          comm.wait(comm.lane(2));
          group.check("far beyond the window");
        }) == "");
}

TEST_CASE("memory that was sent may be written as soon as the operation has ended", "[exchange]") {
  CHECK(faults({.segment_bytes = 1024}, [](mpi::communicator& comm) {
          int const to = (comm.rank() + 1) % comm.size();
          int const from = (comm.rank() + comm.size() - 1) % comm.size();
          octets out(20'000);
          octets in(20'000);
          for (int call = 0; call < 20; ++call) {
            out.assign(out.size(), static_cast<std::uint8_t>(call));
            if (comm.rank() == call % comm.size()) std::this_thread::sleep_for(std::chrono::milliseconds{2});
            message const group[] = {{message::direction::send, to, out.data(), out.size()},
                                     {message::direction::receive, from, in.data(), in.size()}};
            comm.exchange(1, group);
            comm.wait(comm.lane(1));
            out.assign(out.size(), 0xff);
            for (auto each : in) require(each == call, "the value from before the reuse arrives");
          }
        }) == "");
}

TEST_CASE("collectives of uneven, empty and long pieces equal plain sums in ring order", "[collective]") {
  auto const which = GENERATE(0u, 1u, 2u, 3u);
  CAPTURE(which);
  auto const& options = all_options()[which];
  auto const segment = static_cast<std::int64_t>(options.segment_bytes / sizeof(float));
  CHECK(faults(options, [&](mpi::communicator& comm) {
          run_collectives(comm, 1, [](int shard) { return shard * 1500 + 3; });
          run_collectives(comm, 1, [](int shard) { return shard % 2 == 0 ? 0 : 2000; });
          run_collectives(comm, 1, [](int shard) { return shard == 0 ? 5000 : 0; });
          run_collectives(comm, 1, [&](int shard) { return segment - 1 + shard; });
          run_collectives(comm, 1, [&](int shard) { return (5 - shard) * segment + shard; });
          run_collectives(comm, 1, [](int) { return 0; });
        }) == "");
}

TEST_CASE("sums are of every type that the host adds", "[collective]") {
  CHECK(faults({.segment_bytes = 1024}, [](mpi::communicator& comm) {
          auto const of = [&]<class T>(T) {
            std::vector<T> data(static_cast<std::size_t>(comm.size()) * 700, static_cast<T>(comm.rank() + 1));
            std::vector<piece> pieces;
            for (int s = 0; s < comm.size(); ++s) pieces.push_back({data.data() + 700 * s, 700});
            comm.all_reduce(1, pieces, element_of<T>);
            comm.wait(comm.lane(1));
            for (T each : data)
              require(each == static_cast<T>(comm.size() * (comm.size() + 1) / 2), name_of(element_of<T>));
          };
          of(float{});
          of(double{});
          of(std::int32_t{});
          of(std::int64_t{});
        }) == "");
}

TEST_CASE("words are gathered, and ranks learn when they pass another number of them", "[collective]") {
  CHECK(faults({}, [](mpi::communicator& comm) {
          auto const size = static_cast<std::size_t>(comm.size());
          auto const rank = static_cast<std::uint64_t>(comm.rank());
          std::vector<std::uint64_t> const mine{rank, 100 + rank};
          std::vector<std::uint64_t> all(2 * size);
          auto const gather = [&] {
            all.assign(all.size(), 7);
            comm.host_all_gather(mine, all);
            for (std::uint64_t r = 0; r < size; ++r)
              require(all[2 * r] == r && all[2 * r + 1] == 100 + r, "words arrive in rank order");
          };
          gather();
          if (size > 1) {
            std::vector<std::uint64_t> const uneven(rank == 1 ? 3 : 2);
            std::vector<std::uint64_t> room(size * uneven.size());
            outcome const end = outcome_of([&] { comm.host_all_gather(uneven, room); });
            require(end.threw("communication_error") && end.says("rank 0 passes 2 words and rank 1 passes 3"),
                    end.what);
          }
          gather();  // still usable
        }) == "");
}

TEST_CASE("lanes do not wait for each other", "[lanes]") {
  if (world_size() == 1) return;
  CHECK(faults({}, [](mpi::communicator& comm) {
          // Ranks issue to three lanes in different orders.
          std::vector<std::unique_ptr<messages_of>> groups;
          for (int i = 0; i < 3; ++i) {
            auto& group = *groups.emplace_back(std::make_unique<messages_of>(comm.rank()));
            group.send((comm.rank() + 1) % comm.size(), 100'000);
            group.receive((comm.rank() + comm.size() - 1) % comm.size(), 100'000);
          }
          for (int i = 0; i < 3; ++i) {
            int const lane = (i + comm.rank()) % 3;
            comm.exchange(1 + lane, groups[static_cast<std::size_t>(lane)]->halves());
          }
          for (int lane = 1; lane <= 3; ++lane) comm.wait(comm.lane(lane));
          for (auto const& each : groups) each->check("lanes");
        }) == "");
}
