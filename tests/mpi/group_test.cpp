// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Communicators over parts of the program, several at a time, beside the program's own messages; and messages whose
//! bytes no int can count.

#include "../support/catch.hpp"
#include "transfers.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

using namespace tpoverlap_test;

namespace {

/// A split of all ranks, freed at the end.
class split {
 public:
  split(int color, int key) { MPI_Comm_split(MPI_COMM_WORLD, color, key, &made_); }
  ~split() { MPI_Comm_free(&made_); }
  split(split const&) = delete;
  split& operator=(split const&) = delete;
  [[nodiscard]] MPI_Comm get() const { return made_; }

 private:
  MPI_Comm made_ = MPI_COMM_NULL;
};

/// Every rank of a group sends its rank in the world to every other: whoever comes must be of the group.
void check_members(mpi::communicator& comm, int lane, std::vector<int> const& members) {
  require(comm.size() == static_cast<int>(members.size()), "as many ranks as the group has");
  require(members[static_cast<std::size_t>(comm.rank())] == world_rank(), "ranked as the group is");
  std::vector<int> come(members.size(), -1);
  int const mine = world_rank();
  std::vector<message> group;
  for (int r = 0; r < comm.size(); ++r) {
    group.push_back({message::direction::send, r, const_cast<int*>(&mine), sizeof mine});
    group.push_back({message::direction::receive, r, &come[static_cast<std::size_t>(r)], sizeof mine});
  }
  comm.exchange(lane, group);
  comm.wait(comm.lane(lane));
  require(come == members, "the ranks of the group, and in its order");
  run_collectives(comm, lane, [](int shard) { return 700 * shard + 1; });
}

std::vector<int> ranks_where(std::function<bool(int)> const& in) {
  std::vector<int> made;
  for (int r = 0; r < world_size(); ++r)
    if (in(r)) made.push_back(r);
  return made;
}

}  // namespace

TEST_CASE("any group of ranks, in any order", "[groups]") {
  CHECK(faults([] {
          int const me = world_rank();
          split const same_parity{me % 2, me};
          mpi::communicator half{same_parity.get()};
          check_members(half, 1, ranks_where([&](int r) { return r % 2 == me % 2; }));

          split const reversed{0, -me};
          mpi::communicator all{reversed.get()};
          std::vector<int> back = ranks_where([](int) { return true; });
          std::reverse(back.begin(), back.end());
          check_members(all, 2, back);

          split const alone{me, 0};
          mpi::communicator self{alone.get()};
          check_members(self, 3, {me});
          check_members(half, 2, ranks_where([&](int r) { return r % 2 == me % 2; }));
        }) == "");
}

TEST_CASE("the group itself may be freed, and ranks may stay out of one", "[groups]") {
  CHECK(faults([] {
          int const me = world_rank();
          MPI_Comm some = MPI_COMM_NULL;
          MPI_Comm_split(MPI_COMM_WORLD, me == 0 && world_size() > 1 ? MPI_UNDEFINED : 0, me, &some);
          if (some == MPI_COMM_NULL) {
            outcome const end = outcome_of([&] { mpi::communicator none{some}; });
            require(end.threw("usage_error") &&
                        end.says("MPI_COMM_NULL has no ranks; pass the communicator of"),
                    end.what);
            return;
          }
          mpi::communicator comm{some};
          MPI_Comm_free(&some);
          check_members(comm, 1, ranks_where([](int r) { return r > 0 || world_size() == 1; }));
        }) == "");
}

