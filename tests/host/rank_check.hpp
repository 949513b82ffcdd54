// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What the tests of the host backend share: checks that may fail on a rank's own thread, and short messages.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include <tpoverlap/core/message.hpp>

/// Fails the rank that calls it; `run_ranks` hands the failure to the test. Catch's macros are for one thread only.
inline void rank_check(bool holds, char const* what) {
  if (!holds) throw std::runtime_error{what};
}

/// What `f()` throws, as text; "" if it throws nothing, and "wrong type" if that is no `Error`.
template <class Error, class F>
std::string text_thrown(F f) {
  try {
    f();
  } catch (Error const& failure) {
    return failure.what();
  } catch (...) {
    return "wrong type";
  }
  return "";
}

inline bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

template <class T>
tpoverlap::message send_to(int peer, T const* data, std::size_t count) {
  return {tpoverlap::message::direction::send, peer, const_cast<T*>(data), count * sizeof(T)};
}

template <class T>
tpoverlap::message receive_from(int peer, T* data, std::size_t count) {
  return {tpoverlap::message::direction::receive, peer, data, count * sizeof(T)};
}
