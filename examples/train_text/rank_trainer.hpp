// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! One rank's training steps.
#pragma once

#include "adam.hpp"
#include "corpus.hpp"
#include "model.hpp"
#include "model_shape.hpp"
#include "passes.hpp"

#include <tpoverlap/tpoverlap.hpp>

#include <cstdint>
#include <span>

namespace train_text {

/// `trace` outlives the trainer; a null one records nothing.
/// **Ordering** building one and each of its calls is collective: all ranks make the same calls.
template <class T, class Schedule, class World>
class rank_trainer {
 public:
  using communicator = tpoverlap::host::communicator;
  using passes_type = parallel_passes<T, Schedule, World>;

  rank_trainer(communicator& comm, model_shape const& shape, corpus const& text, std::uint64_t seed,
               recorder* trace)
      : comm_{comm},
        shape_{shape},
        own_{share_of(shape, comm.size(), comm.rank())},
        text_{text},
        seed_{seed},
        passes_{comm, shape, own_, trace},
        model_{shape, own_, text, passes_},
        head_sum_{comm, tiles{}, column_of(model_.gradients.head()), {}, trace, "head gradient sum"},
        trunk_sum_{comm, tiles{}, column_of(model_.gradients.trunk()), {}, trace, "trunk gradient sum"},
        replicated_optimizer_{model_.values.replicated().size()},
        sharded_optimizer_{model_.values.sharded().size()} {
    model_.values.initialize(seed);
  }

  /// Trains on the batch of `step` and returns its loss. The gradients stay behind for who wants to see them.
  double step(int step) {
    draw_batch(text_, shape_.context, seed_, step, own_.rows, model_.positions);
    model_.forward(stream_);
    model_.backward_head(stream_);
    auto head_sum = start(head_sum_, model_.gradients.head());
    model_.backward_blocks(stream_);
    auto trunk_sum = start(trunk_sum_, model_.gradients.trunk());
    update(sharded_optimizer_, model_.values.sharded(), model_.gradients.sharded());
    head_sum.join(stream_);
    trunk_sum.join(stream_);
    update(replicated_optimizer_, model_.values.replicated(), model_.gradients.replicated());
    comm_.wait(stream_);
    return static_cast<double>(model_.gradients.loss(0, 0));
  }

  [[nodiscard]] model<T, passes_type>& trained() { return model_; }

 private:
  using tiles = tpoverlap::tiles<T>;
  using sum_over_ranks = tpoverlap::overlap<tpoverlap::independent_side_work<tpoverlap::all_reduce{}>, World,
                                            communicator, tiles, recorder>;

  static matrix_view<T> column(std::span<T> flat) {
    return {flat.data(), static_cast<std::int64_t>(flat.size()), 1};
  }
  static tpoverlap::collective_shape column_of(std::span<T> flat) {
    return {.rows = static_cast<std::int64_t>(flat.size()), .columns = 1};
  }

  auto start(sum_over_ranks& sum, std::span<T> gradients) {
    auto token = sum.start(stream_, column(gradients));
    if constexpr (!Schedule::side_work) token.join(stream_);
    return token;
  }

  void update(adam<T>& optimizer, std::span<T> values, std::span<T const> gradients) {
    stream_.enqueue([&optimizer, values, gradients] { optimizer.update(values, gradients); });
  }

  communicator& comm_;
  model_shape shape_;
  share own_;
  corpus const& text_;
  std::uint64_t seed_;
  passes_type passes_;
  model<T, passes_type> model_;
  sum_over_ranks head_sum_;
  sum_over_ranks trunk_sum_;
  adam<T> replicated_optimizer_;
  adam<T> sharded_optimizer_;
  tpoverlap::host::stream stream_;  // last, so that it has run dry before the memory that it works on goes
};

}  // namespace train_text
