// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Arrays whose size is known only when a constexpr function runs.
#pragma once

namespace tpoverlap::inline v0 {

/// `size` values, each starting as `fill`. Cheaper in a constant expression than any standard container.
template <class T>
class scratch {
 public:
  constexpr explicit scratch(int size, T fill = T{})
      : values_{new T[static_cast<unsigned>(size > 0 ? size : 1)]} {
    for (int i = 0; i < size; ++i) values_[i] = fill;
  }
  constexpr ~scratch() { delete[] values_; }
  scratch(scratch const&) = delete;
  scratch& operator=(scratch const&) = delete;

  constexpr T& operator[](int index) { return values_[index]; }
  constexpr T const& operator[](int index) const { return values_[index]; }
  constexpr T* data() { return values_; }

 private:
  T* values_;
};

/// A list that grows at its end.
template <class T>
class growing_list {
 public:
  constexpr growing_list() = default;
  constexpr ~growing_list() { delete[] values_; }
  growing_list(growing_list const&) = delete;
  growing_list& operator=(growing_list const&) = delete;

  constexpr void push(T const& value) {
    if (size_ == capacity_) {
      capacity_ = capacity_ == 0 ? 64 : 2 * capacity_;
      T* const moved = new T[static_cast<unsigned>(capacity_)]{};
      for (int i = 0; i < size_; ++i) moved[i] = values_[i];
      delete[] values_;
      values_ = moved;
    }
    values_[size_++] = value;
  }

  constexpr void clear() { size_ = 0; }
  constexpr T& operator[](int index) { return values_[index]; }
  constexpr T const& operator[](int index) const { return values_[index]; }
  [[nodiscard]] constexpr T const* data() const { return values_; }
  [[nodiscard]] constexpr int size() const { return size_; }

 private:
  T* values_ = nullptr;
  int size_ = 0;
  int capacity_ = 0;
};

}  // namespace tpoverlap::inline v0
