// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "plan.hpp"

#include <tpoverlap/host/run_ranks.hpp>

namespace tpoverlap_test {

namespace {

std::vector<std::int64_t> rows_of(int ranks, std::int64_t (*count)(int, int)) {
  std::vector<std::int64_t> rows;
  for (int s = 0; s < ranks; ++s) rows.push_back(count(s, ranks));
  return rows;
}

}  // namespace

plan every_shape(int ranks, bool with_beta) {
  std::int64_t const largest = 7 * ranks + 3;
  object_plan divisible{6 * ranks, 0, {{}, {}, {}}};
  if (with_beta) divisible.calls.insert(divisible.calls.end(), {{{}, 1}, {{}, -2}});
  object_plan uneven{largest, largest, {{}, {}}};
  auto const call = [&](std::int64_t (*count)(int, int)) {
    uneven.calls.push_back(
        {rows_of(ranks, count), with_beta ? static_cast<float>(uneven.calls.size() % 3) - 1 : 0});
  };
  call([](int s, int) -> std::int64_t { return s % 2 == 0 ? 5 : 0; });
  call([](int s, int) -> std::int64_t { return s % 2 == 0 ? 0 : 4; });
  call([](int s, int all) -> std::int64_t { return s == 0 ? 7 * all + 3 : 0; });
  call([](int, int) -> std::int64_t { return 0; });
  call([](int s, int all) -> std::int64_t { return s == all - 1 ? 7 * all + 3 : 0; });
  call([](int, int) -> std::int64_t { return 1; });
  call([](int s, int) -> std::int64_t { return (s * 5 + 2) % 8; });
  uneven.calls.push_back({});
  return {.objects = {divisible, uneven}, .options = {}};
}

plan bitwise(int ranks, std::uint64_t straggler_seed) {
  plan made{.with = filling::fractions, .objects = {}, .options = {}};
  std::int64_t const rows = 13 * ranks + 2;
  made.objects = {
      {rows, rows, {{}, {rows_of(ranks, [](int s, int) -> std::int64_t { return (s * 7 + 3) % 14; }), 0}}}};
  if (straggler_seed != 0) {
    made.options.straggler_seed = straggler_seed;
    made.options.straggler_max = std::chrono::microseconds{300};
  }
  return made;
}

void on_ranks(int ranks, host::communicator_options const& options,
              std::function<void(host::communicator&)> const& f) {
  host::run_ranks(
      ranks, [&f](host::communicator& comm) { f(comm); }, options);
}

}  // namespace tpoverlap_test
