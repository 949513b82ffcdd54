// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Sums of arrays, written so that compilers vectorize them at -O2.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tpoverlap::inline v0::host::detail {

/// Elements in one step of the kernels below. A trip count known to the compiler, and arrays that it knows to be
/// apart, are what the cost model of -O2 asks for before it vectorizes.
inline constexpr std::int64_t add_step = 64;

/// `to[i] += b[i]`; the arrays do not overlap.
template <class Wide, class To, class B>
inline void accumulate_apart(To* __restrict to, B const* __restrict b, std::int64_t count) {
  for (; count >= add_step; count -= add_step, to += add_step, b += add_step)
    for (std::int64_t i = 0; i < add_step; ++i)
      to[i] = static_cast<To>(static_cast<Wide>(to[i]) + static_cast<Wide>(b[i]));
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = static_cast<To>(static_cast<Wide>(to[i]) + static_cast<Wide>(b[i]));
}

/// `to[i] = a[i] + b[i]`; `to` overlaps neither operand.
template <class Wide, class To, class A, class B>
inline void add_apart(To* __restrict to, A const* __restrict a, B const* __restrict b, std::int64_t count) {
  for (; count >= add_step; count -= add_step, to += add_step, a += add_step, b += add_step)
    for (std::int64_t i = 0; i < add_step; ++i)
      to[i] = static_cast<To>(static_cast<Wide>(a[i]) + static_cast<Wide>(b[i]));
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = static_cast<To>(static_cast<Wide>(a[i]) + static_cast<Wide>(b[i]));
}

/// `to[i] = a[i] + b[i]` in the widest of the three types; `to` is one of the operands or overlaps neither.
template <class To, class A, class B>
void add_arrays(To* to, A const* a, B const* b, std::int64_t count) {
  using wide = std::common_type_t<To, A, B>;
  auto const same = [to](auto const* operand) {
    return static_cast<void const*>(to) == static_cast<void const*>(operand);
  };
  if (!same(a) && !same(b)) {
    add_apart<wide>(to, a, b, count);
  } else if (std::is_same_v<To, A> && same(a) && !same(b)) {
    accumulate_apart<wide>(to, b, count);
  } else if (std::is_same_v<To, B> && same(b) && !same(a)) {
    accumulate_apart<wide>(to, a, count);  // a sum of two is the same either way round
  } else {
    for (std::int64_t i = 0; i < count; ++i)
      to[i] = static_cast<To>(static_cast<wide>(a[i]) + static_cast<wide>(b[i]));
  }
}

}  // namespace tpoverlap::inline v0::host::detail
