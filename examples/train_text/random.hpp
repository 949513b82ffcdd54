// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Random numbers that are functions of their place, so that every rank draws what a single rank would.
#pragma once

#include <cstdint>

namespace train_text {

/// Number `index` of sequence `sequence`, scrambled as by splitmix64.
[[nodiscard]] constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t sequence,
                                                  std::uint64_t index) {
  auto const scramble = [](std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31);
  };
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
  return scramble(scramble(scramble(seed + golden) + sequence * golden) + index * golden);
}

/// The same number as a fraction in [0, 1).
[[nodiscard]] constexpr double random_fraction(std::uint64_t seed, std::uint64_t sequence,
                                               std::uint64_t index) {
  return static_cast<double>(random_bits(seed, sequence, index) >> 11) * 0x1p-53;
}

}  // namespace train_text
