// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! One rank's operands of a planned gather, and the check of each result. All of it runs in stream order: inputs are
//! rewritten and results are checked between two calls without the rank ever waiting.
#pragma once

#include "case_lists.hpp"

#include <tpoverlap/host/communicator.hpp>
#include <tpoverlap/overlap/gather_overlap.hpp>
#include <tpoverlap/strategies/gather_strategies.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tpoverlap_test {

template <class T>
class gather_rank {
 public:
  gather_rank(host::communicator& comm, policy_facts const& facts, plan const& all, object_plan const& object,
              std::size_t workspace_bytes);
  ~gather_rank();

  static gemm_shape shape(policy_facts const& facts, object_plan const& object);

  void before(std::size_t call);
  void after(std::size_t call);

  [[nodiscard]] host::stream& stream() { return stream_; }
  [[nodiscard]] std::span<std::byte> workspace() const { return workspace_.span(); }
  [[nodiscard]] matrix_view<T const> x() const { return x_view_; }
  [[nodiscard]] matrix_view<T const> other() const { return other_view_; }
  [[nodiscard]] matrix_view<T> y() const { return y_view_; }
  [[nodiscard]] matrix_view<T> gathered() const { return gathered_view_; }
  [[nodiscard]] call_options options() const { return options_; }

 private:
  struct expectation;

  [[nodiscard]] bool contracts() const { return facts_.gathers.dimension == gathered_dimension::contraction; }
  [[nodiscard]] bool right() const { return facts_.gathers.operand == gathered_operand::right; }
  [[nodiscard]] double exact(expectation const& call, std::int64_t row, std::int64_t column) const;
  void make_expected(expectation& call);
  void check(expectation const& call) const;

  policy_facts facts_;
  plan const& plan_;
  object_plan const& object_;
  int rank_;
  int ranks_;
  gemm_shape shape_;
  std::int64_t width_;
  matrix<T> x_, other_, y_, gathered_;
  nan_bytes workspace_;
  std::vector<std::unique_ptr<expectation>> expected_;
  matrix_view<T> x_view_, other_view_, y_view_, gathered_view_;
  call_options options_;
  host::stream oracle_;
  host::stream stream_;  // the last member: its tasks use the others
};

extern template class gather_rank<float>;
extern template class gather_rank<double>;

template <class T, class Policy, int P>
void run_gather(plan const& all) {
  using object = overlap<Policy, world<P>, host::communicator, chosen_gemm<T>>;
  on_ranks(P, all.options, [&](host::communicator& comm) {
    for (object_plan const& each : all.objects) {
      gemm_shape const shape = gather_rank<T>::shape(facts_of(Policy{}), each);
      gather_rank<T> rank{comm, facts_of(Policy{}), all, each, object::workspace_bytes(shape)};
      object work{comm, gemm_of<T>(all.gemm), shape, rank.workspace()};
      for (std::size_t i = 0; i < each.calls.size(); ++i) {
        rank.before(i);
        if constexpr (Policy::options.keep_gathered) {
          work(rank.stream(), rank.x(), rank.other(), rank.y(), rank.gathered(), rank.options());
        } else {
          work(rank.stream(), rank.x(), rank.other(), rank.y(), rank.options());
        }
        rank.after(i);
      }
      comm.wait(rank.stream());
    }
  });
}

template <class T, auto Strategy, gather Options, int... P>
void list_gather(policy_cases& cases, std::integer_sequence<int, P...>) {
  using policy = producer_before_consumer<Strategy, Options>;
  constexpr policy_facts facts = facts_of(policy{});
  (cases.push_back({name_of(facts, P), P, facts, &run_gather<T, policy, P>}), ...);
}

}  // namespace tpoverlap_test
