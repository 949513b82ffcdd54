// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! How ranks come to know the same: words of every rank, and what rank 0 found in a file, an error included.
#pragma once

#include <tpoverlap/concepts/communicator.hpp>
#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/tuner/tuning_file_error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <span>
#include <string_view>
#include <vector>

namespace tpoverlap::inline v0::detail {

/// Every rank's words, in rank order. Blocking, and a barrier.
template <class Communicator>
std::vector<std::uint64_t> words_of_all(Communicator& comm, std::span<std::uint64_t const> mine) {
  std::vector<std::uint64_t> all(mine.size() * static_cast<std::size_t>(comm.size()));
  comm.host_all_gather(mine, std::span<std::uint64_t>{all});
  return all;
}

template <class Communicator>
std::vector<std::uint64_t> word_of_all(Communicator& comm, std::uint64_t mine) {
  return words_of_all(comm, std::span<std::uint64_t const>{&mine, 1});
}

/// Throws on every rank if one of the first `names.size()` words is not the same on all of them.
inline void check_same(int rank, std::span<std::uint64_t const> all, std::size_t words,
                       std::span<char const* const> names) {
  for (std::size_t r = 1; r * words < all.size(); ++r) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (all[r * words + i] == all[i]) continue;
      bounded_text<240> what;
      what << "rank " << r << " tunes with another " << text_view{names[i]}
           << " than rank 0; build the object with the same candidates and the same tuning on every rank";
      int const other = static_cast<int>(r);
      raise(usage_error{what.view(), rank, {}, rank == other ? 0 : other});
    }
  }
}

/// What rank 0 tells the others, as words.
struct rank_zero_result {
  std::int64_t value;
  std::int64_t line;
  char text[496];  // "" for success
};

/// Runs `work`, which returns a number, on rank 0, and returns that number on every rank. **Errors** what `work` throws
/// becomes a `tuning_file_error` of the same text on every rank.
template <class Communicator, class Work>
std::int64_t from_rank_zero(Communicator& comm, Work work) {
  rank_zero_result found{};
  constexpr std::size_t words = sizeof found / sizeof(std::uint64_t);
  static_assert(sizeof found == words * sizeof(std::uint64_t));
  if (comm.rank() == 0) {
    auto const take = [&](std::string_view text) {
      constexpr std::string_view prefix = "tpoverlap: ";
      if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
      constexpr std::size_t room = sizeof found.text - 1;
      std::memcpy(found.text, text.data(), text.size() < room ? text.size() : room);
    };
    try {
      found.value = work();
    } catch (tuning_file_error const& failure) {
      found.line = failure.line();
      take(failure.what());
    } catch (std::exception const& failure) {
      take(failure.what());
    }
  }
  std::uint64_t mine[words];
  std::memcpy(mine, &found, sizeof found);
  auto const all = words_of_all(comm, std::span<std::uint64_t const>{mine});
  std::memcpy(&found, all.data(), sizeof found);
  if (found.text[0] != '\0') {
    raise(tuning_file_error{static_cast<char const*>(found.text), static_cast<int>(found.line), comm.rank()});
  }
  return found.value;
}

}  // namespace tpoverlap::inline v0::detail
