// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "quick_compile.hpp"

#include "case_lists.hpp"

#include <tpoverlap/host/communicator.hpp>
#include <tpoverlap/overlap/side_overlap.hpp>

#include <memory>

namespace tpoverlap_test {

namespace {

constexpr std::int64_t columns = 6;
constexpr std::int64_t product_rows = 9;
constexpr std::int64_t product_inner = 5;
constexpr std::int64_t product_columns = 7;

std::uint64_t seed_of(int what, std::size_t call, int rank) {
  return static_cast<std::uint64_t>(what) * 100'000 + 100 * call + static_cast<std::uint64_t>(rank);
}

// One call's operands; several are in flight one behind the other.
struct side_call {
  matrix<float> source, target, a{product_rows, product_inner}, b{product_inner, product_columns},
      c{product_rows, product_columns};
  matrix_view<float> source_view, target_view;
  matrix<float> product_bits{product_rows, product_columns};
};

template <class Policy, int P>
void run_side(plan const& all) {
  using object = overlap<Policy, world<P>, host::communicator, chosen_gemm<float>>;
  constexpr auto strategy = Policy::strategy;
  constexpr bool gathers = std::is_same_v<decltype(strategy), all_gather const>;
  constexpr bool in_place = object::in_place;
  on_ranks(P, all.options, [&](host::communicator& comm) {
    int const me = comm.rank();
    auto const with = all.with;
    chosen_gemm<float> const gemm = gemm_of<float>(all.gemm);
    for (object_plan const& each : all.objects) {
      collective_shape const shape{
          .rows = each.rows, .columns = columns, .largest_shard = each.largest_shard};
      require(object::workspace_bytes(shape) == 0, "no workspace is needed");
      object work{comm, gemm, shape};
      std::vector<std::unique_ptr<side_call>> calls;
      host::stream oracle;
      host::stream stream;
      for (std::size_t i = 0; i < each.calls.size(); ++i) {
        auto const shards = shards_of(each.calls[i].shard_rows, each.rows, P);
        row_range const own = shards[static_cast<std::size_t>(me)];
        std::int64_t const total = shards.back().end();
        float const beta = each.calls[i].beta;
        call_options const options{.shard_rows = each.calls[i].shard_rows, .beta = beta};
        calls.push_back(std::make_unique<side_call>());
        side_call& now = *calls.back();
        now.source.resize(gathers ? own.count : total, columns);
        now.target.resize(gathers ? total : own.count, columns);
        now.source_view = now.source.view();
        now.target_view = now.target.view();
        if (all.unusual_views && gathers) now.source_view = now.target_view.row_range(own.first, own.count);
        if (all.unusual_views && !gathers) now.target_view = now.source_view.row_range(own.first, own.count);
        fill(now.source_view, with, seed_of(1, i, gathers ? 0 : me), gathers ? own.first : 0);
        fill(now.a.view(), with, seed_of(2, i, me));
        fill(now.b.view(), with, seed_of(3, i, me));
        if (beta != 0) fill(now.c.view(), with, seed_of(4, i, me));
        if (beta != 0) fill(now.product_bits.view(), with, seed_of(4, i, me));
        gemm(oracle, now.a.view(), now.b.view(), now.product_bits.view(), beta);
        if constexpr (in_place) {
          work(stream, now.source_view, now.a.view(), now.b.view(), now.c.view(), options);
        } else {
          work(stream, now.source_view, now.target_view, now.a.view(), now.b.view(), now.c.view(), options);
        }
      }
      comm.wait(stream);
      oracle.synchronize();
      for (std::size_t i = 0; i < calls.size(); ++i) {
        side_call& now = *calls[i];
        std::string const where = "rank " + std::to_string(me) + ", call " + std::to_string(i);
        require_same_bits(where + ": product", now.c.view(), now.product_bits.view());
        auto const shards = shards_of(each.calls[i].shard_rows, each.rows, P);
        std::int64_t const first = gathers || in_place ? 0 : shards[static_cast<std::size_t>(me)].first;
        auto const should = [&](std::int64_t row, std::int64_t column) -> float {
          if (gathers) return static_cast<float>(value(with, seed_of(1, i, 0), row, column));
          int owner = 0;
          while (first + row >= shards[static_cast<std::size_t>(owner)].end()) ++owner;
          float sum = 0;
          for (int r = 1; r <= P; ++r) {
            auto const part =
                static_cast<float>(value(with, seed_of(1, i, (owner + r) % P), first + row, column));
            sum = r == 1 ? part : sum + part;
          }
          return sum;
        };
        require_equal(where, in_place ? now.source_view : now.target_view, should);
        if (!gathers && !in_place && !all.unusual_views)
          require_equal(where + ": source", now.source_view, [&](std::int64_t row, std::int64_t column) {
            return static_cast<float>(value(with, seed_of(1, i, me), row, column));
          });
      }
    }
  });
}

template <class Policy, int... P>
void list_side(policy_cases& cases, char const* name, std::integer_sequence<int, P...>) {
  (cases.push_back({name + (", " + std::to_string(P) + " ranks"), P, {}, &run_side<Policy, P>}), ...);
}

}  // namespace

policy_cases side_cases() {
  policy_cases cases;
  list_side<independent_side_work<all_gather{}>>(cases, "all_gather", all_worlds{});
  list_side<independent_side_work<reduce_scatter{}>>(cases, "reduce_scatter", all_worlds{});
  list_side<independent_side_work<all_reduce{}>>(cases, "all_reduce", all_worlds{});
  return cases;
}

}  // namespace tpoverlap_test
