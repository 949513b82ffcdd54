// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Repeatable delays that shake the ranks of a test out of step.
#pragma once

#include <cstdint>

#include <tpoverlap/host/detail/clock.hpp>

namespace tpoverlap::inline v0::host::detail {

/// How late an operation starts: 0 to `longest`, the same for the same arguments.
[[nodiscard]] constexpr std::chrono::microseconds straggler_delay(std::uint64_t seed,
                                                                  std::chrono::microseconds longest, int rank,
                                                                  int lane, std::uint64_t sequence) {
  if (longest.count() <= 0) return std::chrono::microseconds{0};
  auto bits = seed;
  for (std::uint64_t const part :
       {static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(lane), sequence}) {
    bits += 0x9e3779b97f4a7c15u + part;  // splitmix64
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    bits ^= bits >> 31;
  }
  return std::chrono::microseconds{
      static_cast<std::int64_t>(bits % (static_cast<std::uint64_t>(longest.count()) + 1))};
}

}  // namespace tpoverlap::inline v0::host::detail
