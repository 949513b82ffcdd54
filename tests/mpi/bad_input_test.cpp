// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What is refused, with words that say what, where and how to mend it.

#include "../support/catch.hpp"
#include "ranks.hpp"

#include <limits>

using namespace tpoverlap_test;
using namespace std::chrono_literals;

namespace {

/// "" if constructing with `options` is refused, on every rank, with these words.
std::string refusal(mpi::communicator_options const& options, std::string_view words) {
  return faults([&] {
    outcome const end = outcome_of([&] { mpi::communicator comm{MPI_COMM_WORLD, options}; });
    require(end.threw("usage_error"), std::string{"not refused: "} + end.what);
    require(end.says(words), end.what);
  });
}

}  // namespace

TEST_CASE("options that cannot be are refused, with their range", "[bad_input]") {
  for (std::size_t bytes :
       {std::size_t{0}, std::size_t{512}, std::size_t{1023}, std::size_t{1025}, std::size_t{32} * 1024 + 8,
        (std::size_t{1} << 30) + 64, std::numeric_limits<std::size_t>::max()})
    CHECK(refusal({.segment_bytes = bytes}, "communicator_options::segment_bytes must be a multiple of 64") ==
          "");
  for (int window : {0, -1, 4097})
    CHECK(refusal({.window = window}, "communicator_options::window must lie between 1 and 4096") == "");
  for (int lanes : {0, -3, 8})
    CHECK(refusal({.lanes = lanes}, "communicator_options::lanes must lie between 1 and 7") == "");
  // The longest durations overflow a clock.
  for (auto limit : {0ms, -1ms, std::chrono::milliseconds::max(), std::chrono::milliseconds::min()})
    CHECK(refusal({.time_limit = limit}, "communicator_options::time_limit must") == "");
  for (auto const& each : {mpi::polling{.shortest = -1us}, mpi::polling{.shortest = 3us, .longest = 2us},
                           mpi::polling{.longest = std::chrono::microseconds::max()}})
    CHECK(refusal({.polling = each}, "communicator_options::polling must") == "");
}

TEST_CASE("options at the ends of their ranges serve", "[bad_input]") {
  auto const serves = [](mpi::communicator_options const& options) {
    return faults(options, [](mpi::communicator& comm) {
      comm.exchange(comm.options().lanes, {});
      comm.wait(comm.lane(comm.options().lanes));
    });
  };
  CHECK(serves({.segment_bytes = 1024, .window = 1, .lanes = 1}) == "");
  CHECK(serves({.segment_bytes = 1024, .window = 4096, .lanes = 7}) == "");
  CHECK(serves({.time_limit = std::chrono::hours{24 * 365}, .polling = {.shortest = 0us, .longest = 0us}}) ==
        "");
}

TEST_CASE("options that differ between ranks are refused on every rank, which can try again", "[bad_input]") {
  if (world_size() == 1) return;
  CHECK(faults([] {
          int const last = world_size() - 1;
          bool const odd = world_rank() == last;
          outcome const segments = outcome_of([&] {
            mpi::communicator comm{MPI_COMM_WORLD, {.segment_bytes = odd ? 2048u : 1024u}};
          });
          require(segments.threw("usage_error"), segments.what);
          require(segments.says("communicator_options::segment_bytes is 1024 on rank 0 and 2048 on rank " +
                                std::to_string(last) + "; pass the same options on every rank"),
                  segments.what);
          require(segments.rank == world_rank() && segments.peer == last, "rank and peer are told");
          outcome const lanes = outcome_of([&] {
            mpi::communicator comm{MPI_COMM_WORLD, {.lanes = odd ? 2 : 3}};
          });
          require(lanes.threw("usage_error") && lanes.says("lanes is 3 on rank 0 and 2 on rank"), lanes.what);
          mpi::communicator comm{MPI_COMM_WORLD, {}};  // what may differ
          mpi::communicator other{MPI_COMM_WORLD, {.time_limit = odd ? 20s : 30s, .window = odd ? 1 : 5}};
          other.exchange(1, {});
          other.wait(other.lane(1));
        }) == "");
}

