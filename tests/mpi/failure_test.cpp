// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What goes wrong between ranks and leaves every process running: ranks that come late or not at all, shapes and sizes
//! that differ, tasks that throw, aborts. Nobody is left waiting, and nobody takes a wrong result for valid.

#include "../support/catch.hpp"
#include "transfers.hpp"

#include <tpoverlap/host/reference_gemm.hpp>
#include <tpoverlap/overlap.hpp>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

using namespace tpoverlap_test;
using namespace std::chrono_literals;

namespace {

/// A GEMM whose task throws, if it is told to.
struct fragile_gemm {
  using input_type = float;
  using output_type = float;
  bool breaks = false;

  void operator()(host::stream& in, matrix_view<float const> a, matrix_view<float const> b,
                  matrix_view<float> c, float beta) const {
    if (breaks) in.enqueue([] { throw std::runtime_error{"this GEMM went wrong"}; });
    host::reference_gemm<float>{}(in, a, b, c, beta);
  }
};

using ring_gather = producer_before_consumer<ring{.chunks = 2}>;
using bulk_reduce = consumer_before_reduction<pipeline{.chunks = 2}>;

template <class Policy>
inline constexpr bool reduces = std::is_same_v<Policy, bulk_reduce>;

/// One rank's object and operands.
template <class Policy, int P>
class participant {
 public:
  using object = overlap<Policy, world<P>, mpi::communicator, fragile_gemm>;

  explicit participant(mpi::communicator& comm, std::int64_t rows = 4 * P, bool breaks = false)
      : comm_{comm},
        shape_{.rows = rows, .inner = 5, .columns = 4},
        workspace_{object::workspace_bytes(shape_)},
        work_{comm, {breaks}, shape_, workspace_.span()},
        in_{reduces<Policy> ? 4 * P : 4, 5},
        y_{reduces<Policy> ? 4 : 4 * P, 4} {
    fill(in_.view(), filling::integers, 1, reduces<Policy> ? 0 : 4 * comm.rank());
    fill(w_.view(), filling::integers, 2);
  }

  void call() { work_(stream_, in_.view(), w_.view(), y_.view()); }
  void wait() { comm_.wait(stream_); }
  void run_and_check() {
    fill_nan(y_.view());
    call();
    wait();
    require_equal("y", y_.view(), [&](std::int64_t i, std::int64_t j) {
      double sum = 0;
      std::int64_t const row = reduces<Policy> ? 4 * comm_.rank() + i : i;
      for (std::int64_t k = 0; k < 5; ++k)
        sum += (reduces<Policy> ? P : 1) * value(filling::integers, 1, row, k) *
               value(filling::integers, 2, k, j);
      return sum;
    });
  }

 private:
  mpi::communicator& comm_;
  gemm_shape shape_;
  nan_bytes workspace_;
  object work_;
  matrix<float> in_, w_{5, 4}, y_;
  host::stream stream_;
};

/// Calls `f(policy, world)` for both policies and the number of ranks at hand.
template <class F>
void with_policies(F f) {
  if (world_size() == 1) return;
  dispatch_world<2, 3, 4>(world_size(), [&](auto ranks) {
    f(ring_gather{}, ranks);
    f(bulk_reduce{}, ranks);
  });
}

int last() { return world_size() - 1; }

/// A timeout, or the abort that it causes: who, where, for whom, and what to do.
void check_names_everything(outcome const& end, int rank, int limit_ms) {
  CAPTURE(rank, end.type, end.what);
  CHECK(end.rank == rank);
  CHECK(end.says("rank " + std::to_string(rank) + ": "));
  CHECK(end.says("(operation "));
  CHECK(end.says("waited " + std::to_string(limit_ms) + " ms for rank "));
  CHECK(end.says("look for the rank that did not call, or raise communicator_options::time_limit"));
  if (end.threw("timeout_error")) {
    CHECK(end.peer >= 0);
    CHECK(end.index >= 0);
  } else {
    CHECK(end.threw("aborted_error"));
    CHECK(end.says("aborted by rank "));
  }
}

/// Issues until that is refused.
outcome refusal(mpi::communicator& comm) {
  return outcome_of([&] {
    for (int i = 0; i < 20'000; ++i) {
      comm.exchange(1, {});
      std::this_thread::sleep_for(1ms);
    }
  });
}

}  // namespace

