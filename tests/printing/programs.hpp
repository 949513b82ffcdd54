// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Programs to print: small ones of every class, and copies that can be spoilt.
#pragma once

#include <tpoverlap/schedule/build.hpp>
#include <tpoverlap/strategies/gather_strategies.hpp>
#include <tpoverlap/strategies/reduction_strategies.hpp>
#include <tpoverlap/strategies/side_strategies.hpp>

#include <string>
#include <vector>

namespace printing_test {

/// What `print(program_view)` says of the program of a policy.
template <class Policy, class Print>
std::string printed(Policy policy, int ranks, Print print) {
  return with_program(policy, ranks,
                      [&](tpoverlap::program_builder const& built) { return print(built.view()); });
}

/// Options that are not the default. Not local to their users: clang 14 takes that for a capture.
inline constexpr tpoverlap::gather summed{.dimension = tpoverlap::gathered_dimension::contraction,
                                          .keep_gathered = true};
inline constexpr tpoverlap::reduction wide{.result = tpoverlap::reduction_result::all_reduce,
                                           .reduce_in = tpoverlap::reduction_type::float32};
inline constexpr tpoverlap::chunk_ratio halving{.earlier = 2, .later = 1};
inline constexpr tpoverlap::reduction fused{.accumulate = tpoverlap::accumulation::fused};

/// Runs `use(program_view)` on a program of every class and strategy, for several world sizes.
template <class Use>
void for_each_program(Use use) {
  using namespace tpoverlap;
  auto const call = [&](program_builder const& built) { use(built.view()); };
  for (int ranks : {1, 2, 3, 4, 11}) {
    with_program(producer_before_consumer<blocking{}>{}, ranks, call);
    with_program(producer_before_consumer<ring{.chunks = 3, .way = direction::both}>{}, ranks, call);
    with_program(producer_before_consumer<ring{.depth = 2}>{}, ranks, call);
    with_program(producer_before_consumer<direct{.chunks = 2}, summed>{}, ranks, call);
    with_program(producer_before_consumer<pipeline{.chunks = 2}>{}, ranks, call);
    with_program(producer_before_consumer<pipeline{.ratio = halving}>{}, ranks, call);
    with_program(consumer_before_reduction<blocking{}, wide>{}, ranks, call);
    with_program(consumer_before_reduction<ring{.chunks = 2}, wide>{}, ranks, call);
    with_program(consumer_before_reduction<ring{.chunks = 2, .way = direction::both}, fused>{}, ranks, call);
    with_program(consumer_before_reduction<direct{}>{}, ranks, call);
    with_program(consumer_before_reduction<pipeline{}>{}, ranks, call);
    with_program(independent_side_work<all_gather{}>{}, ranks, call);
    with_program(independent_side_work<reduce_scatter{}>{}, ranks, call);
    with_program(independent_side_work<all_reduce{}>{}, ranks, call);
  }
}

/// A copy of a program whose lists can be changed.
class editable_program {
 public:
  explicit editable_program(tpoverlap::program_view const& p)
      : weights(p.weights, p.weights + p.chunks),
        buffers(p.buffers, p.buffers + p.buffer_count),
        operations(p.operations, p.operations + p.operation_count),
        accesses(p.accesses, p.accesses + p.access_count),
        waits(p.waits, p.waits + p.wait_count),
        view_{p} {}

  [[nodiscard]] tpoverlap::program_view view() const {
    tpoverlap::program_view p = view_;
    p.weights = weights.data();
    p.buffers = buffers.data();
    p.operations = operations.data();
    p.accesses = accesses.data();
    p.waits = waits.data();
    return p;
  }

  std::vector<int> weights;
  std::vector<tpoverlap::buffer> buffers;
  std::vector<tpoverlap::operation> operations;
  std::vector<tpoverlap::tile_access> accesses;
  std::vector<int> waits;

 private:
  tpoverlap::program_view view_;
};

template <class Policy>
editable_program copy_of(Policy policy, int ranks) {
  return with_program(policy, ranks,
                      [](tpoverlap::program_builder const& built) { return editable_program{built.view()}; });
}

inline std::vector<std::string> lines_of(std::string const& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = text.find('\n', at);
    if (end == std::string::npos) return {};  // every line has to be ended
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

inline int count_of(std::string const& text, std::string const& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

}  // namespace printing_test
