// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// One fault a run, chosen by name: what concerns the whole process, and so cannot be a test case beside others. Prints
// what became of it on each rank, a line each; ends.cmake says what has to be printed.

#include <tpoverlap/host/reference_gemm.hpp>
#include <tpoverlap/mpi.hpp>
#include <tpoverlap/overlap.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <unistd.h>

using namespace tpoverlap;
using namespace std::chrono_literals;

namespace {

/// In one piece, so that the lines of ranks do not mix.
void print(std::string line) {
  line += '\n';
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) std::abort();
}

char const* type_of(error const& failure) {
  if (dynamic_cast<usage_error const*>(&failure) != nullptr) return "usage_error";
  if (dynamic_cast<timeout_error const*>(&failure) != nullptr) return "timeout_error";
  if (dynamic_cast<aborted_error const*>(&failure) != nullptr) return "aborted_error";
  if (dynamic_cast<mpi::mpi_error const*>(&failure) != nullptr) return "mpi_error";
  return "error";
}

void tell(std::function<void()> const& f) {
  try {
    f();
    print("no error");
  } catch (error const& failure) {
    print(std::string{type_of(failure)} + " " + failure.what());
  }
}

void make_communicator() { mpi::communicator comm{MPI_COMM_WORLD}; }

void with_level(int level) {
  int given = 0;
  MPI_Init_thread(nullptr, nullptr, level, &given);
  tell(make_communicator);
  MPI_Finalize();
}

/// Exchanges with both neighbours until something goes wrong.
void exchange_for_ever(mpi::communicator& comm, std::size_t bytes,
                       std::function<void(int)> const& before_call) {
  int const to = (comm.rank() + 1) % comm.size();
  int const from = (comm.rank() + comm.size() - 1) % comm.size();
  std::vector<std::byte> out(bytes);
  std::vector<std::byte> in(bytes);
  for (int call = 0;; ++call) {
    before_call(call);
    message const group[] = {{message::direction::send, to, out.data(), bytes},
                             {message::direction::receive, from, in.data(), bytes}};
    comm.exchange(1, group, {"exchange", 5});
    comm.wait(comm.lane(1));
  }
}

/// Rank 1 ends in the middle of a call, or between two. The others tell what they get, and leave as a program does
/// that has lost a rank: without MPI_Finalize, which would wait for it.
int lose_rank(int& argc, char**& argv, std::string_view how, bool inside_a_call) {
  mpi::environment const running{argc, argv};
  bool told = false;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm survivors = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? 1 : 0, 0, &survivors);
  {
    mpi::communicator comm{MPI_COMM_WORLD, {.time_limit = 1500ms, .segment_bytes = std::size_t{128} << 10}};
    auto const end = [how] {
      if (how == "exit") _exit(7);
      kill(getpid(), how == "kill" ? SIGKILL : SIGSTOP);
    };
    std::thread killer;
    if (comm.rank() == 1 && inside_a_call) {
      killer = std::thread{[&] {
        std::this_thread::sleep_for(200ms);
        end();
      }};
    }
    try {
      exchange_for_ever(comm, inside_a_call ? 20'000'000 : 1000, [&](int call) {
        if (comm.rank() == 1 && !inside_a_call && call == 3) end();
      });
    } catch (error const& failure) {
      print("rank " + std::to_string(comm.rank()) + " ends: " + type_of(failure) + " " + failure.what());
      told = true;
    }
  }
  print("rank " + std::to_string(rank) + (told ? " has destroyed its communicator" : ": nothing happened"));
  // A launcher may end the others when the first one ends.
  MPI_Request all = MPI_REQUEST_NULL;
  MPI_Ibarrier(survivors, &all);
  for (int i = 0, met = 0; i < 2000 && met == 0; ++i) {
    MPI_Test(&all, &met, MPI_STATUS_IGNORE);
    std::this_thread::sleep_for(10ms);
  }
  _exit(3);
}

}  // namespace

int main(int argc, char** argv) {
  std::string_view const name = argc > 1 ? argv[1] : "";
  if (name == "not_initialized") {
    tell(make_communicator);
    return 0;
  }
  if (name == "finalized") {
    { mpi::environment const running{argc, argv}; }
    tell(make_communicator);
    return 0;
  }
  if (name == "single") return with_level(MPI_THREAD_SINGLE), 0;
  if (name == "funneled") return with_level(MPI_THREAD_FUNNELED), 0;
  if (name == "serialized") return with_level(MPI_THREAD_SERIALIZED), 0;
  if (name == "multiple") return with_level(MPI_THREAD_MULTIPLE), 0;
  if (name == "two_environments") {
    mpi::environment const running{argc, argv};
    tell([&] { mpi::environment const second{argc, argv}; });
    tell(make_communicator);  // the first one still runs
    return 0;
  }
  if (name == "outlives_mpi") {
    std::optional<mpi::communicator> comm;
    {
      mpi::environment const running{argc, argv};
      comm.emplace(MPI_COMM_WORLD);
      comm->exchange(1, {});
      comm->wait(comm->lane(1));
    }
    comm.reset();
    print("gone without a call of MPI");
    return 0;
  }
  if (name == "finalize_after_abort") {
    // Rank 0 has given MPI what nobody will ever take.
    mpi::environment const running{argc, argv};
    mpi::communicator comm{MPI_COMM_WORLD, {.time_limit = 1500ms, .segment_bytes = std::size_t{1} << 20}};
    std::vector<std::byte> data(30'000'000);
    message const half{message::direction::send, 1, data.data(), data.size()};
    tell([&] {
      if (comm.rank() == 0) comm.exchange(1, {&half, 1}, {"exchange", 5});
      comm.wait(comm.lane(1));
      while (!comm.aborted()) std::this_thread::sleep_for(1ms);
      comm.wait(comm.lane(1));
    });
    return 0;
  }
  if (name == "exception") {
    // Rank 0 leaves the environment's scope while rank 1 is busy with something else: MPI_Finalize would wait for it.
    try {
      mpi::environment const running{argc, argv};
      mpi::communicator comm{MPI_COMM_WORLD, {.time_limit = 10min}};
      auto const work = [&] {
        exchange_for_ever(comm, 1000, [&](int call) {
          if (comm.rank() == 0 && call == 2) throw std::runtime_error{"a fault of rank 0's own"};
        });
      };
      if (comm.rank() == 0) work();
      tell(work);
      std::this_thread::sleep_for(10min);
    } catch (std::exception const& failure) {
      print(std::string{"leaves main: "} + failure.what());
      return 3;
    }
  }
  for (std::string_view how : {"exit", "kill", "stop"}) {
    if (name == how) return lose_rank(argc, argv, how, false);
    if (name == std::string{how} + "_inside") return lose_rank(argc, argv, how, true);
  }
  print("no such fault");
  return 1;
}
