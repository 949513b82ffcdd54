// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A multiplication as cuBLASLt sees it, made once for each shape: descriptors and the algorithm that was found.
#pragma once

#include <tpoverlap/core/element.hpp>
#include <tpoverlap/core/error.hpp>
#include <tpoverlap/cuda/cublas_error.hpp>
#include <tpoverlap/cuda/element.hpp>

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace tpoverlap::inline v0::cu::detail {

/// One operand, column-major: rows and columns as stored.
struct lt_matrix {
  element type = element::float32;
  bool transposed = false;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t leading = 0;
  std::int64_t batch_stride = 0;
  std::uint32_t alignment = 0;  ///< bytes that the address is a multiple of, at least
  friend bool operator==(lt_matrix const&, lt_matrix const&) = default;
};

/// Everything that the choice of an algorithm depends on: column-major d = op(a) · op(b) + beta · d.
struct lt_problem {
  lt_matrix a;
  lt_matrix b;
  lt_matrix d;
  std::int32_t batches = 1;
  bool swapped = false;  ///< whether a is the caller's b, as always but for column-major results
  friend bool operator==(lt_problem const&, lt_problem const&) = default;
};

/// What holds for all plans of a functor.
struct lt_settings {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  int multiprocessors = 0;
  bool fast_accumulation = false;
  void const* scale_a = nullptr;  // of the caller's a and b
  void const* scale_b = nullptr;
  std::size_t workspace_bytes = 0;
};

struct lt_destroy {
  void operator()(cublasLtMatmulDescOpaque_t* made) const { (void)cublasLtMatmulDescDestroy(made); }
  void operator()(cublasLtMatrixLayoutOpaque_t* made) const { (void)cublasLtMatrixLayoutDestroy(made); }
  void operator()(cublasLtMatmulPreferenceOpaque_t* made) const {
    (void)cublasLtMatmulPreferenceDestroy(made);
  }
  void operator()(cublasLtContext* made) const { (void)cublasLtDestroy(made); }
};
template <class T>
using lt_owned = std::unique_ptr<T, lt_destroy>;

inline lt_owned<cublasLtMatrixLayoutOpaque_t> make_layout(lt_matrix const& m, std::int32_t batches) {
  cublasLtMatrixLayout_t made = nullptr;
  check(cublasLtMatrixLayoutCreate(&made, data_type_of(m.type), static_cast<std::uint64_t>(m.rows),
                                   static_cast<std::uint64_t>(m.columns), m.leading),
        "cublasLtMatrixLayoutCreate");
  lt_owned<cublasLtMatrixLayoutOpaque_t> layout{made};
  if (batches > 1) {
    auto const set = [&](cublasLtMatrixLayoutAttribute_t what, auto const& value) {
      check(cublasLtMatrixLayoutSetAttribute(made, what, &value, sizeof(value)),
            "cublasLtMatrixLayoutSetAttribute");
    };
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, batches);
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, m.batch_stride);
  }
  return layout;
}

/// Owns the descriptors of one problem. Invalid (`!plan.found`) if cuBLASLt has no algorithm for it.
struct lt_plan {
  lt_problem problem;
  lt_owned<cublasLtMatmulDescOpaque_t> operation;
  lt_owned<cublasLtMatrixLayoutOpaque_t> a;
  lt_owned<cublasLtMatrixLayoutOpaque_t> b;
  lt_owned<cublasLtMatrixLayoutOpaque_t> d;
  cublasLtMatmulAlgo_t algorithm{};
  bool found = false;

  lt_plan() = default;

  lt_plan(cublasLtHandle_t handle, lt_problem const& wanted, lt_settings const& settings) : problem{wanted} {
    cublasLtMatmulDesc_t made = nullptr;
    check(cublasLtMatmulDescCreate(&made, settings.compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
    operation.reset(made);
    auto const set = [&](cublasLtMatmulDescAttributes_t what, auto const& value) {
      check(cublasLtMatmulDescSetAttribute(made, what, &value, sizeof(value)),
            "cublasLtMatmulDescSetAttribute");
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, wanted.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, wanted.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (settings.multiprocessors > 0)
      set(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, static_cast<std::int32_t>(settings.multiprocessors));
    if (settings.fast_accumulation) set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
    void const* const scale_a = wanted.swapped ? settings.scale_b : settings.scale_a;
    void const* const scale_b = wanted.swapped ? settings.scale_a : settings.scale_b;
    if (scale_a != nullptr) set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scale_a);
    if (scale_b != nullptr) set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scale_b);
    a = make_layout(wanted.a, wanted.batches);
    b = make_layout(wanted.b, wanted.batches);
    d = make_layout(wanted.d, wanted.batches);
    find(handle, settings);
  }

 private:
  void find(cublasLtHandle_t handle, lt_settings const& settings) {
    cublasLtMatmulPreference_t made = nullptr;
    check(cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
    lt_owned<cublasLtMatmulPreferenceOpaque_t> const preference{made};
    auto const prefer = [&](cublasLtMatmulPreferenceAttributes_t what, auto const& value) {
      check(cublasLtMatmulPreferenceSetAttribute(made, what, &value, sizeof(value)),
            "cublasLtMatmulPreferenceSetAttribute");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(settings.workspace_bytes));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, problem.a.alignment);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, problem.b.alignment);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, problem.d.alignment);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, problem.d.alignment);
    cublasLtMatmulHeuristicResult_t best{};
    int results = 0;
    cublasStatus_t const code = cublasLtMatmulAlgoGetHeuristic(handle, operation.get(), a.get(), b.get(),
                                                               d.get(), d.get(), made, 1, &best, &results);
    if (code == CUBLAS_STATUS_NOT_SUPPORTED || code == CUBLAS_STATUS_INVALID_VALUE) return;
    check(code, "cublasLtMatmulAlgoGetHeuristic");
    if (results == 0 || best.state != CUBLAS_STATUS_SUCCESS) return;
    algorithm = best.algo;
    found = true;
  }
};

}  // namespace tpoverlap::inline v0::cu::detail