TEST_CASE("a rank that never calls ends every other rank's call in time", "[failure]") {
  with_policies([]<class Policy, int P>(Policy, world<P>) {
    auto const ends = outcomes({.time_limit = 400ms}, [](mpi::communicator& comm) {
      participant<Policy, P> me{comm};
      if (comm.rank() == last()) {
        while (!comm.aborted()) std::this_thread::sleep_for(1ms);
        return;
      }
      me.call();
      me.wait();
    });
    bool timed_out = false;
    for (int r = 0; r < last(); ++r) {
      auto const& end = ends[static_cast<std::size_t>(r)];
      check_names_everything(end, r, 400);
      timed_out = timed_out || end.threw("timeout_error");
      CHECK(end.seconds < 20);  // a busy machine is slow; a hang is not twenty seconds
    }
    CHECK(timed_out);
    CHECK(ends.back().threw(""));
  });
}

TEST_CASE("a rank that is late but within the limit spoils nothing", "[failure]") {
  with_policies([]<class Policy, int P>(Policy, world<P>) {
    CHECK(faults({.time_limit = 30s}, [](mpi::communicator& comm) {
            participant<Policy, P> me{comm};
            for (int late = 0; late < P; ++late) {
              if (comm.rank() == late) std::this_thread::sleep_for(60ms);
              me.run_and_check();
            }
          }) == "");
  });
}

TEST_CASE("a rank that comes after the limit is refused, as everybody else", "[failure]") {
  with_policies([]<class Policy, int P>(Policy, world<P>) {
    auto const ends = outcomes({.time_limit = 300ms}, [](mpi::communicator& comm) {
      participant<Policy, P> me{comm};
      me.run_and_check();
      if (comm.rank() == last()) std::this_thread::sleep_for(3s);  // without any look at what has come
      me.call();
      me.wait();
    });
    for (int r = 0; r < last(); ++r) check_names_everything(ends[static_cast<std::size_t>(r)], r, 300);
    outcome const& late = ends.back();
    CAPTURE(late.type, late.what);
    CHECK(late.threw("aborted_error"));
    CHECK(late.says("rank " + std::to_string(last()) + ": "));
    CHECK(late.says("aborted by rank "));
    CHECK(late.says("waited 300 ms for rank "));
  });
}

TEST_CASE("another shape and another policy are refused on every rank when an object is made", "[failure]") {
  with_policies([]<class Policy, int P>(Policy, world<P>) {
    CHECK(
        faults({}, [](mpi::communicator& comm) {
          bool const odd = comm.rank() == last();
          outcome const shape = outcome_of([&] { participant<Policy, P> me{comm, odd ? 4 * P + 1 : 4 * P}; });
          require(shape.threw("usage_error"), std::string{"another shape: "} + shape.what);
          require(shape.says("rank 0 was built with rows = " + std::to_string(4 * P) + ", rank " +
                             std::to_string(last()) + " with " + std::to_string(4 * P + 1) +
                             "; pass the same shape on every rank"),
                  shape.what);
          outcome const policy = outcome_of([&] {
            if (odd) {
              participant<std::conditional_t<reduces<Policy>, ring_gather, bulk_reduce>, P> me{comm};
            } else {
              participant<Policy, P> me{comm};
            }
          });
          require(policy.threw("usage_error"), std::string{"another policy: "} + policy.what);
          require(policy.says("runs another policy than rank 0; build the object with the same policy"),
                  policy.what);
          participant<Policy, P> me{comm};  // nothing is lost
          me.run_and_check();
        }) == "");
  });
}

