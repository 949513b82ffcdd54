// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Ranks as the processes of an MPI job.

#include "launch.hpp"
#include "options.hpp"
#include "transport.hpp"

#include <tpoverlap/mpi.hpp>

#include <cctype>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bench {

namespace {

namespace mpi = tpoverlap::mpi;

/// A duplicate of MPI_COMM_WORLD, where this file's own calls meet nothing else. MPI ends the job if one fails.
class own_group {
 public:
  own_group() {
    MPI_Comm_dup(MPI_COMM_WORLD, &group_);
    MPI_Comm_size(group_, &size_);
  }
  own_group(own_group const&) = delete;
  own_group& operator=(own_group const&) = delete;
  ~own_group() { MPI_Comm_free(&group_); }

  [[nodiscard]] MPI_Comm get() const { return group_; }
  [[nodiscard]] int size() const { return size_; }

 private:
  MPI_Comm group_ = MPI_COMM_NULL;
  int size_ = 0;
};

class mpi_collectives : public library_collectives {
 public:
  explicit mpi_collectives(own_group const& group) : group_{group} {}

  void all_gather(float const* own, float* all, std::int64_t own_elements) override {
    cut(own_elements);
    MPI_Allgatherv(own, counts_[0], MPI_FLOAT, all, counts_.data(), places_.data(), MPI_FLOAT, group_.get());
  }
  void reduce_scatter(float const* all, float* own, std::int64_t own_elements) override {
    cut(own_elements);
    MPI_Reduce_scatter(all, own, counts_.data(), MPI_FLOAT, MPI_SUM, group_.get());
  }
  void all_reduce(float* shared, std::int64_t elements) override {
    MPI_Allreduce(MPI_IN_PLACE, shared, fitting(elements), MPI_FLOAT, MPI_SUM, group_.get());
  }

 private:
  static int fitting(std::int64_t elements) {
    if (elements > INT_MAX)
      throw input_error{"the MPI library's collectives count elements in 32 bits, and " +
                        std::to_string(elements) + " are more; choose fewer --rows"};
    return static_cast<int>(elements);
  }

  void cut(std::int64_t own_elements) {
    auto const ranks = static_cast<std::size_t>(group_.size());
    (void)fitting(own_elements * group_.size());
    counts_.assign(ranks, static_cast<int>(own_elements));
    places_.resize(ranks);
    for (std::size_t r = 0; r < ranks; ++r)
      places_[r] = static_cast<int>(own_elements * static_cast<std::int64_t>(r));
  }

  own_group const& group_;
  std::vector<int> counts_;
  std::vector<int> places_;
};

class mpi_transport : public transport_over<mpi::communicator> {
 public:
  mpi_transport(mpi::communicator& comm, own_group const& group, surroundings where)
      : transport_over{comm, std::move(where)}, group_{group}, library_{group} {}

  /// MPI's own barrier is exact but waits with the processor at full speed, which would slow down those that it waits
  /// for. So the first one is for waiting, and the second is left at once.
  void barrier() override {
    std::uint64_t const word[1]{};
    std::vector<std::uint64_t> all(static_cast<std::size_t>(size()));
    host_all_gather(word, all);
    MPI_Barrier(group_.get());
  }
  [[nodiscard]] bool in_one_process() const override { return false; }
  library_collectives* library() override { return &library_; }

 private:
  own_group const& group_;
  mpi_collectives library_;
};

/// "Open MPI v4.1.4", "MPICH Version: 4.0.2": MPI's own words up to the first comma or line, blanks drawn together.
std::string library_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING + 1]{};
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string name;
  for (char const* c = text; *c != '\0' && *c != ',' && *c != '\n'; ++c) {
    bool const blank = std::isspace(static_cast<unsigned char>(*c)) != 0;
    if (!blank) {
      name += *c;
    } else if (!name.empty() && name.back() != ' ') {
      name += ' ';
    }
  }
  return name;
}

surroundings describe_processes(own_group const& group) {
  constexpr std::size_t room = MPI_MAX_PROCESSOR_NAME + 1;
  std::vector<char> mine(room);
  int length = 0;
  MPI_Get_processor_name(mine.data(), &length);
  std::vector<char> all(room * static_cast<std::size_t>(group.size()));
  MPI_Allgather(mine.data(), static_cast<int>(room), MPI_CHAR, all.data(), static_cast<int>(room), MPI_CHAR,
                group.get());
  surroundings where;
  where.transport = library_name();
  for (std::size_t r = 0; r < static_cast<std::size_t>(group.size()); ++r)
    where.hosts.emplace_back(all.data() + r * room);
  return where;
}

/// A launcher of another MPI starts every process as a world of its own, and each would measure alone.
void require_one_world(int size, std::optional<launcher> const& launched) {
  if (!launched || launched->size == 0 || launched->size == size) return;
  throw input_error{"the launcher started " + std::to_string(launched->size) + " ranks, as " +
                    launched->variable + " shows, but " + library_name() +
                    ", which this program is linked with, knows " + std::to_string(size) +
                    "; start it with that MPI's own mpirun"};
}

}  // namespace

int run_under_mpi(int& argc, char**& argv, request const& asked, std::optional<launcher> const& launched,
                  progress const& tell, reporter const& report) {
  mpi::environment const started{argc, argv};
  own_group const group;
  require_one_world(group.size(), launched);
  require_compiled(group.size());
  mpi::communicator_options options;
  options.time_limit = std::chrono::minutes{1};
  mpi::communicator comm{MPI_COMM_WORLD, options};
  mpi_transport over{comm, group, describe_processes(group)};
  auto const found = compare(over, asked, tell, tell);
  if (!found) return 1;
  if (comm.rank() == 0) report(asked, *found);
  return 0;
}

}  // namespace bench
