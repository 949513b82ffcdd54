// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The blocking exchange of a few words between all ranks, for comparing what they believe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/host/detail/rendezvous.hpp>
#include <tpoverlap/host/world.hpp>

namespace tpoverlap::inline v0::host::detail {

/// `all` receives every rank's `mine`, in rank order. The sizes go first, so that ranks that disagree all learn of it.
inline void agree_on_words(world& shared, int rank, std::uint64_t sequence,
                           std::span<std::uint64_t const> mine, std::span<std::uint64_t> all) {
  constexpr call_site where{.operation = "host_all_gather"};
  rendezvous here{shared, rank, 0, where};
  here.start(sequence);
  auto const ranks = static_cast<std::size_t>(shared.size());
  auto const transfers = std::make_unique<transfer[]>(2 * ranks);
  auto const gather = [&](std::uint64_t const* own, std::size_t words, std::uint64_t* to) {
    auto const bytes = words * sizeof(std::uint64_t);
    for (std::size_t i = 0; i < ranks; ++i) {
      auto const peer = static_cast<int>(i);
      transfers[2 * i] = {.half = {message::direction::send, peer, const_cast<std::uint64_t*>(own), bytes}};
      transfers[2 * i + 1] = {.half = {message::direction::receive, peer, to + i * words, bytes}};
    }
    here.run(std::span{transfers.get(), 2 * ranks}, [] {});
  };

  std::uint64_t const words = mine.size();
  auto const sizes = std::make_unique<std::uint64_t[]>(ranks);
  gather(&words, 1, sizes.get());
  for (std::size_t i = 0; i < ranks; ++i) {
    if (sizes[i] == sizes[0]) continue;
    bounded_text<160> text;
    text << "rank 0 passes " << sizes[0] << " words and rank " << i << " passes " << sizes[i]
         << "; the ranks were built differently";
    raise(communication_error{text.view(), rank, where, static_cast<int>(i)});
  }
  gather(mine.data(), mine.size(), all.data());
}

}  // namespace tpoverlap::inline v0::host::detail
