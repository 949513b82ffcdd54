// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The software device's cuBLASLt: products of every type and layout, and what is refused.
#include "buffers.hpp"

#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

using namespace cuda_device_test;

namespace {

template <class T>
constexpr cudaDataType data_type = CUDA_R_32F;
template <>
constexpr cudaDataType data_type<__half> = CUDA_R_16F;
template <>
constexpr cudaDataType data_type<__nv_bfloat16> = CUDA_R_16BF;
template <>
constexpr cudaDataType data_type<__nv_fp8_e4m3> = CUDA_R_8F_E4M3;
template <>
constexpr cudaDataType data_type<__nv_fp8_e5m2> = CUDA_R_8F_E5M2;

struct sizes {
  std::uint64_t m, n, k;
};

/// Small integers, so that every sum is exact in every order.
template <class T>
std::vector<T> integers(std::size_t count, int seed) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(
        static_cast<float>(static_cast<int>((i * 7 + static_cast<std::size_t>(seed)) % 5) - 2));
  return values;
}

/// d (m, n) = alpha · op(a) · op(b) + beta · c, all column-major and tight, c the same memory as d.
template <class In, class Out>
struct product {
  sizes size;
  cublasOperation_t op_a, op_b;
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t how = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulHeuristicResult_t choice{};
  float alpha = 1, beta = 0;

