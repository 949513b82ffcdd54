// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A message of bounded length, put together without allocation, so that an error can be described
//! anywhere: in a constant expression, on a lane's thread, or while memory is short.
#pragma once

#include <concepts>
#include <cstddef>

namespace tpoverlap::inline v0 {

/// Characters that somebody else owns. Stands in for `std::string_view`, whose header costs a device compiler 0.3 s,
/// and converts from and to it.
struct text_view {
  char const* data = "";
  std::size_t size = 0;

  constexpr text_view() = default;
  constexpr text_view(char const* text) : data{text} {
    while (text[size] != '\0') ++size;
  }
  constexpr text_view(char const* first, std::size_t count) : data{first}, size{count} {}

  template <class Text>
    requires requires(Text const& text) {
      { text.data() } -> std::convertible_to<char const*>;
      { text.size() } -> std::convertible_to<std::size_t>;
    }
  constexpr text_view(Text const& text) : data{text.data()}, size{text.size()} {}

  /// Only to types that hold text themselves: an error made from text and a number is none.
  template <class Text>
    requires(std::constructible_from<Text, char const*, std::size_t> && !std::same_as<Text, text_view> &&
             requires(Text const& text) {
               text.data();
               text.size();
             })
  constexpr operator Text() const { return Text(data, size); }
};

/// Text of at most `Capacity` characters; what does not fit is cut and marked with "...".
template <std::size_t Capacity>
class bounded_text {
 public:
  constexpr bounded_text() = default;
  constexpr bounded_text(text_view text) { *this << text; }

  constexpr bounded_text& operator<<(text_view text) {
    for (std::size_t i = 0; i < text.size; ++i) push(text.data[i]);
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
    bool negative = false;
    if constexpr (std::signed_integral<Integer>) negative = value < 0;
    do {
      auto const digit = static_cast<int>(value % 10);
      digits[count++] = static_cast<char>('0' + (digit < 0 ? -digit : digit));
      value = static_cast<Integer>(value / 10);
    } while (value != 0);
    if (negative) push('-');
    while (count > 0) push(digits[--count]);
    return *this;
  }

  [[nodiscard]] constexpr text_view view() const noexcept { return {text_, size_}; }
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
