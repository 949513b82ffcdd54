// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What a kept choice depends on, as one line of text.
#pragma once

#include <tpoverlap/core/element.hpp>
#include <tpoverlap/overlap/shape.hpp>
#include <tpoverlap/tuner/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tpoverlap::inline v0::detail {

inline std::string hexadecimal(std::uint64_t value) {
  std::string digits(16, '0');
  for (std::size_t i = 0; i < digits.size(); ++i) digits[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
  return digits;
}

inline std::uint64_t hash_of_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// Puts `name=value` together, one behind the other.
class tuning_key {
 public:
  tuning_key& add(std::string_view name, std::int64_t value) { return label(name, std::to_string(value)); }
  tuning_key& word(std::string_view name, std::string_view value) { return label(name, value); }

  /// Text that somebody else chose: in quotes, and never more than a line.
  tuning_key& quoted(std::string_view name, std::string_view value) {
    std::string safe = "\"";
    for (char const c : value) {
      auto const byte = static_cast<unsigned char>(c);
      if (byte >= 0x20 && byte != 0x7f && c != '"' && c != '\\') {
        safe += c;
      } else {
        safe += '\\';
        safe += "0123456789abcdef"[byte >> 4];
        safe += "0123456789abcdef"[byte & 15];
      }
    }
    return label(name, safe + '"');
  }

  tuning_key& shape(gemm_shape const& size) {
    add("rows", size.rows).add("inner", size.inner).add("columns", size.columns);
    return add("largest_shard", size.largest_shard);
  }
  tuning_key& shape(side_shape const& size) {
    add("rows", size.collective.rows).add("columns", size.collective.columns);
    add("largest_shard", size.collective.largest_shard).add("product_rows", size.product.rows);
    return add("product_inner", size.product.inner).add("product_columns", size.product.columns);
  }

  [[nodiscard]] std::string const& text() const { return text_; }

 private:
  tuning_key& label(std::string_view name, std::string_view value) {
    if (!text_.empty()) text_ += ' ';
    text_.append(name).append("=").append(value);
    return *this;
  }

  std::string text_;
};

/// How the other ranks' keys relate to rank 0's: a GEMM of another shape or another machine there is another case.
inline std::string relation_of(std::span<std::uint64_t const> hashes) {
  bool same = true;
  std::string all;
  for (std::uint64_t const each : hashes) {
    same = same && each == hashes[0];
    all += hexadecimal(each);
  }
  return same ? "same" : hexadecimal(hash_of_text(all));
}

}  // namespace tpoverlap::inline v0::detail
