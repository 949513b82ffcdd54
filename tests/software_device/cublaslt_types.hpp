// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What lies inside cuBLASLt's opaque descriptors, and the product that they describe.
#pragma once

#include "control.hpp"

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace software_device {

struct layout_fields {
  cudaDataType type;
  std::int32_t order;
  std::uint64_t rows;
  std::uint64_t columns;
  std::int64_t ld;
  std::int64_t batch_stride;  // in elements
  std::int32_t batches;

  [[nodiscard]] std::size_t offset(std::uint64_t r, std::uint64_t c, std::int32_t batch) const {
    auto const step = static_cast<std::uint64_t>(ld);
    auto const inside = order == CUBLASLT_ORDER_COL ? c * step + r : r * step + c;
    return static_cast<std::size_t>(inside + static_cast<std::uint64_t>(batch_stride * batch));
  }
};

struct product_fields {
  cublasComputeType_t compute;
  cudaDataType scale;
  std::int32_t pointer_mode;
  std::int32_t transpose_a;
  std::int32_t transpose_b;
  std::int32_t epilogue;
  std::int32_t multiprocessors;
  std::int32_t scale_modes;
  void const* scale_a;
  void const* scale_b;
  void const* scale_c;
  void const* scale_d;
  std::int8_t fast_accumulation;
};

struct preference_fields {
  std::uint64_t workspace;
  std::uint32_t alignment[4];  // of a, b, c, d
  std::uint32_t search;
};

/// Which product a heuristic result was made for.
struct algorithm_fields {
  std::uint64_t mark;
  std::uint64_t workspace;
  std::uint64_t product;  // hash of types, sizes and transposes
  std::uint32_t alignment[4];
};

template <class Fields, class Opaque>
Fields* fields_of(Opaque* opaque) {
  static_assert(sizeof(Fields) <= sizeof(Opaque) && alignof(Fields) <= alignof(Opaque) &&
                std::is_trivially_copyable_v<Fields>);
  return reinterpret_cast<Fields*>(opaque);
}

template <class Fields, class Opaque>
Fields const* fields_of(Opaque const* opaque) {
  return fields_of<Fields>(const_cast<Opaque*>(opaque));
}

/// d = alpha · op(a) · op(b) + beta · c, all of it checked.
struct product {
  product_fields how;
  layout_fields a, b, c, d;
  void const* a_data;
  void const* b_data;
  void const* c_data;
  void* d_data;
  double alpha, beta;
};

/// In a stream's thread. Sums run over the contraction index in order, in float32 (float64 for float64), so an element
/// has the same bits however the rows and columns of the result are cut.
void multiply(product const& what);

/// The accesses of `data` as `layout` describes it, one for each batch.
void add_accesses(std::vector<memory_access>& to, layout_fields const& layout, void const* data, bool writes);

}  // namespace software_device
