// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Exported: cuBLASLt's descriptors. An attribute that the software device does not have is refused as invalid.
#include "api_call.hpp"
#include "cublaslt_types.hpp"

#include <cstring>

using namespace software_device;

namespace {

template <class T>
cublasStatus_t assign(T& field, void const* from, std::size_t bytes) {
  if (from == nullptr || bytes != sizeof field) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&field, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

template <class Opaque, class Fields>
cublasStatus_t create(Opaque** made, Fields const& initial) {
  if (made == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *made = new Opaque{};
  *fields_of<Fields>(*made) = initial;
  return CUBLAS_STATUS_SUCCESS;
}

template <class Opaque>
cublasStatus_t destroy(Opaque* made) {
  delete made;
  return CUBLAS_STATUS_SUCCESS;
}

layout_fields new_layout(cudaDataType type, std::uint64_t rows, std::uint64_t columns, std::int64_t ld) {
  return {type, CUBLASLT_ORDER_COL, rows, columns, ld, 0, 1};
}

product_fields new_product(cublasComputeType_t compute, cudaDataType scale) {
  product_fields made{};
  made.compute = compute;
  made.scale = scale;
  made.transpose_a = made.transpose_b = CUBLAS_OP_N;
  made.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  return made;
}

constexpr preference_fields new_preference{0, {256, 256, 256, 256}, 0};

}  // namespace

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns, std::int64_t ld) {
  return call<"cublasLtMatrixLayoutCreate">(
      [&] { return create(layout, new_layout(type, rows, columns, ld)); });
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, std::size_t size,
                                                 cudaDataType type, std::uint64_t rows, std::uint64_t columns,
                                                 std::int64_t ld) {
  return call<"cublasLtMatrixLayoutInit">([&] {
    if (layout == nullptr || size < sizeof(layout_fields)) return CUBLAS_STATUS_ALLOC_FAILED;
    *fields_of<layout_fields>(layout) = new_layout(type, rows, columns, ld);
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return call<"cublasLtMatrixLayoutDestroy">([&] { return destroy(layout); });
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which, void const* from,
                                                std::size_t bytes) {
  return call<"cublasLtMatrixLayoutSetAttribute">([&] {
    if (layout == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    auto& fields = *fields_of<layout_fields>(layout);
    switch (which) {
      case CUBLASLT_MATRIX_LAYOUT_TYPE: return assign(fields.type, from, bytes);
      case CUBLASLT_MATRIX_LAYOUT_ORDER: return assign(fields.order, from, bytes);
      case CUBLASLT_MATRIX_LAYOUT_ROWS: return assign(fields.rows, from, bytes);
      case CUBLASLT_MATRIX_LAYOUT_COLS: return assign(fields.columns, from, bytes);
      case CUBLASLT_MATRIX_LAYOUT_LD: return assign(fields.ld, from, bytes);
      case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return assign(fields.batches, from, bytes);
      case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return assign(fields.batch_stride, from, bytes);
      default: return CUBLAS_STATUS_INVALID_VALUE;
    }
  });
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  return call<"cublasLtMatmulDescCreate">([&] { return create(made, new_product(compute, scale)); });
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t made, std::size_t size,
                                               cublasComputeType_t compute, cudaDataType_t scale) {
  return call<"cublasLtMatmulDescInit">([&] {
    if (made == nullptr || size < sizeof(product_fields)) return CUBLAS_STATUS_ALLOC_FAILED;
    *fields_of<product_fields>(made) = new_product(compute, scale);
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t made) {
  return call<"cublasLtMatmulDescDestroy">([&] { return destroy(made); });
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t made, cublasLtMatmulDescAttributes_t which,
                                              void const* from, std::size_t bytes) {
  return call<"cublasLtMatmulDescSetAttribute">([&] {
    if (made == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    auto& fields = *fields_of<product_fields>(made);
    switch (which) {
      case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: return assign(fields.compute, from, bytes);
      case CUBLASLT_MATMUL_DESC_SCALE_TYPE: return assign(fields.scale, from, bytes);
      case CUBLASLT_MATMUL_DESC_POINTER_MODE: return assign(fields.pointer_mode, from, bytes);
      case CUBLASLT_MATMUL_DESC_TRANSA: return assign(fields.transpose_a, from, bytes);
      case CUBLASLT_MATMUL_DESC_TRANSB: return assign(fields.transpose_b, from, bytes);
      case CUBLASLT_MATMUL_DESC_EPILOGUE: return assign(fields.epilogue, from, bytes);
      case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET: return assign(fields.multiprocessors, from, bytes);
      case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER: return assign(fields.scale_a, from, bytes);
      case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER: return assign(fields.scale_b, from, bytes);
      case CUBLASLT_MATMUL_DESC_C_SCALE_POINTER: return assign(fields.scale_c, from, bytes);
      case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER: return assign(fields.scale_d, from, bytes);
      case CUBLASLT_MATMUL_DESC_FAST_ACCUM: return assign(fields.fast_accumulation, from, bytes);
      default: return CUBLAS_STATUS_INVALID_VALUE;
    }
  });
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  return call<"cublasLtMatmulPreferenceCreate">([&] { return create(made, new_preference); });
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t made, std::size_t size) {
  return call<"cublasLtMatmulPreferenceInit">([&] {
    if (made == nullptr || size < sizeof(preference_fields)) return CUBLAS_STATUS_ALLOC_FAILED;
    *fields_of<preference_fields>(made) = new_preference;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t made) {
  return call<"cublasLtMatmulPreferenceDestroy">([&] { return destroy(made); });
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t made,
                                                    cublasLtMatmulPreferenceAttributes_t which,
                                                    void const* from, std::size_t bytes) {
  return call<"cublasLtMatmulPreferenceSetAttribute">([&] {
    if (made == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    auto& fields = *fields_of<preference_fields>(made);
    switch (which) {
      case CUBLASLT_MATMUL_PREF_SEARCH_MODE: return assign(fields.search, from, bytes);
      case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: return assign(fields.workspace, from, bytes);
      case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES: return assign(fields.alignment[0], from, bytes);
      case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES: return assign(fields.alignment[1], from, bytes);
      case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES: return assign(fields.alignment[2], from, bytes);
      case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES: return assign(fields.alignment[3], from, bytes);
      default: return CUBLAS_STATUS_INVALID_VALUE;
    }
  });
}
