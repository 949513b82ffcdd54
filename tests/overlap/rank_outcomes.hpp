// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What the ranks of a failing world end with, one by one.
#pragma once

#include "values.hpp"

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/host/communicator.hpp>
#include <tpoverlap/host/world.hpp>

#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

namespace tpoverlap_test {

inline bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// What `f()` throws, as text; "" if it throws nothing, and what it is if that is no `Error`.
template <class Error, class F>
std::string text_thrown(F&& f) {
  try {
    f();
  } catch (std::exception const& failure) {
    std::string const text = failure.what();
    if constexpr (!std::is_same_v<Error, std::exception>) {
      if (dynamic_cast<Error const*>(&failure) == nullptr) return "another type: " + text;
    }
    return text;
  }
  return "";
}

/// Waits for the lanes of a communicator that has been aborted, so that memory they were given can be freed.
inline void settle(host::communicator& comm) noexcept {
  for (int lane = 1; lane <= 3; ++lane) {
    try {
      comm.lane(lane).synchronize();
    } catch (...) {
    }
  }
}

template <class Error>
std::string text_of(std::exception_ptr const& failure) {
  if (!failure) return "";
  return text_thrown<Error>([&] { std::rethrow_exception(failure); });
}

/// Runs f on every rank of one world and returns what each of them threw. Unlike run_ranks it aborts nothing, so
/// that only the library ends a wait.
template <class F>
std::vector<std::exception_ptr> outcomes_of(int ranks, host::communicator_options const& options, F f) {
  host::world world{ranks, options};
  std::vector<std::exception_ptr> outcomes(static_cast<std::size_t>(ranks));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      host::communicator comm{world, rank};
      try {
        f(comm);
      } catch (...) {
        outcomes[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  threads.clear();
  return outcomes;
}

}  // namespace tpoverlap_test
