// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A fingerprint of a program, so that ranks can find out whether they run the same one.
#pragma once

#include <tpoverlap/schedule/program.hpp>

#include <cstdint>

namespace tpoverlap::inline v0 {

/// FNV-1a over everything that decides what a program does. Equal programs have equal fingerprints.
[[nodiscard]] constexpr std::uint64_t hash_of(program_view const& p) {
  std::uint64_t hash = 0xcbf29ce484222325;
  auto const mix = [&hash](int value) { hash = (hash ^ static_cast<std::uint32_t>(value)) * 0x100000001b3; };
  mix(p.group.ranks);
  mix(static_cast<int>(p.group.shape));
  mix(p.group.inner);
  mix(p.chunks);
  for (int c = 0; c < p.chunks; ++c) mix(p.weights[c]);
  for (int b = 0; b < p.buffer_count; ++b) {
    mix(static_cast<int>(p.buffers[b].arrangement));
    mix(static_cast<int>(p.buffers[b].element));
    mix(p.buffers[b].slots);
  }
  for (int i = 0; i < p.operation_count; ++i) {
    operation const& op = p.operations[i];
    mix(static_cast<int>(op.kind));
    mix(op.lane);
    for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
      tile_access const& use = p.accesses[a];
      mix(use.tiles.buffer);
      mix(use.tiles.slot);
      mix(use.tiles.slots);
      mix(use.tiles.shard);
      mix(use.tiles.chunk);
      mix(use.tiles.chunks);
      mix(static_cast<int>(use.mode));
      mix(use.peer);
    }
    for (int w = op.first_wait; w < op.first_wait + op.waits; ++w) mix(p.waits[w]);
  }
  return hash;
}

}  // namespace tpoverlap::inline v0