  product(sizes s, cublasOperation_t ta, cublasOperation_t tb,
          cublasComputeType_t compute = CUBLAS_COMPUTE_32F)
      : size{s}, op_a{ta}, op_b{tb} {
    REQUIRE(cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cublasLtMatmulDescCreate(&how, compute, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS);
    set(CUBLASLT_MATMUL_DESC_TRANSA, op_a);
    set(CUBLASLT_MATMUL_DESC_TRANSB, op_b);
    a = layout<In>(op_a == CUBLAS_OP_N ? s.m : s.k, op_a == CUBLAS_OP_N ? s.k : s.m);
    b = layout<In>(op_b == CUBLAS_OP_N ? s.k : s.n, op_b == CUBLAS_OP_N ? s.n : s.k);
    d = layout<Out>(s.m, s.n);
    REQUIRE(cublasLtMatmulPreferenceCreate(&preference) == CUBLAS_STATUS_SUCCESS);
  }
  product(product const&) = delete;
  product& operator=(product const&) = delete;
  ~product() {
    for (auto* const each : {a, b, d}) (void)cublasLtMatrixLayoutDestroy(each);
    (void)cublasLtMatmulDescDestroy(how);
    (void)cublasLtMatmulPreferenceDestroy(preference);
    (void)cublasLtDestroy(handle);
  }

  template <class T>
  static cublasLtMatrixLayout_t layout(std::uint64_t rows, std::uint64_t columns) {
    cublasLtMatrixLayout_t made = nullptr;
    REQUIRE(cublasLtMatrixLayoutCreate(&made, data_type<T>, rows, columns, static_cast<std::int64_t>(rows)) ==
            CUBLAS_STATUS_SUCCESS);
    return made;
  }

  template <class T>
  void set(cublasLtMatmulDescAttributes_t which, T value) {
    REQUIRE(cublasLtMatmulDescSetAttribute(how, which, &value, sizeof value) == CUBLAS_STATUS_SUCCESS);
  }
  template <class T>
  void prefer(cublasLtMatmulPreferenceAttributes_t which, T value) {
    REQUIRE(cublasLtMatmulPreferenceSetAttribute(preference, which, &value, sizeof value) ==
            CUBLAS_STATUS_SUCCESS);
  }

  cublasStatus_t choose() {
    int found = 0;
    return cublasLtMatmulAlgoGetHeuristic(handle, how, a, b, d, d, preference, 1, &choice, &found);
  }
  cublasStatus_t run(In const* a_data, In const* b_data, Out* d_data, cudaStream_t stream,
                     void* workspace = nullptr, std::size_t bytes = 0) {
    return cublasLtMatmul(handle, how, &alpha, a_data, a, b_data, b, &beta, d_data, d, d_data, d,
                          &choice.algo, workspace, bytes, stream);
  }
};

template <class In, class Out>
void check_product(sizes s, cublasOperation_t op_a, cublasOperation_t op_b, float beta) {
  CAPTURE(s.m, s.n, s.k, op_a, op_b, beta);
  auto const a = integers<In>(s.m * s.k, 1);
  auto const b = integers<In>(s.k * s.n, 3);
  auto const before = integers<Out>(s.m * s.n, 2);
  auto* const result = beta == 0 ? device_array<Out>(s.m * s.n) : device_copy(before);
  product<In, Out> p{s, op_a, op_b};
  p.alpha = 2;
  p.beta = beta;
  auto const stream = new_stream();
  REQUIRE(p.choose() == CUBLAS_STATUS_SUCCESS);
  REQUIRE(p.run(device_copy(a), device_copy(b), result, stream) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  auto const found = host_copy(result, s.m * s.n);
  auto wrong = 0;
  for (std::uint64_t i = 0; i < s.m; ++i)
    for (std::uint64_t j = 0; j < s.n; ++j) {
      float sum = 0;
      for (std::uint64_t k = 0; k < s.k; ++k)
        sum += static_cast<float>(a[op_a == CUBLAS_OP_N ? k * s.m + i : i * s.k + k]) *
               static_cast<float>(b[op_b == CUBLAS_OP_N ? j * s.k + k : k * s.n + j]);
      auto const expected = 2 * sum + beta * static_cast<float>(before[j * s.m + i]);
      if (!(static_cast<float>(found[j * s.m + i]) == static_cast<float>(static_cast<Out>(expected))))
        ++wrong;
    }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("products of every type, transposed or not, with and without beta") {
  device::reset();
  for (auto const op_a : {CUBLAS_OP_N, CUBLAS_OP_T})
    for (auto const op_b : {CUBLAS_OP_N, CUBLAS_OP_T})
      for (auto const beta : {0.0F, 1.0F, 3.0F}) {
        check_product<float, float>({5, 7, 3}, op_a, op_b, beta);
        check_product<__half, __half>({4, 6, 5}, op_a, op_b, beta);
        check_product<__half, float>({4, 6, 5}, op_a, op_b, beta);
        check_product<__nv_bfloat16, __nv_bfloat16>({4, 6, 5}, op_a, op_b, beta);
        check_product<__nv_bfloat16, float>({3, 2, 9}, op_a, op_b, beta);
      }
  check_product<__nv_fp8_e4m3, float>({16, 32, 16}, CUBLAS_OP_T, CUBLAS_OP_N, 1);
  check_product<__nv_fp8_e4m3, __nv_bfloat16>({16, 16, 32}, CUBLAS_OP_T, CUBLAS_OP_N, 0);
  CHECK(device::findings().empty());
}

TEST_CASE("fp8 operands are scaled, and have to be as Hopper wants them") {
  device::reset();
  sizes const s{16, 16, 16};
  auto* const a = device_copy(integers<__nv_fp8_e4m3>(256, 1));
  auto* const b = device_copy(integers<__nv_fp8_e4m3>(256, 3));
  auto const stream = new_stream();
  auto const result_with = [&](float scale_a, float scale_b) {
    auto* const d = device_array<float>(256);
    product<__nv_fp8_e4m3, float> p{s, CUBLAS_OP_T, CUBLAS_OP_N};
    p.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, static_cast<void const*>(device_copy<float>({scale_a})));
    p.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, static_cast<void const*>(device_copy<float>({scale_b})));
    REQUIRE(p.choose() == CUBLAS_STATUS_SUCCESS);
    REQUIRE(p.run(a, b, d, stream) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    return host_copy(d, 256);
  };
  auto const plain = result_with(1, 1);
  auto const scaled = result_with(4, 0.5F);
  CHECK(plain != std::vector<float>(256));
  for (std::size_t i = 0; i < 256; ++i) CHECK(scaled[i] == 2 * plain[i]);

  CHECK(product<__nv_fp8_e4m3, float>{s, CUBLAS_OP_N, CUBLAS_OP_N}.choose() == CUBLAS_STATUS_NOT_SUPPORTED);
  CHECK(product<__nv_fp8_e4m3, float>{{16, 16, 24}, CUBLAS_OP_T, CUBLAS_OP_N}.choose() ==
        CUBLAS_STATUS_NOT_SUPPORTED);
  CHECK(product<__nv_fp8_e5m2, float>{s, CUBLAS_OP_T, CUBLAS_OP_N}.choose() == CUBLAS_STATUS_NOT_SUPPORTED);
  product<float, float> no_scales{s, CUBLAS_OP_N, CUBLAS_OP_N};
  no_scales.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, static_cast<void const*>(a));
  CHECK(no_scales.choose() == CUBLAS_STATUS_INVALID_VALUE);
}

TEST_CASE("TF32 drops what it drops") {
  device::reset();
  auto const value = 1 + 1.0F / 4096;  // twelve bits of mantissa
  auto* const a = device_copy<float>({value});
  auto* const d = device_array<float>(1);
  auto const stream = new_stream();
  for (auto const compute : {CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32}) {
    product<float, float> p{{1, 1, 1}, CUBLAS_OP_N, CUBLAS_OP_N, compute};
    REQUIRE(p.choose() == CUBLAS_STATUS_SUCCESS);
    REQUIRE(p.run(a, device_copy<float>({1}), d, stream) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(host_copy(d, 1).front() == (compute == CUBLAS_COMPUTE_32F ? value : 1.0F));
  }
}

TEST_CASE("row-major order, leading dimensions and strided batches") {
  device::reset();
  // Two batches of [1 2; 3 4] · [b], a in rows of 3 elements, the second batch 6 further on.
  auto* const a = device_copy<float>({1, 2, -1, 3, 4, -1, 5, 6, -1, 7, 8, -1});
  auto* const b = device_copy<float>({1, 10, 100, 1000});
  auto* const d = device_array<float>(4);
  product<float, float> p{{2, 1, 2}, CUBLAS_OP_N, CUBLAS_OP_N};
  auto const set = [](cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t which, auto value) {
    REQUIRE(cublasLtMatrixLayoutSetAttribute(layout, which, &value, sizeof value) == CUBLAS_STATUS_SUCCESS);
  };
  set(p.a, CUBLASLT_MATRIX_LAYOUT_ORDER, std::int32_t{CUBLASLT_ORDER_ROW});
  set(p.a, CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{3});
  set(p.a, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, std::int64_t{6});
  for (auto* const each : {p.b, p.d}) set(each, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, std::int64_t{2});
  for (auto* const each : {p.a, p.b, p.d}) set(each, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, std::int32_t{2});
  auto const stream = new_stream();
  REQUIRE(p.choose() == CUBLAS_STATUS_SUCCESS);
  REQUIRE(p.run(a, b, d, stream) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(host_copy(d, 4) == std::vector<float>{21, 43, 6500, 8700});
  std::int64_t const wrong_size = 1;
  CHECK(cublasLtMatrixLayoutSetAttribute(p.a, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &wrong_size,
                                         sizeof wrong_size) == CUBLAS_STATUS_INVALID_VALUE);
}

TEST_CASE("sizes, workspace, alignment and algorithm are checked before anything is launched") {
  device::reset();
  auto* const a = device_array<float>(64);
  auto* const b = device_array<float>(64);
  auto* const d = device_array<float>(64);
  auto const stream = new_stream();
  REQUIRE(cudaMemset(a, 0, 256) == cudaSuccess);
  REQUIRE(cudaMemset(b, 0, 256) == cudaSuccess);
  product<float, float> p{{4, 4, 4}, CUBLAS_OP_N, CUBLAS_OP_N};

  SECTION("nothing to multiply") {
    CHECK(product<float, float>{{4, 4, 0}, CUBLAS_OP_N, CUBLAS_OP_N}.choose() == CUBLAS_STATUS_INVALID_VALUE);
  }
  SECTION("sizes that do not fit") {
    p.b = p.layout<float>(5, 4);
    CHECK(p.choose() == CUBLAS_STATUS_INVALID_VALUE);
  }
  SECTION("types that do not go together") {
    CHECK(product<float, __half>{{4, 4, 4}, CUBLAS_OP_N, CUBLAS_OP_N}.choose() ==
          CUBLAS_STATUS_NOT_SUPPORTED);
  }
  SECTION("the workspace that the algorithm asked for") {
    p.prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{1} << 20);
    REQUIRE(p.choose() == CUBLAS_STATUS_SUCCESS);
    REQUIRE(p.choice.workspaceSize > 0);
    CHECK(p.run(a, b, d, stream, device_array<char>(64), 64) == CUBLAS_STATUS_INVALID_VALUE);
    auto* const workspace = device_array<char>(p.choice.workspaceSize);
    CHECK(p.run(a, b, d, stream, workspace, p.choice.workspaceSize) == CUBLAS_STATUS_SUCCESS);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(device::findings().empty());
    // One workspace for two streams is a race.
    CHECK(p.run(a, b, device_array<float>(16), new_stream(), workspace, p.choice.workspaceSize) ==
          CUBLAS_STATUS_SUCCESS);
    CHECK(p.run(a, b, device_array<float>(16), new_stream(), workspace, p.choice.workspaceSize) ==
          CUBLAS_STATUS_SUCCESS);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(device::findings().size() == 1);
  }
  SECTION("an alignment that was promised") {
    REQUIRE(p.choose() == CUBLAS_STATUS_SUCCESS);  // the default promises 256
    CHECK(p.run(a + 1, b, d, stream) == CUBLAS_STATUS_INVALID_VALUE);
    p.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, std::uint32_t{4});
    REQUIRE(p.choose() == CUBLAS_STATUS_SUCCESS);
    CHECK(p.run(a + 1, b, d, stream) == CUBLAS_STATUS_SUCCESS);
  }
  SECTION("an algorithm of another product") {
    REQUIRE(p.choose() == CUBLAS_STATUS_SUCCESS);
    product<float, float> other{{4, 4, 3}, CUBLAS_OP_N, CUBLAS_OP_N};
    other.choice = p.choice;
    CHECK(other.run(a, b, d, stream) == CUBLAS_STATUS_INVALID_VALUE);
  }
  SECTION("the device") {
    REQUIRE(p.choose() == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    CHECK(p.run(a, b, d, stream) == CUBLAS_STATUS_EXECUTION_FAILED);
  }
}

TEST_CASE("the multiprocessor target of every product is remembered") {
  device::reset();
  auto* const a = device_copy<float>({1});
  auto* const d = device_array<float>(1);
  auto const stream = new_stream();
  for (auto const target : {0, 96}) {
    product<float, float> p{{1, 1, 1}, CUBLAS_OP_N, CUBLAS_OP_N};
    p.set(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, std::int32_t{target});
    REQUIRE(p.choose() == CUBLAS_STATUS_SUCCESS);
    REQUIRE(p.run(a, a, d, stream) == CUBLAS_STATUS_SUCCESS);
  }
  CHECK(device::multiprocessor_targets() == std::vector<int>{0, 96});
}