TEST_CASE("a message whose sizes differ fails its receiver, and everybody", "[failure]") {
  if (world_size() == 1) return;
  struct pair {
    std::size_t sent, received;
  };
  auto const sizes =
      GENERATE(pair{48, 32}, pair{32, 48}, pair{0, 8}, pair{8, 0}, pair{1024, 1025}, pair{100'000, 8},
               pair{8, 100'000}, pair{100'000, 200'000}, pair{200'000, 100'000});
  CAPTURE(sizes.sent, sizes.received);
  auto const ends = outcomes({.time_limit = 20s, .segment_bytes = 1024}, [&](mpi::communicator& comm) {
    octets data(200'000);
    call_site const where{"exchange", 5, 2, 1};
    message const sends{message::direction::send, 1, data.data(), sizes.sent};
    message const receives{message::direction::receive, 0, data.data(), sizes.received};
    if (comm.rank() < 2) {
      comm.exchange(1, {comm.rank() == 0 ? &sends : &receives, 1}, where);
      if (comm.rank() == 1) comm.wait(comm.lane(1));
    }
    outcome const refused = refusal(comm);  // a sender may have got rid of everything before
    require(refused.threw("aborted_error"), refused.what);
    throw aborted_error{refused.what};
  });
  std::string const told = "rank 0 sends " + std::to_string(sizes.sent) + " bytes, but rank 1 receives " +
                           std::to_string(sizes.received) +
                           " bytes; give both ranks the same shapes and the same policy";
  for (std::size_t r = 0; r < ends.size(); ++r) {
    CAPTURE(r, ends[r].type, ends[r].what);
    CHECK(ends[r].says(told));
    CHECK(ends[r].says("exchange (operation 5) of shard 2 chunk 1"));
    if (r == 1) {
      CHECK(ends[r].threw("communication_error"));
      CHECK(ends[r].peer == 0);
    } else {
      CHECK(ends[r].threw("aborted_error"));
      CHECK(ends[r].says("aborted by rank 1: rank 1: "));
    }
  }
}

TEST_CASE("ranks at different operations of their schedules find out", "[failure]") {
  if (world_size() == 1) return;
  auto const ends = outcomes({.time_limit = 20s}, [](mpi::communicator& comm) {
    int value = 0;
    message const half{comm.rank() == 0 ? message::direction::send : message::direction::receive,
                       comm.rank() == 0 ? 1 : 0, &value, sizeof value};
    if (comm.rank() < 2) comm.exchange(1, {&half, 1}, {"exchange", 3 + comm.rank()});
    if (comm.rank() == 1) comm.wait(comm.lane(1));
    throw aborted_error{refusal(comm).what};
  });
  for (auto const& end : ends) {
    CAPTURE(end.type, end.what);
    CHECK(end.says(
        "rank 0 is at operation 3 of its schedule, rank 1 at operation 4; make the same calls in the same "
        "order on every rank"));
  }
  CHECK(ends[1].threw("communication_error"));
}

TEST_CASE("an exception in a task of one rank fails that rank, and those that need its result at once",
          "[failure]") {
  with_policies([]<class Policy, int P>(Policy, world<P>) {
    auto const ends = outcomes({.time_limit = 10min}, [](mpi::communicator& comm) {
      bool const breaks = comm.rank() == last();
      participant<Policy, P> me{comm, 4 * P, breaks};
      if (!breaks) return me.run_and_check();
      me.call();
      me.wait();
    });
    CAPTURE(ends.back().type, ends.back().what);
    CHECK(ends.back().threw("exception"));
    CHECK(ends.back().says("this GEMM went wrong"));
    for (int r = 0; r < last(); ++r) {
      auto const& end = ends[static_cast<std::size_t>(r)];
      CAPTURE(r, end.type, end.what);
      bool const told = end.threw("aborted_error") && end.says("aborted by rank " + std::to_string(last()) +
                                                               ": an exception ends this rank's use");
      CHECK((told || (!reduces<Policy> && end.threw(""))));  // what it gathers may all have come before
    }
  });
}

TEST_CASE("a rank that leaves early harms neither the others nor the next communicator", "[failure]") {
  if (world_size() == 1) return;
  for (int repeat = 0; repeat < 4; ++repeat) {
    auto const ends = outcomes({.time_limit = 300ms}, [&](mpi::communicator& comm) {
      if (comm.rank() == repeat % comm.size()) return;  // destroys the communicator; the others give up later
      run_collectives(comm, 1, [](int shard) { return 500 * shard + 20; });
    });
    for (int r = 0; r < world_size(); ++r) {
      auto const& end = ends[static_cast<std::size_t>(r)];
      CAPTURE(r, end.type, end.what);
      if (r == repeat % world_size()) {
        CHECK(end.threw(""));
      } else {
        CHECK(end.says("waited 300 ms for rank "));
      }
    }
    // Over fewer ranks, too: their contexts may be those that were freed above.
    CHECK(faults([&] {
            MPI_Comm half = MPI_COMM_NULL;
            MPI_Comm_split(MPI_COMM_WORLD, world_rank() == repeat % world_size() ? 1 : 0, 0, &half);
            mpi::communicator comm{half};
            MPI_Comm_free(&half);
            run_collectives(comm, 1, [](int shard) { return 300 * shard + 1; });
            comm.wait(comm.lane(1));
          }) == "");
    CHECK(faults({}, [](mpi::communicator& comm) { run_collectives(comm, 2, [](int) { return 77; }); }) ==
          "");
  }
}

TEST_CASE("an abort ends every rank's waits, and everything is refused from then on", "[failure]") {
  // The limit is far beyond the test's own: only the abort can end this.
  auto const ends = outcomes({.time_limit = 10min}, [](mpi::communicator& comm) {
    int const size = comm.size();
    std::vector<float> data(static_cast<std::size_t>(size));
    std::vector<piece> pieces;
    for (auto& each : data) pieces.push_back({&each, 1});
    if (comm.rank() == last()) {
      std::this_thread::sleep_for(20ms);
      comm.abort("the loss is not finite");
    } else if (comm.rank() == 0) {
      comm.reduce_scatter(1, pieces, data.data(), element::float32);
      comm.all_gather(1, data.data(), pieces, element::float32);
      comm.all_reduce(2, pieces, element::float32);
    }
    std::vector<std::uint64_t> all(static_cast<std::size_t>(size));
    std::uint64_t const mine = 1;
    auto const refused = [&](std::function<void()> const& call) {
      outcome const end = outcome_of(call);
      require(end.threw("aborted_error"), std::string{"not refused: "} + end.what);
      require(end.says("aborted by rank " + std::to_string(last()) + ": the loss is not finite"), end.what);
      require(end.says("rank " + std::to_string(comm.rank()) + ": "), end.what);
    };
    if (comm.rank() == 1 % size) refused([&] { comm.host_all_gather({&mine, 1}, all); });
    outcome const first = refusal(comm);
    require(first.threw("aborted_error"), first.what);
    refused([&] { comm.exchange(1, {}); });
    refused([&] { comm.all_gather(2, data.data(), pieces, element::float32); });
    refused([&] { comm.reduce_scatter(2, pieces, data.data(), element::float32); });
    refused([&] { comm.all_reduce(3, pieces, element::float32); });
    refused([&] { comm.host_all_gather({&mine, 1}, all); });
    refused([&] { comm.wait(comm.lane(3)); });
    comm.abort("a later reason, which nobody hears");
    host::stream idle;
    comm.wait(idle);
  });
  for (auto const& end : ends) {
    CAPTURE(end.type, end.what);
    CHECK(end.threw("aborted_error"));
    CHECK(end.says("wait: aborted by rank " + std::to_string(last()) + ": the loss is not finite"));
  }
}

TEST_CASE("after an abort, a wait for a task that does not end is bounded", "[failure]") {
  CHECK(faults([] {
          mpi::communicator comm{MPI_COMM_WORLD, {.time_limit = 100ms}};
          std::atomic<bool> open{false};
          host::stream stream;
          stream.enqueue([&] { open.wait(false); });
          if (comm.rank() == 0) comm.abort("enough");
          outcome const end = outcome_of([&] { comm.wait(stream); });
          open = true;
          open.notify_all();
          require(end.threw("aborted_error") && end.says("wait: aborted by rank 0: enough"), end.what);
        }) == "");
}

TEST_CASE("aborts at any moment leave nobody holding memory, and the next communicator is sound",
          "[failure]") {
  auto const segment = GENERATE(std::size_t{1024}, std::size_t{32} << 10, std::size_t{1} << 20);
  CAPTURE(segment);
  for (int repeat = 0; repeat < 8; ++repeat) {
    auto const ends = everywhere([&] {
      mpi::communicator comm{MPI_COMM_WORLD, {.time_limit = 20s, .segment_bytes = segment, .window = 3}};
      int const to = (comm.rank() + 1) % comm.size();
      int const from = (comm.rank() + comm.size() - 1) % comm.size();
      std::jthread const breaker{[&] {
        if (comm.rank() != repeat % comm.size()) return;
        std::this_thread::sleep_for(std::chrono::microseconds{700 * repeat});
        comm.abort("race");
      }};
      for (int i = 0; i < 100'000; ++i) {
        // Freed as soon as the call has ended, which the address sanitizer watches.
        octets const out = made(comm.rank(), to, 0, 2'000'000);
        octets in(out.size());
        std::vector<float> data(3000 * static_cast<std::size_t>(comm.size()), 1.0F);
        std::vector<piece> pieces;
        for (int r = 0; r < comm.size(); ++r) pieces.push_back({data.data() + 3000 * r, 3000});
        message const group[] = {
            {message::direction::send, to, const_cast<std::uint8_t*>(out.data()), out.size()},
            {message::direction::receive, from, in.data(), in.size()}};
        comm.exchange(1, group);
        comm.all_reduce(2, pieces, element::float32);
        comm.wait(comm.lane(1));
        comm.wait(comm.lane(2));
        require(in == made(from, comm.rank(), 0, in.size()), "what counts as valid is right");
        for (float each : data) require(each == static_cast<float>(comm.size()), "sums");
      }
    });
    for (auto const& end : ends) {
      CAPTURE(end.type, end.what);
      CHECK(end.threw("aborted_error"));
      CHECK(end.says("race"));
    }
  }
  CHECK(faults({}, [](mpi::communicator& comm) {
          run_collectives(comm, 1, [](int s) { return 1000 + s; });
        }) == "");
}

TEST_CASE("ranks that fail at the same moment all end", "[failure]") {
  for (int repeat = 0; repeat < 10; ++repeat) {
    auto const ends = outcomes({.time_limit = 20s}, [](mpi::communicator& comm) {
      std::uint64_t const mine = 1;
      std::vector<std::uint64_t> all(static_cast<std::size_t>(comm.size()));
      comm.host_all_gather({&mine, 1}, all);
      comm.abort("each for itself");
      comm.wait(comm.lane(1));
    });
    for (auto const& end : ends) CHECK((end.threw("aborted_error") && end.says("each for itself")));
  }
}

TEST_CASE("a rank lets go of its memory although the one that gave up does not call MPI any more",
          "[failure]") {
  if (world_size() == 1) return;
  // The flag is a file: nothing that would let MPI work on the rank that has given up.
  int name = world_rank() == 0 ? static_cast<int>(std::random_device{}() >> 1) : 0;
  MPI_Bcast(&name, 1, MPI_INT, 0, MPI_COMM_WORLD);
  auto const flag = std::filesystem::temp_directory_path() / ("tpoverlap_mpi_test_" + std::to_string(name));
  auto const ends = everywhere([&] {
    mpi::communicator_options const options{
        .time_limit = 500ms, .segment_bytes = std::size_t{1} << 20, .window = 2};
    auto comm = std::make_unique<mpi::communicator>(MPI_COMM_WORLD, options);
    while (comm->rank() > 1 && !comm->aborted()) std::this_thread::sleep_for(1ms);
    if (comm->rank() > 1) return;
    octets data(std::size_t{64} << 20);
    message const half{comm->rank() == 0 ? message::direction::send : message::direction::receive,
                       1 - comm->rank(), data.data(), data.size()};
    if (comm->rank() == 0) {
      comm->exchange(1, {&half, 1});
      std::this_thread::sleep_for(5ms);
      comm->abort("no more of this");
      comm->drain();
      bool seen = false;
      for (int i = 0; i < 2000 && !seen; ++i) {
        std::this_thread::sleep_for(10ms);
        seen = std::filesystem::exists(flag);
      }
      require(seen, "rank 1 has not let go");
    } else {
      outcome const end = outcome_of([&] {
        comm->exchange(1, {&half, 1});
        comm->wait(comm->lane(1));
      });
      comm.reset();
      std::ofstream{flag} << "done";
      require(end.threw("aborted_error") && end.says("no more of this"), end.what);
    }
  });
  std::error_code ignored;
  std::filesystem::remove(flag, ignored);
  for (auto const& end : ends) {
    CAPTURE(end.type, end.what);
    CHECK(end.threw(""));
  }
}