TEST_CASE("an intercommunicator is refused", "[bad_input]") {
  if (world_size() == 1) return;
  CHECK(faults([] {
          MPI_Comm half = MPI_COMM_NULL;
          MPI_Comm between = MPI_COMM_NULL;
          int const side = world_rank() % 2;
          MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
          MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 5, &between);
          outcome const end = outcome_of([&] { mpi::communicator comm{between}; });
          MPI_Comm_free(&between);
          MPI_Comm_free(&half);
          require(end.threw("usage_error") && end.says("intercommunicator"), end.what);
        }) == "");
}

TEST_CASE("a rank that does not come to the making of a communicator is waited for within the limit",
          "[bad_input]") {
  if (world_size() == 1) return;
  auto const ends = everywhere([] {
    // A group of its own, so that what is left of it meets nothing later.
    static MPI_Comm group = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &group);
    if (world_rank() == 1) return;
    mpi::communicator comm{group, {.time_limit = 300ms}};
  });
  for (std::size_t r = 0; r < ends.size(); ++r) {
    CAPTURE(r, ends[r].what);
    if (r == 1) {
      CHECK(ends[r].threw(""));
      continue;
    }
    CHECK(ends[r].threw("timeout_error"));
    CHECK(ends[r].says("rank " + std::to_string(r) + ": "));
    CHECK(ends[r].says(
        "waited 300 ms for all ranks of the group to make a communicator; it is collective, so look "
        "for the rank that did not come"));
  }
}

TEST_CASE("wrong arguments are refused before anything is issued, and the communicator stays usable",
          "[bad_input]") {
  CHECK(faults({.lanes = 2}, [](mpi::communicator& comm) {
          int value = 0;
          int const me = comm.rank();
          auto const refused = [&](std::string_view words, std::function<void()> const& call) {
            outcome const end = outcome_of(call);
            require(end.threw("usage_error") && end.says(words), std::string{words} + ", but: " + end.what);
            require(end.says("rank " + std::to_string(me) + ": "), end.what);
          };
          std::string const own_lanes = "lanes are 1 to 2, as communicator_options::lanes says";
          for (int lane : {0, -1, 3, 8, 1'000'000}) {
            refused(own_lanes, [&] { comm.lane(lane); });
            refused("there is no lane " + std::to_string(lane), [&] { comm.exchange(lane, {}); });
          }
          for (int peer : {-1, comm.size(), 1'000'000}) {
            message const half{message::direction::send, peer, &value, 4};
            refused("exchange: no such peer", [&] { comm.exchange(1, {&half, 1}); });
          }
          message const nowhere{message::direction::receive, 0, nullptr, 4};
          refused("exchange: a message that is not empty needs memory", [&] {
            comm.exchange(1, {&nowhere, 1});
          });
          std::vector<piece> pieces(static_cast<std::size_t>(comm.size()), piece{&value, 1});
          refused("all_gather: a message that is not empty needs memory",
                  [&] { comm.all_gather(1, nullptr, pieces, element::int32); });
          refused("reduce_scatter: a message that is not empty needs memory",
                  [&] { comm.reduce_scatter(1, pieces, nullptr, element::int32); });
          refused("reduce_scatter: the host adds float64, float32, int32 and int64 only",
                  [&] { comm.reduce_scatter(1, pieces, &value, element::float16); });
          pieces.push_back({&value, 1});
          refused("all_gather: a collective needs one piece a rank",
                  [&] { comm.all_gather(1, &value, pieces, element::int32); });
          pieces.pop_back();
          pieces.back().elements = -1;
          refused("all_reduce: a piece has a negative size",
                  [&] { comm.all_reduce(1, pieces, element::int32); });
          pieces.back() = {nullptr, 1};
          refused("all_reduce: a message that is not empty needs memory",
                  [&] { comm.all_reduce(1, pieces, element::int32); });
          std::uint64_t word = 1;
          std::vector<std::uint64_t> room(static_cast<std::size_t>(comm.size()) + 1);
          refused("host_all_gather needs room for the words of every rank", [&] {
            comm.host_all_gather({&word, 1}, room);
          });
          room.pop_back();
          comm.host_all_gather({&word, 1}, room);
          comm.exchange(1, {});
          comm.wait(comm.lane(1));
          require(!comm.aborted(), "not aborted");
        }) == "");
}
