// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Lists that a tuner cannot choose from, and parts that it cannot measure.

#include <tpoverlap/tpoverlap.hpp>
#include <tpoverlap/tuner.hpp>

using namespace tpoverlap;

namespace engine {

struct nameless {
  int chunks = 1;
};
constexpr void emit(gather_builder& b, nameless const&) { emit(b, blocking{}); }

struct forgetful {
  int chunks = 1;
};
constexpr void emit(gather_builder& b, forgetful const&) { emit(b, blocking{}); }
constexpr void describe(policy_text& text, forgetful const&) { text.begin("forgetful"); }

/// Can neither compare times nor wait.
struct messages_only {
  using backend = host::backend;
  host::communicator* transport;
  [[nodiscard]] int rank() const { return transport->rank(); }
  [[nodiscard]] int size() const { return transport->size(); }
  host::stream& lane(int index) { return transport->lane(index); }
  void exchange(int lane, std::span<message const> messages, call_site where) {
    transport->exchange(lane, messages, where);
  }
  void all_gather(int lane, void const* own, std::span<piece const> shards, element type, call_site where) {
    transport->all_gather(lane, own, shards, type, where);
  }
};

}  // namespace engine

namespace {

using ring_gather = producer_before_consumer<ring{}>;
template <class Candidates, class Communicator = host::communicator,
          class Functor = host::reference_gemm<float>>
using tuned = tuned_overlap<Candidates, world<2>, Communicator, Functor>;

static_assert(candidates<ring_gather>::count == 2);
static_assert(sizeof(tuned<candidates<ring_gather>>) > 0);

}  // namespace

#if defined(CASE_1)  // CASE_1: E061
static_assert(candidates<>::count > 0);
#elif defined(CASE_2)   // CASE_2: E061
static_assert(candidates<producer_before_consumer<blocking{}>>::count > 0);
#elif defined(CASE_3)   // CASE_3: E062
static_assert(candidates<ring_gather, ring>::count > 0);
#elif defined(CASE_4)   // CASE_4: E063
static_assert(candidates<ring_gather, consumer_before_reduction<ring{}>>::count > 0);
#elif defined(CASE_5)   // CASE_5: E063
static_assert(candidates<ring_gather, independent_side_work<all_gather{}>>::count > 0);
#elif defined(CASE_6)   // CASE_6: E064
static_assert(
    candidates<ring_gather, producer_before_consumer<ring{}, gather{.keep_gathered = true}>>::count > 0);
#elif defined(CASE_7)   // CASE_7: E064
static_assert(
    candidates<consumer_before_reduction<ring{}>,
               consumer_before_reduction<ring{}, reduction{.reduce_in = reduction_type::float64}>>::count >
    0);
#elif defined(CASE_8)   // CASE_8: E065
static_assert(candidates<ring_gather, producer_before_consumer<ring{.chunks = 1}>>::count > 0);
#elif defined(CASE_9)   // CASE_9: E065
static_assert(candidates<producer_before_consumer<engine::forgetful{.chunks = 1}>,
                         producer_before_consumer<engine::forgetful{.chunks = 2}>>::count > 0);
#elif defined(CASE_10)  // CASE_10: E060
static_assert(candidates<producer_before_consumer<engine::nameless{}>>::count > 0);
#elif defined(CASE_11)  // CASE_11: E066
std::string name_of_none() {
  return identity_of([] {});
}
#elif defined(CASE_12)  // CASE_12: E066
namespace {
struct hidden_gemm : host::reference_gemm<float> {};
}  // namespace
std::string name_of_hidden() { return identity_of(hidden_gemm{}); }
#elif defined(CASE_13)  // CASE_13: E067
static_assert(sizeof(tuned<candidates<ring_gather>, engine::messages_only>) > 0);
#elif defined(CASE_14)  // CASE_14: E068
static_assert(
    sizeof(tuned<candidates<independent_side_work<all_gather{}>>, host::communicator, tiles<float>>) > 0);
#elif defined(CASE_15)  // CASE_15: E069
static_assert(
    sizeof(tuned<candidates<independent_side_work<all_gather{}>, independent_side_work<reduce_scatter{}>>>) >
    0);
#endif
