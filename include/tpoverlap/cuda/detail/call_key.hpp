// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The arguments of a call as bytes, to tell whether the next call has the same.
#pragma once

#include <tpoverlap/core/matrix_view.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace tpoverlap::inline v0::cu::detail {

template <class T>
inline constexpr bool is_view = false;
template <class T>
inline constexpr bool is_view<matrix_view<T>> = true;

/// What may differ from call to call beside operands, as `call_options` says it.
template <class T>
concept says_rows_and_beta = requires(T const& options) {
  options.shard_rows.data();
  options.shard_rows.size();
  options.beta;
};

template <class T>
concept comparable_argument = is_view<T> || says_rows_and_beta<T> || std::is_arithmetic_v<T> ||
    std::is_enum_v<T> || std::is_pointer_v<T>;

/// **Cost** no allocation once it has held as many arguments before.
class call_key {
 public:
  void clear() noexcept { bytes_.clear(); }

  template <comparable_argument T>
  void add(T const& argument) {
    if constexpr (is_view<T>) {
      put(argument.data);
      put(argument.rows);
      put(argument.columns);
      put(argument.row_stride);
      put(argument.column_stride);
    } else if constexpr (says_rows_and_beta<T>) {
      put(argument.beta);
      put(argument.shard_rows.size());
      for (auto const rows : argument.shard_rows) put(rows);
    } else {
      put(argument);
    }
  }

  void swap(call_key& other) noexcept { bytes_.swap(other.bytes_); }
  friend bool operator==(call_key const&, call_key const&) = default;

 private:
  template <class T>
  void put(T const& value) {
    std::size_t const at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }

  std::vector<std::byte> bytes_;
};

}  // namespace tpoverlap::inline v0::cu::detail
