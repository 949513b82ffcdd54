// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Communicators that lack a member: the error says which, and what to add. Ring and direct need no collective.

#include <tpoverlap/tpoverlap.hpp>

using namespace tpoverlap;

namespace {

struct names_backend {
  using backend = host::backend;
};
struct has_rank_and_size {
  [[nodiscard]] int rank() const { return 0; }
  [[nodiscard]] int size() const { return 2; }
};
struct has_lanes {
  host::stream& lane(int) { return *stream; }
  host::stream* stream = nullptr;
};
struct exchanges {
  void exchange(int, std::span<message const>, call_site) {}
};
struct gathers {
  void all_gather(int, void const*, std::span<piece const>, element, call_site) {}
};
struct reduces {
  void reduce_scatter(int, std::span<piece const>, void*, element, call_site) {}
};
struct sums {
  void all_reduce(int, std::span<piece const>, element, call_site) {}
};

template <class... Members>
struct made_of : Members... {};

using least = made_of<names_backend, has_rank_and_size, has_lanes, exchanges>;

template <class Policy, class Communicator>
using bound = overlap<Policy, world<2>, Communicator, host::reference_gemm<float>>;
template <class Policy, class Communicator>
using side = overlap<Policy, world<2>, Communicator, host::reference_gemm<float>>;

using ring_gather = producer_before_consumer<ring{}>;
using bulk_gather = producer_before_consumer<blocking{}>;
using bulk_reduce = consumer_before_reduction<pipeline{}>;
using bulk_sum = consumer_before_reduction<blocking{}, reduction{.result = reduction_result::all_reduce}>;

}  // namespace

template class tpoverlap::overlap<ring_gather, world<2>, least, host::reference_gemm<float>>;
static_assert(sizeof(bound<producer_before_consumer<direct{}>, least>) > 0);
static_assert(sizeof(bound<consumer_before_reduction<ring{}>, least>) > 0);
static_assert(sizeof(bound<consumer_before_reduction<direct{}>, least>) > 0);
static_assert(sizeof(bound<bulk_gather, made_of<least, gathers>>) > 0);
static_assert(sizeof(bound<bulk_reduce, made_of<least, reduces>>) > 0);
static_assert(sizeof(bound<bulk_sum, made_of<least, sums>>) > 0);
static_assert(sizeof(side<independent_side_work<all_gather{}>, made_of<least, gathers>>) > 0);
static_assert(sizeof(side<independent_side_work<reduce_scatter{}>, made_of<least, reduces>>) > 0);
static_assert(sizeof(side<independent_side_work<all_reduce{}>, made_of<least, sums>>) > 0);

#if defined(CASE_1)  // CASE_1: E020
static_assert(sizeof(bound<ring_gather, made_of<has_rank_and_size, has_lanes, exchanges>>) > 0);
#elif defined(CASE_2)   // CASE_2: E021
struct half_a_backend {
  using stream = host::stream;
  using event = host::event;
  static void record(event&, stream&) {}
  static void wait(stream&, event const&) {}
};
struct names_half_a_backend {
  using backend = half_a_backend;
};
static_assert(
    sizeof(bound<ring_gather, made_of<names_half_a_backend, has_rank_and_size, has_lanes, exchanges>>) > 0);
#elif defined(CASE_3)   // CASE_3: E022
static_assert(sizeof(bound<ring_gather, made_of<names_backend, has_lanes, exchanges>>) > 0);
#elif defined(CASE_4)   // CASE_4: E022
struct has_rank {
  [[nodiscard]] int rank() const { return 0; }
};
static_assert(sizeof(bound<ring_gather, made_of<names_backend, has_rank, has_lanes, exchanges>>) > 0);
#elif defined(CASE_5)   // CASE_5: E023
static_assert(sizeof(bound<ring_gather, made_of<names_backend, has_rank_and_size, exchanges>>) > 0);
#elif defined(CASE_6)   // CASE_6: E024
static_assert(sizeof(bound<ring_gather, made_of<names_backend, has_rank_and_size, has_lanes>>) > 0);
#elif defined(CASE_7)   // CASE_7: E025
static_assert(sizeof(bound<bulk_gather, made_of<least, reduces, sums>>) > 0);
#elif defined(CASE_8)   // CASE_8: E025
static_assert(sizeof(side<independent_side_work<all_gather{}>, made_of<least, reduces, sums>>) > 0);
#elif defined(CASE_9)   // CASE_9: E026
static_assert(sizeof(bound<bulk_reduce, made_of<least, gathers, sums>>) > 0);
#elif defined(CASE_10)  // CASE_10: E026
static_assert(sizeof(side<independent_side_work<reduce_scatter{}>, made_of<least, gathers, sums>>) > 0);
#elif defined(CASE_11)  // CASE_11: E027
static_assert(sizeof(bound<bulk_sum, made_of<least, gathers, reduces>>) > 0);
#elif defined(CASE_12)  // CASE_12: E027
static_assert(sizeof(side<independent_side_work<all_reduce{}>, made_of<least, gathers, reduces>>) > 0);
#endif
