// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Ranks as threads of this process, on an emulated link.

#include "launch.hpp"
#include "transport.hpp"

#include <tpoverlap/host.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

namespace {

namespace host = tpoverlap::host;

class thread_transport : public transport_over<host::communicator> {
 public:
  using transport_over::transport_over;

  void barrier() override {
    std::uint64_t const word[1]{};
    std::vector<std::uint64_t> all(static_cast<std::size_t>(size()));
    host_all_gather(word, all);
  }
  [[nodiscard]] bool in_one_process() const override { return true; }
};

surroundings describe_threads(request const& asked) {
  char name[256] = "?";
  if (gethostname(name, sizeof name - 1) != 0) name[0] = '?';
  return {.transport = "threads of one process, " + describe(asked.link),
          .hosts = std::vector<std::string>(static_cast<std::size_t>(asked.ranks), name),
          .emulated = asked.link.emulates()};
}

/// The longest wait for another rank: a message may take long on a slow link.
std::chrono::milliseconds time_limit(request const& asked) {
  auto const elements = asked.rows * asked.ranks * (std::max)(asked.inner, asked.columns);
  double const message =
      static_cast<double>(elements) * sizeof(float) + static_cast<double>(asked.message_bytes);
  auto const seconds = 60 + 4 * asked.link.seconds_on_wire(static_cast<std::size_t>(message));
  return std::chrono::milliseconds{static_cast<std::int64_t>(seconds * 1e3)};
}

}  // namespace

int run_in_process(request asked, progress const& tell, reporter const& report) {
  if (asked.balanced) {
    double const latency = std::exchange(asked.link, {}).latency_seconds;
    double gigabits = 0;
    auto const where = describe_threads(asked);
    host::run_ranks(asked.ranks,
                    [&](host::communicator& comm) {
                      thread_transport over{comm, where};
                      double const found = balanced_bandwidth(over, asked, tell);
                      if (comm.rank() == 0) gigabits = found;
                    },
                    {.time_limit = time_limit(asked)});
    asked.link = {gigabits, latency};
  }
  auto const where = describe_threads(asked);
  std::mutex one_at_a_time;
  progress const complain = [&](std::string_view line) {
    std::lock_guard const lock{one_at_a_time};
    tell(line);
  };
  int status = 0;
  host::run_ranks(asked.ranks,
                  [&](host::communicator& comm) {
                    thread_transport over{comm, where};
                    auto const found = compare(over, asked, tell, complain);
                    if (comm.rank() != 0) return;
                    if (found) {
                      report(asked, *found);
                    } else {
                      status = 1;
                    }
                  },
                  {.link = asked.link, .time_limit = time_limit(asked)});
  return status;
}

}  // namespace bench
