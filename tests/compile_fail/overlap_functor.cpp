// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Functors that lack a member, or that a policy or a call cannot use.

#include <tpoverlap/tpoverlap.hpp>

using namespace tpoverlap;

namespace {

using view_in = matrix_view<float const>;
using view_out = matrix_view<float>;
using ring_gather = producer_before_consumer<ring{}>;
using ring_reduce = consumer_before_reduction<ring{}>;
using fused_wide =
    consumer_before_reduction<ring{.chunks = 2}, reduction{.accumulate = accumulation::fused,
                                                           .reduce_in = reduction_type::float64}>;
using fused_same =
    consumer_before_reduction<ring{.chunks = 2}, reduction{.accumulate = accumulation::fused,
                                                           .reduce_in = reduction_type::float32}>;
using separate_wide =
    consumer_before_reduction<ring{.chunks = 2}, reduction{.reduce_in = reduction_type::float64}>;

template <class Policy, class Functor>
using bound = overlap<Policy, world<2>, host::communicator, Functor>;

struct names_types {
  using input_type = float;
  using output_type = float;
};
struct good_gemm : names_types {
  void operator()(host::stream&, view_in, view_in, view_out, float) const {}
};
struct wide_gemm : good_gemm {
  using good_gemm::operator();
  void operator()(host::stream&, view_in, view_in, matrix_view<double>, float) const {}
};

template <class Policy, class Functor>
[[maybe_unused]] void build(host::communicator& comm) {
  bound<Policy, Functor> const made{comm, {}, {}, {}};
}

template <class Policy, class Functor>
void multiply(bound<Policy, Functor>& made, host::stream& stream) {
  made(stream, view_in{}, view_in{}, view_out{});
}

[[maybe_unused]] void consume(bound<ring_gather, tiles<float>>& made, host::stream& stream) {
  made(stream, view_in{}, [](host::stream&, gathered_tile<float> const&) {});
}
[[maybe_unused]] void produce(bound<ring_reduce, tiles<float>>& made, host::stream& stream) {
  made(
      stream, [](host::stream&, partial_tile<float> const&) {}, view_out{});
}

template void build<ring_gather, good_gemm>(host::communicator&);
template void build<ring_reduce, tiles<float>>(host::communicator&);
template void build<independent_side_work<all_gather{}>, good_gemm>(host::communicator&);
template void multiply(bound<ring_gather, good_gemm>&, host::stream&);
template void multiply(bound<ring_reduce, good_gemm>&, host::stream&);
template void multiply(bound<separate_wide, good_gemm>&, host::stream&);
template void multiply(bound<fused_same, good_gemm>&, host::stream&);
template void multiply(bound<fused_wide, wide_gemm>&, host::stream&);

}  // namespace

#if defined(CASE_1)  // CASE_1: E030
struct no_types {
  void operator()(host::stream&, view_in, view_in, view_out, float) const {}
};
template void build<ring_gather, no_types>(host::communicator&);
#elif defined(CASE_2)  // CASE_2: E030
struct no_output {
  using input_type = float;
  void operator()(host::stream&, view_in, view_in, view_out, float) const {}
};
template void build<ring_reduce, no_output>(host::communicator&);
#elif defined(CASE_3)  // CASE_3: E031
struct half {};
struct unknown_element {
  using input_type = half;
  using output_type = half;
  void operator()(host::stream&, matrix_view<half const>, matrix_view<half const>, matrix_view<half>,
                  float) const {}
};
template void build<ring_gather, unknown_element>(host::communicator&);
#elif defined(CASE_4)  // CASE_4: E033
void wrong_consumer(bound<ring_gather, tiles<float>>& made, host::stream& stream) {
  made(stream, view_in{}, [](host::stream&, gathered_tile<double> const&) {});
}
#elif defined(CASE_5)  // CASE_5: E034
void wrong_producer(bound<ring_reduce, tiles<float>>& made, host::stream& stream) {
  made(
      stream, [](host::stream&) {}, view_out{});
}
#elif defined(CASE_6)  // CASE_6: E035
template void multiply(bound<fused_wide, good_gemm>&, host::stream&);
#endif
