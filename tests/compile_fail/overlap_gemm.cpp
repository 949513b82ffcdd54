// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Functors that are neither a GEMM nor `tiles`.

#include <tpoverlap/tpoverlap.hpp>

using namespace tpoverlap;

namespace {

using view_in = matrix_view<float const>;
using view_out = matrix_view<float>;
using ring_gather = producer_before_consumer<ring{}>;
using ring_reduce = consumer_before_reduction<ring{}>;

struct names_types {
  using input_type = float;
  using output_type = float;
};
struct good_gemm : names_types {
  void operator()(host::stream&, view_in, view_in, view_out, float) const {}
};

template <class Policy, class Functor>
[[maybe_unused]] void build(host::communicator& comm) {
  overlap<Policy, world<2>, host::communicator, Functor> const made{comm, {}, {}, {}};
}

template void build<ring_gather, good_gemm>(host::communicator&);
template void build<ring_reduce, tiles<float>>(host::communicator&);
template void build<independent_side_work<all_gather{}>, good_gemm>(host::communicator&);
template void build<independent_side_work<all_gather{}>, tiles<float>>(host::communicator&);

}  // namespace

#if defined(CASE_1)  // CASE_1: E032
template void build<ring_gather, names_types>(host::communicator&);
#elif defined(CASE_2)  // CASE_2: E032
struct changes_itself : names_types {
  void operator()(host::stream&, view_in, view_in, view_out, float) {}
};
template void build<ring_reduce, changes_itself>(host::communicator&);
#elif defined(CASE_3)  // CASE_3: E032
struct for_another_stream : names_types {
  void operator()(int&, view_in, view_in, view_out, float) const {}
};
template void build<independent_side_work<all_gather{}>, for_another_stream>(host::communicator&);
#endif
