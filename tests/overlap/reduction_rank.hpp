// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! One rank's operands of a planned reduction, and the check of each result. As for gathers, no call is waited for.
#pragma once

#include "case_lists.hpp"

#include <tpoverlap/host/communicator.hpp>
#include <tpoverlap/overlap/reduction_overlap.hpp>
#include <tpoverlap/strategies/reduction_strategies.hpp>

#include <memory>
#include <type_traits>
#include <vector>

namespace tpoverlap_test {

template <class T>
class reduction_rank {
 public:
  reduction_rank(host::communicator& comm, policy_facts const& facts, plan const& all,
                 object_plan const& object, std::size_t workspace_bytes);
  ~reduction_rank();

  static gemm_shape shape(object_plan const& object) {
    return {.rows = object.rows, .inner = 5, .columns = 4, .largest_shard = object.largest_shard};
  }

  void before(std::size_t call);
  void after(std::size_t call);

  [[nodiscard]] host::stream& stream() { return stream_; }
  [[nodiscard]] std::span<std::byte> workspace() const { return workspace_.span(); }
  [[nodiscard]] matrix_view<T const> a() const { return a_view_; }
  [[nodiscard]] matrix_view<T const> w() const { return w_view_; }
  [[nodiscard]] matrix_view<T> y() const { return y_view_; }
  [[nodiscard]] call_options options() const { return options_; }

 private:
  struct expectation;

  [[nodiscard]] bool everywhere() const { return facts_.reduces.result == reduction_result::all_reduce; }
  void make_expected(expectation& call);
  template <class Sum>
  void add_in_order(expectation& call);
  template <class Sum>
  void chain_in_order(expectation& call, gemm_issuer<T, Sum> gemm);
  void check(expectation const& call) const;

  policy_facts facts_;
  plan const& plan_;
  object_plan const& object_;
  int rank_;
  int ranks_;
  gemm_shape shape_;
  matrix<T> a_, w_, y_;
  nan_bytes workspace_;
  std::vector<std::unique_ptr<expectation>> expected_;
  matrix_view<T> a_view_, w_view_, y_view_;
  call_options options_;
  host::stream oracle_;
  host::stream stream_;  // the last member: its tasks use the others
};

extern template class reduction_rank<float>;
extern template class reduction_rank<double>;

template <class T, class Policy, int P>
void run_reduction(plan const& all) {
  constexpr reduction options = Policy::options;
  constexpr bool fused_wide =
      options.accumulate == accumulation::fused && options.reduce_in == reduction_type::float64;
  using functor = std::conditional_t<fused_wide, widening_gemm<T>, chosen_gemm<T>>;
  using object = overlap<Policy, world<P>, host::communicator, functor>;
  on_ranks(P, all.options, [&](host::communicator& comm) {
    for (object_plan const& each : all.objects) {
      gemm_shape const shape = reduction_rank<T>::shape(each);
      reduction_rank<T> rank{comm, facts_of(Policy{}), all, each, object::workspace_bytes(shape)};
      object work{comm, functor{gemm_of<T>(all.gemm)}, shape, rank.workspace()};
      for (std::size_t i = 0; i < each.calls.size(); ++i) {
        rank.before(i);
        work(rank.stream(), rank.a(), rank.w(), rank.y(), rank.options());
        rank.after(i);
      }
      comm.wait(rank.stream());
    }
  });
}

template <class T, auto Strategy, reduction Options, int... P>
void list_reduction(policy_cases& cases, std::integer_sequence<int, P...>) {
  using policy = consumer_before_reduction<Strategy, Options>;
  constexpr policy_facts facts = facts_of(policy{});
  (cases.push_back({name_of(facts, P), P, facts, &run_reduction<T, policy, P>}), ...);
}

}  // namespace tpoverlap_test