TEST_CASE("communicators, lanes and the program's own messages do not meet", "[groups]") {
  CHECK(faults([] {
          mpi::communicator first{MPI_COMM_WORLD, {.segment_bytes = 1024}};
          mpi::communicator second{MPI_COMM_WORLD, {.segment_bytes = 2048}};
          int const me = world_rank();
          int const size = world_size();
          int const to = (me + 1) % size;
          int const from = (me + size - 1) % size;
          std::vector<std::unique_ptr<messages_of>> groups;
          int number = 0;
          for (int call = 0; call < 5; ++call) {
            // The program's own, with the tags and sizes that are used inside; any source, to catch what strays.
            int const own[2]{me, call};
            int come[2]{-1, -1};
            MPI_Request requests[2];
            int const tag = call % 3;
            MPI_Irecv(come, 2, MPI_INT, from, tag, MPI_COMM_WORLD, &requests[0]);
            for (auto* comm : {&first, &second}) {
              for (int lane = 1; lane <= 3; ++lane) {
                auto& group = *groups.emplace_back(std::make_unique<messages_of>(me));
                // Differing sizes, so that a message that strays has another content.
                for (int i = 0; i <= number % 3; ++i) {
                  group.send(to, static_cast<std::size_t>(3000 + 1000 * number));
                  group.receive(from, static_cast<std::size_t>(3000 + 1000 * number));
                }
                comm->exchange(lane, group.halves());
                ++number;
              }
            }
            MPI_Isend(own, 2, MPI_INT, to, tag, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            require(come[0] == from && come[1] == call, "the program's own message");
            int sum = 0;
            MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            require(sum == size * (size - 1) / 2, "the program's own collective");
          }
          for (auto* comm : {&second, &first})
            for (int lane = 3; lane >= 1; --lane) comm->wait(comm->lane(lane));
          for (auto const& each : groups) each->check("side by side");
          int flag = 0;
          MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
          require(flag == 0, "nothing strays into the program's own communicator");
        }) == "");
}

TEST_CASE("seven lanes at once", "[lanes]") {
  CHECK(faults({.segment_bytes = 4096, .lanes = 7}, [](mpi::communicator& comm) {
          std::vector<std::unique_ptr<messages_of>> groups;
          for (int call = 0; call < 4; ++call) {
            for (int lane = 1; lane <= 7; ++lane) {
              auto& group = *groups.emplace_back(std::make_unique<messages_of>(comm.rank()));
              group.send((comm.rank() + lane) % comm.size(), static_cast<std::size_t>(9000 * lane + call));
              group.receive((comm.rank() + 7 * comm.size() - lane) % comm.size(),
                            static_cast<std::size_t>(9000 * lane + call));
              comm.exchange(lane, group.halves());
            }
          }
          for (int lane = 1; lane <= 7; ++lane) comm.wait(comm.lane(lane));
          for (auto const& each : groups) each->check("seven lanes");
        }) == "");
}

// Two ranks, a little over 2 GiB each, once: run by a ctest of its own.
TEST_CASE("more than 2^31 bytes in one message, and in one piece of an all_gather", "[.large]") {
  constexpr std::size_t limit = std::size_t{1} << 31;
  constexpr std::size_t bytes = limit + 4096 + 64;
  static_assert(bytes > INT_MAX);
  REQUIRE(world_size() == 2);
  mpi::communicator_options const options{.time_limit = std::chrono::seconds{60},
                                          .segment_bytes = std::size_t{8} << 20,
                                          .window = 4,
                                          .polling = {.longest = std::chrono::microseconds{100}}};
  CHECK(faults(options, [&](mpi::communicator& comm) {
          auto const memory = std::make_unique_for_overwrite<std::uint8_t[]>(bytes + 4096);
          std::size_t const places[]{0,         1,     4095,      (limit >> 1) - 1, limit >> 1,   limit - 2,
                                     limit - 1, limit, limit + 1, limit + 4095,     limit + 4096, bytes - 1};
          auto const fill = [&](int rank, std::uint8_t* at) {
            for (std::size_t first = 0; first < bytes; first += 4096) at[first] = byte_at(rank, 0, 1, first);
            for (auto place : places) at[place] = byte_at(rank, 0, 1, place);
          };
          auto const check = [&](int rank, std::uint8_t const* at, char const* what) {
            for (std::size_t first = 0; first < bytes; first += 4096)
              require(at[first] == byte_at(rank, 0, 1, first), what + (": page at " + std::to_string(first)));
            for (auto place : places)
              require(at[place] == byte_at(rank, 0, 1, place), what + (": byte " + std::to_string(place)));
          };
          // One way, so that a rank holds it once; what lies behind must stay.
          std::uint8_t* const behind = memory.get() + bytes;
          std::memset(behind, 0x5a, 4096);
          if (comm.rank() == 0) fill(0, memory.get());
          message const half{comm.rank() == 0 ? message::direction::send : message::direction::receive,
                             1 - comm.rank(), memory.get(), bytes};
          comm.exchange(1, {&half, 1});
          comm.wait(comm.lane(1));
          check(0, memory.get(), "exchange");

          // Rank 1's piece is the large one; both lie at their places already.
          if (comm.rank() == 1) fill(1, memory.get());
          std::uint8_t small[64];
          std::memset(small, comm.rank() == 0 ? 0x33 : 0, sizeof small);
          piece const shards[]{{small, 16}, {memory.get(), static_cast<std::int64_t>(bytes / 4)}};
          comm.all_gather(2, comm.rank() == 0 ? static_cast<void*>(small) : memory.get(), shards,
                          element::float32);
          comm.wait(comm.lane(2));
          check(1, memory.get(), "all_gather");
          for (auto each : small) require(each == 0x33, "the short piece");
          for (std::size_t i = 0; i < 4096; ++i) require(behind[i] == 0x5a, "what lies behind is left alone");
        }) == "");
}
