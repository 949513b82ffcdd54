// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Exported: cuBLASLt's handle, heuristic and product, with the checks that its documentation names.
#include "api_call.hpp"
#include "cublaslt_types.hpp"
#include "memory.hpp"
#include "numeric.hpp"
#include "stream.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

struct cublasLtContext {
  int device;
};

namespace software_device {
namespace {

constexpr std::uint64_t algorithm_mark = 0x736f667464657631U;
constexpr std::uint64_t preferred_workspace = std::uint64_t{64} << 10;
constexpr std::uint32_t best_alignment = 16;

struct product_log {
  std::mutex mutex;
  std::vector<int> targets;
  std::set<cublasLtContext*> handles;
};

product_log& products() {
  static auto& here = *new product_log;
  return here;
}

bool is_fp8(cudaDataType type) { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }

/// The table of the documentation, without complex and integer types.
bool types_go_together(product const& what) {
  auto const a = what.a.type;
  auto const b = what.b.type;
  auto const c = what.c.type;
  auto const d = what.d.type;
  if (what.how.compute == CUBLAS_COMPUTE_64F)
    return what.how.scale == CUDA_R_64F && a == CUDA_R_64F && b == a && c == a && d == a;
  if (what.how.scale != CUDA_R_32F) return false;
  if (what.how.compute == CUBLAS_COMPUTE_32F_FAST_TF32) return a == CUDA_R_32F && b == a && c == a && d == a;
  if (what.how.compute != CUBLAS_COMPUTE_32F) return false;
  if (is_fp8(a) && is_fp8(b)) {
    if (a == CUDA_R_8F_E5M2 && b == CUDA_R_8F_E5M2) return false;
    if (c == CUDA_R_32F) return d == CUDA_R_32F;
    if (c != CUDA_R_16BF && c != CUDA_R_16F) return false;
    return d == c || d == CUDA_R_8F_E4M3 || (d == CUDA_R_8F_E5M2 && a != b);
  }
  if (a != b || c != d) return false;
  if (a == CUDA_R_32F) return d == CUDA_R_32F;
  return (a == CUDA_R_16F || a == CUDA_R_16BF) && (d == a || d == CUDA_R_32F);
}

bool is_sound(layout_fields const& layout) {
  if (layout.order != CUBLASLT_ORDER_COL && layout.order != CUBLASLT_ORDER_ROW) return false;
  auto const shortest = layout.order == CUBLASLT_ORDER_COL ? layout.rows : layout.columns;
  return layout.rows > 0 && layout.columns > 0 && layout.ld >= static_cast<std::int64_t>(shortest) &&
         layout.batches >= 1;
}

/// Whether columns begin and end at multiples of 16 bytes, as fp8 products need. How many there are matters for a only,
/// where they are rows of the result.
bool is_aligned_inside(layout_fields const& layout) {
  auto const bytes = bytes_of(layout.type);
  return static_cast<std::uint64_t>(layout.ld) * bytes % best_alignment == 0 &&
         layout.rows * bytes % best_alignment == 0;
}

cublasStatus_t check(product const& what) {
  for (auto const* const each : {&what.a, &what.b, &what.c, &what.d})
    if (!is_sound(*each)) return CUBLAS_STATUS_INVALID_VALUE;
  auto const flipped_a = what.how.transpose_a != CUBLAS_OP_N;
  auto const flipped_b = what.how.transpose_b != CUBLAS_OP_N;
  auto const m = flipped_a ? what.a.columns : what.a.rows;
  auto const k = flipped_a ? what.a.rows : what.a.columns;
  auto const n = flipped_b ? what.b.rows : what.b.columns;
  if ((flipped_b ? what.b.columns : what.b.rows) != k) return CUBLAS_STATUS_INVALID_VALUE;
  if (what.c.rows != m || what.d.rows != m || what.c.columns != n || what.d.columns != n)
    return CUBLAS_STATUS_INVALID_VALUE;
  for (auto const* const each : {&what.a, &what.b, &what.c})
    if (each->batches != what.d.batches) return CUBLAS_STATUS_INVALID_VALUE;
  if (what.how.multiprocessors < 0 || what.how.pointer_mode > CUBLASLT_POINTER_MODE_DEVICE)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (what.how.epilogue != CUBLASLT_EPILOGUE_DEFAULT) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (!types_go_together(what)) return CUBLAS_STATUS_NOT_SUPPORTED;
  auto const fp8 = is_fp8(what.a.type);
  if (!fp8 && (what.how.scale_a != nullptr || what.how.scale_b != nullptr))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!is_fp8(what.d.type) && what.how.scale_d != nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (what.how.scale_c != nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (fp8) {
    // On Hopper: a transposed, b not, and all but the columns of the result in whole 16 bytes.
    if (!flipped_a || flipped_b || what.a.columns % best_alignment != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
    for (auto const* const each : {&what.a, &what.b, &what.c, &what.d})
      if (each->order != CUBLASLT_ORDER_COL || !is_aligned_inside(*each)) return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

std::uint64_t hash_of(product const& what) {
  std::uint64_t hash = 1469598103934665603U;
  auto const mix = [&](auto value) { hash = (hash ^ static_cast<std::uint64_t>(value)) * 1099511628211U; };
  mix(what.how.compute);
  mix(what.how.transpose_a);
  mix(what.how.transpose_b);
  for (auto const* const each : {&what.a, &what.b, &what.c, &what.d}) {
    mix(each->type);
    mix(each->order);
    mix(each->rows);
    mix(each->columns);
    mix(each->ld);
    mix(each->batches);
  }
  return hash;
}

bool gather(product& what, cublasLtMatmulDesc_t how, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
            cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d) {
  if (how == nullptr || a == nullptr || b == nullptr || c == nullptr || d == nullptr) return false;
  what.how = *fields_of<product_fields>(how);
  what.a = *fields_of<layout_fields>(a);
  what.b = *fields_of<layout_fields>(b);
  what.c = *fields_of<layout_fields>(c);
  what.d = *fields_of<layout_fields>(d);
  return true;
}

algorithm_fields choose(product const& what, std::uint64_t most_workspace,
                        std::uint32_t const (&alignment)[4]) {
  algorithm_fields made{
      algorithm_mark, most_workspace >= preferred_workspace ? preferred_workspace : 0, hash_of(what), {}};
  for (std::size_t i = 0; i < 4; ++i) made.alignment[i] = (std::min)(alignment[i], best_alignment);
  return made;
}

bool is_multiple(void const* pointer, std::uint32_t of) {
  return of == 0 || reinterpret_cast<std::uintptr_t>(pointer) % of == 0;
}

double number_at(void const* pointer, cudaDataType type) {
  if (type == CUDA_R_64F) return *static_cast<double const*>(pointer);
  return static_cast<double>(*static_cast<float const*>(pointer));
}

bool is_handle(cublasLtHandle_t handle) {
  std::lock_guard lock{products().mutex};
  return products().handles.contains(handle);
}

}  // namespace

std::vector<int> multiprocessor_targets() {
  std::lock_guard lock{products().mutex};
  return products().targets;
}

void forget_all_products();
void forget_all_products() {
  std::lock_guard lock{products().mutex};
  products().targets.clear();
  for (auto* const each : products().handles) delete each;
  products().handles.clear();
}

}  // namespace software_device

using namespace software_device;

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return call<"cublasLtCreate">([&] {
    if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    count_resource();
    *handle = new cublasLtContext{this_thread().device};
    std::lock_guard lock{products().mutex};
    products().handles.insert(*handle);
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return call<"cublasLtDestroy">([&] {
    std::lock_guard lock{products().mutex};
    if (products().handles.erase(handle) == 0) return CUBLAS_STATUS_NOT_INITIALIZED;
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
  });
}

std::size_t cublasLtGetVersion() {
  return plain_call<"cublasLtGetVersion">([] { return std::size_t{CUBLAS_VERSION}; });
}

char const* cublasLtGetStatusName(cublasStatus_t status) {
  return plain_call<"cublasLtGetStatusName">([&] {
    switch (status) {
      case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
      case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
      case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
      case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
      case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
      case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
      default: return "CUBLAS_STATUS_INTERNAL_ERROR";
    }
  });
}

char const* cublasLtGetStatusString(cublasStatus_t status) {
  return plain_call<"cublasLtGetStatusString">([&] {
    switch (status) {
      case CUBLAS_STATUS_SUCCESS: return "success";
      case CUBLAS_STATUS_NOT_INITIALIZED: return "the library was not initialized";
      case CUBLAS_STATUS_ALLOC_FAILED: return "the resource allocation failed";
      case CUBLAS_STATUS_INVALID_VALUE: return "an invalid value was passed";
      case CUBLAS_STATUS_NOT_SUPPORTED: return "the requested function is not supported";
      case CUBLAS_STATUS_EXECUTION_FAILED: return "the function failed to launch on the GPU";
      default: return "an internal operation failed";
    }
  });
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t how,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
  return call<"cublasLtMatmulAlgoGetHeuristic">([&] {
    product what{};
    if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (preference == nullptr || results == nullptr || found == nullptr || wanted < 1)
      return CUBLAS_STATUS_INVALID_VALUE;
    *found = 0;
    if (!gather(what, how, a, b, c, d)) return CUBLAS_STATUS_INVALID_VALUE;
    if (auto const wrong = check(what); wrong != CUBLAS_STATUS_SUCCESS) return wrong;
    auto const& wish = *fields_of<preference_fields>(preference);
    if (is_fp8(what.a.type) && std::any_of(std::begin(wish.alignment), std::end(wish.alignment),
                                           [](auto each) { return each < best_alignment; }))
      return CUBLAS_STATUS_NOT_SUPPORTED;
    results[0] = {};
    auto const chosen = choose(what, wish.workspace, wish.alignment);
    *fields_of<algorithm_fields>(&results[0].algo) = chosen;
    results[0].workspaceSize = chosen.workspace;
    results[0].state = CUBLAS_STATUS_SUCCESS;
    results[0].wavesCount = 1;
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t how, void const* alpha,
                              void const* a, cublasLtMatrixLayout_t a_layout, void const* b,
                              cublasLtMatrixLayout_t b_layout, void const* beta, void const* c,
                              cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,
                              cublasLtMatmulAlgo_t const* algorithm, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t handle_of_stream) {
  return call<"cublasLtMatmul">([&] {
    product what{};
    if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!gather(what, how, a_layout, b_layout, c_layout, d_layout)) return CUBLAS_STATUS_INVALID_VALUE;
    if (alpha == nullptr || beta == nullptr || a == nullptr || b == nullptr || c == nullptr || d == nullptr)
      return CUBLAS_STATUS_INVALID_VALUE;
    if (auto const wrong = check(what); wrong != CUBLAS_STATUS_SUCCESS) return wrong;
    constexpr std::uint32_t unknown[4] = {1, 1, 1, 1};
    auto const chosen = algorithm != nullptr ? *fields_of<algorithm_fields>(algorithm)
                                             : choose(what, workspace_bytes, unknown);
    if (chosen.mark != algorithm_mark || chosen.product != hash_of(what)) return CUBLAS_STATUS_INVALID_VALUE;
    if (chosen.workspace > workspace_bytes || (chosen.workspace > 0 && workspace == nullptr))
      return CUBLAS_STATUS_INVALID_VALUE;
    if (chosen.workspace > 0 && !is_multiple(workspace, best_alignment)) return CUBLAS_STATUS_INVALID_VALUE;
    void const* const data[] = {a, b, c, d};
    for (std::size_t i = 0; i < 4; ++i)
      if (!is_multiple(data[i], chosen.alignment[i])) return CUBLAS_STATUS_INVALID_VALUE;
    auto* const stream = stream_of(handle_of_stream);
    // Kernels go to streams of the current device, and a handle belongs to the device that it was made on.
    if (stream == nullptr || stream->device != this_thread().device || handle->device != stream->device) {
      add_finding("a product is issued with the wrong device current, or with another device's handle");
      return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    if (device_error(stream->device) != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;

    what.a_data = a;
    what.b_data = b;
    what.c_data = c;
    what.d_data = d;
    auto const device_scalars = what.how.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
    if (!device_scalars) {
      what.alpha = number_at(alpha, what.how.scale);
      what.beta = number_at(beta, what.how.scale);
    }
    std::vector<memory_access> touched;
    add_accesses(touched, what.a, a, false);
    add_accesses(touched, what.b, b, false);
    if (device_scalars || what.beta != 0) add_accesses(touched, what.c, c, false);
    add_accesses(touched, what.d, d, true);
    for (auto const* const each : {what.how.scale_a, what.how.scale_b, what.how.scale_d})
      if (each != nullptr) touched.push_back({each, sizeof(float), false});
    if (device_scalars) {
      touched.push_back({alpha, bytes_of(what.how.scale), false});
      touched.push_back({beta, bytes_of(what.how.scale), false});
    }
    if (chosen.workspace > 0) touched.push_back({workspace, chosen.workspace, true});
    {
      std::lock_guard lock{products().mutex};
      products().targets.push_back(what.how.multiprocessors);
    }
    auto run = [=, space = chosen.workspace](run_context&) {
      // Whatever else relies on the workspace loses.
      if (space > 0) std::memset(alias_of(workspace), 0xee, space);
      auto filled = what;
      if (device_scalars) {
        filled.alpha = number_at(alias_of(alpha), what.how.scale);
        filled.beta = number_at(alias_of(beta), what.how.scale);
      }
      multiply(filled);
    };
    auto const error =
        submit(*stream, {.name = "a product", .accesses = std::move(touched), .run = std::move(run)});
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
  });
}
