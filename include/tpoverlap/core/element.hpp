// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Element types as values, for communicators and kernels that learn the type at run time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tpoverlap::inline v0 {

/// What a buffer holds. `float8_*` have one byte, `float16` and `bfloat16` two.
enum class element : std::uint8_t {
  float64,
  float32,
  float16,
  bfloat16,
  float8_e4m3,
  float8_e5m2,
  int32,
  int64
};

/// Bytes of one element.
[[nodiscard]] constexpr std::size_t size_of(element type) noexcept {
  switch (type) {
    case element::float64:
    case element::int64: return 8;
    case element::float32:
    case element::int32: return 4;
    case element::float16:
    case element::bfloat16: return 2;
    case element::float8_e4m3:
    case element::float8_e5m2: return 1;
  }
  return 0;
}

[[nodiscard]] constexpr char const* name_of(element type) noexcept {
  switch (type) {
    case element::float64: return "float64";
    case element::float32: return "float32";
    case element::float16: return "float16";
    case element::bfloat16: return "bfloat16";
    case element::float8_e4m3: return "float8_e4m3";
    case element::float8_e5m2: return "float8_e5m2";
    case element::int32: return "int32";
    case element::int64: return "int64";
  }
  return "unknown";
}

/// Maps a C++ type to its `element`; a backend specializes it for the vendor's own types:
/// `template <> struct element_traits<__half> { static constexpr element value = element::float16; };`
template <class T>
struct element_traits {};

template <>
struct element_traits<double> {
  static constexpr element value = element::float64;
};
template <>
struct element_traits<float> {
  static constexpr element value = element::float32;
};
template <>
struct element_traits<std::int32_t> {
  static constexpr element value = element::int32;
};
template <>
struct element_traits<std::int64_t> {
  static constexpr element value = element::int64;
};
template <class T>
struct element_traits<T const> : element_traits<T> {};

template <class T>
concept has_element = requires {
  element_traits<T>::value;
};

template <has_element T>
inline constexpr element element_of = element_traits<T>::value;

}  // namespace tpoverlap::inline v0
