// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! How the pieces of a collective look to NCCL, whose own collectives take shards of one size that lie side by side.
#pragma once

#include <tpoverlap/core/element.hpp>
#include <tpoverlap/core/message.hpp>

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace tpoverlap::inline v0::cu::detail {

/// fp8 travels as bytes: NCCL names it since 2.24 only, and moving it needs no name.
[[nodiscard]] constexpr ncclDataType_t nccl_type_of(element type) noexcept {
  switch (type) {
    case element::float64: return ncclFloat64;
    case element::float32: return ncclFloat32;
    case element::float16: return ncclFloat16;
    case element::bfloat16: return ncclBfloat16;
    case element::float8_e4m3:
    case element::float8_e5m2: return ncclInt8;
    case element::int32: return ncclInt32;
    case element::int64: return ncclInt64;
  }
  return ncclInt8;
}

/// Whether each piece begins where the one before it ends.
[[nodiscard]] inline bool lie_together(std::span<piece const> pieces, element type) noexcept {
  auto const* next = static_cast<std::byte const*>(pieces[0].data);
  for (auto const& each : pieces) {
    if (each.elements == 0) continue;
    if (next == nullptr) next = static_cast<std::byte const*>(each.data);  // the first ones are empty
    if (each.data != next) return false;
    next += static_cast<std::size_t>(each.elements) * size_of(type);
  }
  return true;
}

[[nodiscard]] inline bool of_one_size(std::span<piece const> pieces) noexcept {
  for (auto const& each : pieces)
    if (each.elements != pieces[0].elements) return false;
  return true;
}

[[nodiscard]] inline std::int64_t total_elements(std::span<piece const> pieces) noexcept {
  std::int64_t total = 0;
  for (auto const& each : pieces) total += each.elements;
  return total;
}

/// The first piece that is not empty, which is where pieces that lie together begin.
[[nodiscard]] inline void* first_data(std::span<piece const> pieces) noexcept {
  for (auto const& each : pieces)
    if (each.elements > 0) return each.data;
  return nullptr;
}

}  // namespace tpoverlap::inline v0::cu::detail
