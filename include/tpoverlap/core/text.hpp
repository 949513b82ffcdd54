// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A message of bounded length, put together without allocation, so that an error can be described
//! anywhere: in a constant expression, on a lane's thread, or while memory is short.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

namespace tpoverlap::inline v0 {

/// Text of at most `Capacity` characters; what does not fit is cut and marked with "...".
template <std::size_t Capacity>
class bounded_text {
 public:
  constexpr bounded_text() = default;
  constexpr bounded_text(std::string_view text) { *this << text; }

  constexpr bounded_text& operator<<(std::string_view text) {
    for (char c : text) push(c);
    return *this;
  }

  constexpr bounded_text& operator<<(char c) {
    push(c);
    return *this;
  }

  template <std::integral Integer>
    requires(!std::same_as<Integer, char> && !std::same_as<Integer, bool>)
  constexpr bounded_text& operator<<(Integer value) {
    char digits[24]{};
    std::size_t count = 0;
    bool const negative = value < 0;
    do {
      auto const digit = static_cast<int>(value % 10);
      digits[count++] = static_cast<char>('0' + (digit < 0 ? -digit : digit));
      value = static_cast<Integer>(value / 10);
    } while (value != 0);
    if (negative) push('-');
    while (count > 0) push(digits[--count]);
    return *this;
  }

  [[nodiscard]] constexpr std::string_view view() const noexcept { return {text_, size_}; }
  [[nodiscard]] constexpr char const* c_str() const noexcept { return text_; }

 private:
  constexpr void push(char c) {
    if (size_ < Capacity) {
      text_[size_++] = c;
    } else {
      for (std::size_t i = 1; i <= 3 && i <= Capacity; ++i) text_[Capacity - i] = '.';
    }
  }

  char text_[Capacity + 1]{};
  std::size_t size_ = 0;
};

}  // namespace tpoverlap::inline v0
