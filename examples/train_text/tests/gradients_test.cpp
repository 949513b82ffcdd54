// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "corpus.hpp"
#include "rank_trainer.hpp"
#include "schedules.hpp"

#include <tpoverlap/tpoverlap.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace {

using namespace train_text;
namespace host = tpoverlap::host;

// Small enough to try every parameter, and odd enough that shards and chunks are uneven.
constexpr model_shape shape{.rows = 13, .context = 3, .embedding = 4, .blocks = 2};
constexpr std::uint64_t seed = 7;

corpus some_text() {
  corpus text;
  for (std::uint64_t i = 0; i < 300; ++i)
    text.push_back(static_cast<std::uint8_t>('a' + random_bits(seed, 0, i) % 5));
  return text;
}

/// Calls `look(trainer, loss)` on every rank after one step.
template <class Schedule, int Ranks, class Look>
void after_one_step(Look look) {
  auto const text = some_text();
  host::run_ranks<Ranks>([&](host::communicator& comm) {
    rank_trainer<double, Schedule, tpoverlap::world<Ranks>> trainer{comm, shape, text, seed, nullptr};
    auto const loss = trainer.step(0);
    look(comm.rank(), trainer.trained(), loss);
  });
}

/// Gradients of all parameters as one rank alone would hold them, whatever the number of ranks.
struct whole_gradients {
  double loss = 0;
  parameters<double> values{shape, share_of(shape, 1, 0)};
};

// Called on several ranks' threads at once, where the test framework must not be used.
void copy(matrix_view<double const> from, matrix_view<double> to) {
  if (from.rows != to.rows || from.columns != to.columns) throw std::logic_error{"shards do not fit"};
  for (std::int64_t i = 0; i < from.rows; ++i)
    for (std::int64_t j = 0; j < from.columns; ++j) to(i, j) = from(i, j);
}

template <class Schedule, int Ranks>
void collect(whole_gradients& all) {
  std::vector<double> replicated_of_others[Ranks];
  after_one_step<Schedule, Ranks>([&](int rank, auto& model, double loss) {
    auto const replicated = model.gradients.replicated();
    replicated_of_others[rank].assign(replicated.begin(), replicated.end());
    if (rank == 0) {
      all.loss = loss;
      std::copy(replicated.begin(), replicated.end(), all.values.replicated().begin());
    }
    auto const hidden = share_of(shape, Ranks, rank).hidden;
    for (std::size_t i = 0; i < all.values.blocks.size(); ++i) {
      auto const& from = model.gradients.blocks[i];
      auto const& to = all.values.blocks[i];
      copy(from.up_weight, to.up_weight.column_range(hidden.first, hidden.count));
      copy(from.up_bias, to.up_bias.column_range(hidden.first, hidden.count));
      copy(from.down_weight, to.down_weight.row_range(hidden.first, hidden.count));
    }
  });
  // Parameters that start alike stay alike only if every rank has the same bits.
  for (auto const& other : replicated_of_others) CHECK(other == replicated_of_others[0]);
}

double largest_difference(std::span<double const> a, std::span<double const> b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto const difference = std::abs(a[i] - b[i]);
    REQUIRE(std::isfinite(difference));
    largest = std::max(largest, difference);
  }
  return largest;
}

template <class Schedule, int Ranks>
void check_against_one_rank() {
  whole_gradients expected;
  collect<blocking_schedule, 1>(expected);
  whole_gradients actual;
  collect<Schedule, Ranks>(actual);
  // Sums of a few hundred numbers near one in another order: far below this, and a wrong term is far above.
  constexpr double rounding = 1e-13;
  CHECK(std::abs(actual.loss - expected.loss) < rounding);
  CHECK(largest_difference(actual.values.replicated(), expected.values.replicated()) < rounding);
  CHECK(largest_difference(actual.values.sharded(), expected.values.sharded()) < rounding);
}

}  // namespace

TEST_CASE("gradients are those of the loss") {
  auto const text = some_text();
  host::run_ranks<1>([&](host::communicator& comm) {
    using passes_type = parallel_passes<double, blocking_schedule, tpoverlap::world<1>>;
    auto const own = share_of(shape, 1, 0);
    passes_type passes{comm, shape, own, nullptr};
    model<double, passes_type> tried{shape, own, text, passes};
    tried.values.initialize(seed);
    // A gain of one and biases of zero would hide a factor or a term that is missing.
    std::uint64_t index = 0;
    for (auto part : {tried.values.replicated(), tried.values.sharded()})
      for (auto& value : part) value += 0.2 * (random_fraction(seed, 1, index++) - 0.5);
    draw_batch(text, shape.context, seed, 0, own.rows, tried.positions);
    host::stream stream;

    tried.forward(stream);
    tried.backward_head(stream);
    tried.backward_blocks(stream);
    comm.wait(stream);

    auto const loss = [&] {
      tried.forward(stream);
      comm.wait(stream);
      return tried.gradients.loss(0, 0);
    };
    auto const check = [&](std::span<double> values, std::span<double const> gradients) {
      // The central difference is off by about h^2 and by rounding over h, both near 1e-10.
      constexpr double h = 1e-5;
      std::vector<double> differences;
      for (auto& value : values) {
        auto const kept = value;
        value = kept + h;
        auto const above = loss();
        value = kept - h;
        auto const below = loss();
        value = kept;
        differences.push_back((above - below) / (2 * h));
      }
      CHECK(largest_difference(differences, gradients) < 1e-8);
    };
    check(tried.values.replicated(), tried.gradients.replicated());
    check(tried.values.sharded(), tried.gradients.sharded());
  });
}

TEST_CASE("two ranks have one rank's gradients") {
  check_against_one_rank<blocking_schedule, 2>();
  check_against_one_rank<ring_schedule, 2>();
}

TEST_CASE("three ranks have one rank's gradients") {
  check_against_one_rank<ring_schedule, 3>();
  check_against_one_rank<direct_schedule, 3>();
}

TEST_CASE("four ranks have one rank's gradients") {
  check_against_one_rank<blocking_schedule, 4>();
  check_against_one_rank<ring_schedule, 4>();
  check_against_one_rank<direct_schedule, 4>();
  check_against_one_rank<pipeline_schedule, 4>();
}

TEST_CASE("the same seed gives the same numbers") {
  whole_gradients once;
  collect<ring_schedule, 4>(once);
  whole_gradients again;
  collect<ring_schedule, 4>(again);
  CHECK(once.loss == again.loss);
  CHECK(largest_difference(once.values.replicated(), again.values.replicated()) == 0);
  CHECK(largest_difference(once.values.sharded(), again.values.sharded()) == 0);
}
