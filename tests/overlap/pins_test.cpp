// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What has to cost nothing does: sizes, triviality, and schedules that are data in the program's image.

#include "../support/catch.hpp"

#include <tpoverlap/tpoverlap.hpp>

#include <cstdint>
#include <type_traits>

using namespace tpoverlap;

namespace {

// A type is structural if a template parameter can have it.
template <auto Value>
struct as_argument {
  static constexpr auto value = Value;
};

template <class T>
inline constexpr bool plain = std::is_trivially_copyable_v<T>&& std::is_standard_layout_v<T>;

static_assert(as_argument<ring{.chunks = 2, .way = direction::both, .depth = 3}>::value ==
              ring{.chunks = 2, .way = direction::both, .depth = 3});
static_assert(as_argument<ring{.chunks = 2, .ratio = {.earlier = 2, .later = 1}}>::value.ratio ==
              chunk_ratio{2, 1});
static_assert(as_argument<direct{.chunks = 2}>::value == direct{.chunks = 2});
static_assert(as_argument<pipeline{}>::value == pipeline{.chunks = 4});
static_assert(as_argument<blocking{}>::value == blocking{});
static_assert(as_argument<all_gather{}>::value == all_gather{});
static_assert(as_argument<reduce_scatter{}>::value == reduce_scatter{});
static_assert(as_argument<all_reduce{}>::value == all_reduce{});
static_assert(as_argument<gather{.keep_gathered = true}>::value == gather{.keep_gathered = true});
static_assert(as_argument<reduction{.reduce_in = reduction_type::float64}>::value ==
              reduction{.reduce_in = reduction_type::float64});
static_assert(as_argument<violation{.broken = rule::race, .first = 3}>::value.first == 3);
static_assert(as_argument<rank_group{4}>::value == rank_group{4});
static_assert(as_argument<program_size{1, 2, 3, 4, 5}>::value.waits == 5);

static_assert(ring{} == ring{.chunks = 1, .way = direction::forward, .depth = 0});
static_assert(!(ring{} == ring{.chunks = 2}) && !(ring{} == ring{.ratio = {2, 1}}));
static_assert(gather{} == gather{.dimension = gathered_dimension::rows, .keep_gathered = false});
static_assert(reduction{} == reduction{.result = reduction_result::reduce_scatter,
                                       .accumulate = accumulation::separate,
                                       .reduce_in = reduction_type::as_output});

// Policies are types without state.
static_assert(std::is_empty_v<producer_before_consumer<ring{}>> && std::is_empty_v<world<4>> &&
              std::is_empty_v<consumer_before_reduction<ring{}>> &&
              std::is_empty_v<independent_side_work<all_gather{}>>);
static_assert(std::is_same_v<producer_before_consumer<ring{}>, producer_before_consumer<ring{.chunks = 1}>>);
static_assert(!std::is_same_v<producer_before_consumer<ring{}>, producer_before_consumer<ring{.chunks = 2}>>);

static_assert(plain<chunk_ratio> && sizeof(chunk_ratio) == 8);
static_assert(plain<ring> && sizeof(ring) == 20);
static_assert(plain<direct> && sizeof(direct) == 16);
static_assert(plain<pipeline> && sizeof(pipeline) == 12);
static_assert(plain<blocking> && std::is_empty_v<blocking>);
static_assert(plain<gather> && sizeof(gather) == 3);
static_assert(plain<reduction> && sizeof(reduction) == 3);
static_assert(plain<violation> && sizeof(violation) == 28);
static_assert(plain<tile_range> && sizeof(tile_range) == 24);
static_assert(plain<tpoverlap::tile_access> && sizeof(tpoverlap::tile_access) == 32);
static_assert(plain<operation> && sizeof(operation) == 28);
static_assert(plain<buffer> && sizeof(buffer) == 24);
static_assert(plain<rank_group> && sizeof(rank_group) == 12);
static_assert(plain<program_view> && sizeof(program_view) <= 80);
static_assert(plain<row_range> && sizeof(row_range) == 16);
static_assert(plain<piece> && sizeof(piece) == 16);
static_assert(plain<message> && sizeof(message) == 24);
static_assert(plain<gemm_shape> && sizeof(gemm_shape) == 32);
static_assert(plain<collective_shape> && sizeof(collective_shape) == 24);
static_assert(std::is_trivially_copyable_v<call_options> && sizeof(call_options) <= 24);
static_assert(plain<tile_run> && sizeof(tile_run) == 32);
static_assert(plain<buffer_memory> && sizeof(buffer_memory) == 24);

// Views travel by value into tasks, those for writing as well as those for reading.
static_assert(std::is_trivially_copyable_v<matrix_view<float>> && sizeof(matrix_view<float>) == 40);
static_assert(std::is_trivially_copyable_v<matrix_view<float const>>);
static_assert(std::is_nothrow_copy_constructible_v<matrix_view<float>> &&
              std::is_nothrow_copy_constructible_v<matrix_view<float const>>);
static_assert(std::is_nothrow_constructible_v<matrix_view<float const>, matrix_view<float const> const&>);
static_assert(std::is_convertible_v<matrix_view<float>, matrix_view<float const>>);
static_assert(!std::is_convertible_v<matrix_view<float const>, matrix_view<float>>);
static_assert(!std::is_convertible_v<matrix_view<double>, matrix_view<float const>>);
static_assert(std::is_trivially_copyable_v<gathered_tile<float>> &&
              std::is_trivially_copyable_v<partial_tile<float>>);

static_assert(std::is_empty_v<no_recorder>);
static_assert(std::is_nothrow_copy_constructible_v<usage_error> &&
              std::is_nothrow_copy_constructible_v<timeout_error>);

using gather_policy = producer_before_consumer<ring{.chunks = 2}>;
using object = overlap<gather_policy, world<4>, host::communicator, host::reference_gemm<float>>;
static_assert(!std::is_copy_constructible_v<object> && !std::is_move_constructible_v<object> &&
              !std::is_copy_assignable_v<object>);
static_assert(!std::is_polymorphic_v<object>);
// Pointers, row counts, operands, one event for each cross-lane edge, and where each access lies: the schedule is not
// stored.
static_assert(sizeof(object) <= 768 + static_cast<std::size_t>(object::program.events) * sizeof(host::event) +
                                    static_cast<std::size_t>(object::program.access_count) * 32);

static_assert(schedule<gather_policy, 4>::proven_at_compile_time &&
              schedule<gather_policy, 4>::verdict.verified());
static_assert(std::is_same_v<object::schedule_type, schedule<gather_policy, 4>>);
static_assert(!object::hides_nothing && object::path.hidden() > 0);
static_assert(overlap<producer_before_consumer<blocking{}>, world<4>, host::communicator,
                      host::reference_gemm<float>>::hides_nothing);
static_assert(overlap<consumer_before_reduction<ring{}, reduction{.accumulate = accumulation::fused}>,
                      world<4>, host::communicator, host::reference_gemm<float>>::hides_nothing);

}  // namespace

TEST_CASE("types of schedules and views cost what they should", "[pins]") {
  SUCCEED("checked while compiling");
}

TEST_CASE("policy and world are deduced", "[pins]") {
  host::run_ranks<2>([](host::communicator& comm) {
    alignas(64) std::byte workspace[4096];
    overlap up{gather_policy{},
               world<2>{},
               comm,
               host::reference_gemm<float>{},
               {.rows = 4, .inner = 2, .columns = 2},
               workspace};
    static_assert(
        std::is_same_v<decltype(up),
                       overlap<gather_policy, world<2>, host::communicator, host::reference_gemm<float>>>);
    overlap beside{independent_side_work<all_gather{}>{},
                   world<2>{},
                   comm,
                   tiles<float>{},
                   {.rows = 4, .columns = 2},
                   {}};
    static_assert(std::is_same_v<decltype(beside), overlap<independent_side_work<all_gather{}>, world<2>,
                                                           host::communicator, tiles<float>>>);
  });
}
