// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Every class and strategy on streams, NCCL and cuBLASLt, as a host compiler sees them.

#include <tpoverlap/cuda.hpp>
#include <tpoverlap/nccl.hpp>
#include <tpoverlap/overlap.hpp>

#include <type_traits>

namespace {

using namespace tpoverlap;

template <class Communicator, class Gemm, class Policy>
void call(Policy policy, Communicator& comm, cu::stream& in, std::span<std::byte> workspace) {
  using input = typename Gemm::input_type;
  using output = typename Gemm::output_type;
  matrix_view<input> const a{};
  matrix_view<output> const c{};
  if constexpr (std::is_same_v<typename detail::shape_of<Policy>::type, gemm_shape>) {
    overlap object{policy, world<4>{}, comm, Gemm{in.device()}, gemm_shape{}, workspace};
    object(in, a, a, c);
    cu::captured replayed{object, comm};
    replayed(in, a, a, c, call_options{});
  } else {
    overlap object{policy, world<4>{}, comm, Gemm{in.device()}, collective_shape{}, workspace};
    object.start(in, a, a, a, a, c).join(in);
  }
}

constexpr reduction widened{.reduce_in = reduction_type::float32};
constexpr reduction fused{.accumulate = accumulation::fused, .reduce_in = reduction_type::float32};
constexpr reduction everywhere{.result = reduction_result::all_reduce};
constexpr gather contraction{.dimension = gathered_dimension::contraction};

template <class Communicator, class Input, class Output>
void call_all(Communicator& comm, cu::stream& in, std::span<std::byte> workspace) {
  using gemm = cu::cublaslt_gemm<Input, Output>;
  auto const each = [&](auto... policies) { (call<Communicator, gemm>(policies, comm, in, workspace), ...); };
  each(producer_before_consumer<ring{.chunks = 2}>{}, producer_before_consumer<direct{}>{},
       producer_before_consumer<pipeline{}>{}, producer_before_consumer<blocking{}, contraction>{});
  each(consumer_before_reduction<ring{.chunks = 2}>{}, consumer_before_reduction<ring{.chunks = 2}, fused>{},
       consumer_before_reduction<direct{}, widened>{}, consumer_before_reduction<pipeline{}>{},
       consumer_before_reduction<blocking{}, everywhere>{});
  each(independent_side_work<all_gather{}>{}, independent_side_work<reduce_scatter{}>{});
}

}  // namespace

void use_everything(cu::nccl_communicator& comm, cu::stream& in, std::span<std::byte> workspace) {
  call_all<cu::nccl_communicator, __nv_bfloat16, __nv_bfloat16>(comm, in, workspace);
  call_all<cu::nccl_communicator, __nv_fp8_e4m3, __nv_bfloat16>(comm, in, workspace);
}

int main() {}
