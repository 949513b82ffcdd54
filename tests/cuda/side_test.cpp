// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Collectives beside a GEMM that has nothing to do with them, joined at once or by a token.
#include "policies.hpp"

using namespace cuda_test;

namespace {

constexpr int ranks = 3;

template <auto Strategy>
using side =
    overlap<independent_side_work<Strategy>, world<ranks>, cu::nccl_communicator, cu::cublaslt_gemm<float>>;

/// Builds the object and the GEMM's operands, lets `call` issue, and checks the GEMM; `check` is for the collective.
template <auto Strategy, class Call, class Check>
void beside(cut const& shards, Call call, Check check) {
  check_all(on_ranks(ranks, {}, [&](cu::nccl_communicator& comm) {
    cu::stream stream{comm.device(), cu::stream_priority::normal};
    side<Strategy> object{
        comm, cu::cublaslt_gemm<float>{comm.device()}, {shards.total(), columns, shards.largest()}};
    auto const mine = shards.rows[static_cast<std::size_t>(comm.rank())];
    device_matrix<float> whole{comm.device(), shards.total(), columns};
    device_matrix<float> part{comm.device(), mine, columns};
    device_matrix<float> a{comm.device(), 5, inner};
    device_matrix<float> b{comm.device(), inner, columns};
    device_matrix<float> c{comm.device(), 5, columns};
    a.fill(stream, [](auto i, auto j) { return small_integer(1, i, j); });
    b.fill(stream, [](auto i, auto j) { return small_integer(2, i, j); });
    call(
        object, comm, stream, whole, part, [&](auto&& issue) { issue(a.read(), b.read(), c.view()); },
        call_options{.shard_rows = shards.rows});
    comm.wait(stream);
    c.require_equal(stream, "c", 5, [](auto i, auto j) {
      auto sum = 0;
      for (std::int64_t k = 0; k < inner; ++k) sum += small_integer(1, i, k) * small_integer(2, k, j);
      return sum;
    });
    check(comm, stream, whole, part);
  }));
}

int sum_over_ranks(std::int64_t i, std::int64_t j) {
  auto sum = 0;
  for (int r = 0; r < ranks; ++r) sum += small_integer(20 + r, i, j);
  return sum;
}

void gather_beside(cut const& shards, bool by_token) {
  beside<all_gather{}>(
      shards,
      [&](auto& object, auto& comm, cu::stream_ref& in, auto& whole, auto& part, auto gemm,
          call_options how) {
        part.fill(in, [&](auto i, auto j) { return small_integer(7, shards.first(comm.rank()) + i, j); });
        gemm([&](auto a, auto b, auto c) {
          if (by_token) {
            auto token = object.start(in, part.read(), whole.view(), a, b, c, how);
            token.join(in);
          } else {
            object(in, part.read(), whole.view(), a, b, c, how);
          }
        });
      },
      [&](auto&, cu::stream_ref in, auto& whole, auto&) {
        whole.require_equal(in, "gathered", shards.total(),
                            [](auto i, auto j) { return small_integer(7, i, j); });
      });
}

void reduce_beside(cut const& shards) {
  beside<reduce_scatter{}>(
      shards,
      [&](auto& object, auto& comm, cu::stream_ref& in, auto& whole, auto& part, auto gemm,
          call_options how) {
        whole.fill(in, [&](auto i, auto j) { return small_integer(20 + comm.rank(), i, j); });
        gemm([&](auto a, auto b, auto c) { object(in, whole.read(), part.view(), a, b, c, how); });
      },
      [&](auto& comm, cu::stream_ref in, auto&, auto& part) {
        part.require_equal(in, "scattered", shards.rows[static_cast<std::size_t>(comm.rank())],
                           [&](auto i, auto j) { return sum_over_ranks(shards.first(comm.rank()) + i, j); });
      });
}

void reduce_everywhere_beside(cut const& shards) {
  beside<all_reduce{}>(
      shards,
      [&](auto& object, auto& comm, cu::stream_ref& in, auto& whole, auto&, auto gemm, call_options how) {
        whole.fill(in, [&](auto i, auto j) { return small_integer(20 + comm.rank(), i, j); });
        gemm([&](auto a, auto b, auto c) { object(in, whole.view(), a, b, c, how); });
      },
      [&](auto&, cu::stream_ref in, auto& whole, auto&) {
        whole.require_equal(in, "reduced", shards.total(), sum_over_ranks);
      });
}

}  // namespace

TEST_CASE("collectives beside a GEMM", "[cuda][side]") {
  on_every_cut(ranks, [](cut const& shards) { gather_beside(shards, false); });
  on_every_cut(ranks, [](cut const& shards) { gather_beside(shards, true); });
  on_every_cut(ranks, reduce_beside);
  on_every_cut(ranks, reduce_everywhere_beside);
}
