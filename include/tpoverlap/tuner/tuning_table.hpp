// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The text of a tuning file: one line a choice, each with a checksum, between a line that names the format and one that
//! counts them, so that whatever is cut off, added or changed is noticed.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/tuner/tuning_file_error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tpoverlap::inline v0 {

/// One kept choice.
struct tuning_entry {
  std::string key;                        ///< all that the choice depends on; one line
  std::string choice;                     ///< the candidate's name; no spaces
  std::int64_t nanoseconds = 0;           ///< one call of it took, for who reads the file
  std::int64_t blocking_nanoseconds = 0;  ///< and one of blocking

  friend bool operator==(tuning_entry const&, tuning_entry const&) = default;
};

/// The entries of a file, in its order; no two have one key.
///
///     tpoverlap tuning file, format 1
///     3f0c9a51e2d4b687 choice=ring{...} ns=812400 blocking_ns=1444000 for ranks=4 rows=8192 ...
///     end of 1
///
/// The checksum is FNV-1a over the rest of its line, in hexadecimal. Its steps are invertible, so that a changed byte
/// always shows.
class tuning_table {
 public:
  static constexpr std::string_view first_line = "tpoverlap tuning file, format ";
  static constexpr int format = 1;

  [[nodiscard]] std::vector<tuning_entry> const& entries() const& { return entries_; }
  [[nodiscard]] std::vector<tuning_entry> entries() && { return std::move(entries_); }

  [[nodiscard]] tuning_entry const* find(std::string_view key) const {
    for (auto const& each : entries_) {
      if (each.key == key) return &each;
    }
    return nullptr;
  }

  /// Adds an entry, or puts it in the place of the one with its key.
  void put(tuning_entry entry) {
    for (auto& each : entries_) {
      if (each.key != entry.key) continue;
      each = std::move(entry);
      return;
    }
    entries_.push_back(std::move(entry));
  }

  [[nodiscard]] std::string text() const {
    std::string all = std::string{first_line} + std::to_string(format) + '\n';
    for (auto const& each : entries_) {
      std::string const line = "choice=" + each.choice + " ns=" + std::to_string(each.nanoseconds) +
                               " blocking_ns=" + std::to_string(each.blocking_nanoseconds) + " for " +
                               each.key;
      all += checksum(line) + ' ' + line + '\n';
    }
    return all + last_line(entries_.size()) + '\n';
  }

  /// Reads what `text` wrote. **Errors** `tuning_file_error` with the line that is wrong, in the order of the file.
  [[nodiscard]] static tuning_table parse(std::string_view text) {
    tuning_table table;
    int line = 0;
    bool ended = false;
    while (!text.empty()) {
      ++line;
      if (ended)
        refuse(line, "something follows the line that ends the file", "remove it, or delete the file");
      std::size_t const length = text.find('\n');
      if (length == text.npos) refuse(line, "the line is cut off before its end", delete_it);
      std::string_view const content = text.substr(0, length);
      text.remove_prefix(length + 1);
      if (line == 1) {
        check_first_line(content);
      } else if (content.starts_with("end")) {
        if (content != last_line(table.entries_.size())) refuse_count(line, table.entries_.size());
        ended = true;
      } else {
        table.add(line, content);
      }
    }
    if (line == 0) refuse(1, "the file is empty", delete_it);
    if (!ended) refuse(line + 1, "the line that ends the file is missing: it was cut off", delete_it);
    return table;
  }

 private:
  static constexpr char const* delete_it = "delete the file, to have everything measured anew";
  static constexpr std::size_t checksum_digits = 16;

  static std::string last_line(std::size_t count) { return "end of " + std::to_string(count); }

  static std::string checksum(std::string_view line) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (char const c : line) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    std::string digits(checksum_digits, '0');
    for (std::size_t i = 0; i < checksum_digits; ++i) {
      digits[i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15];
    }
    return digits;
  }

  [[noreturn]] static void refuse(int line, char const* what, char const* mend) {
    bounded_text<300> text;
    text << "line " << line << " of the tuning file: " << text_view{what} << "; " << text_view{mend};
    raise(tuning_file_error{text.view(), line});
  }

  [[noreturn]] static void refuse_count(int line, std::size_t count) {
    bounded_text<300> text;
    text << "line " << line << " of the tuning file: it ends the file, but does not read 'end of " << count
         << "' for the " << count << " choices above; put that there if lines were removed on purpose, or "
         << text_view{delete_it};
    raise(tuning_file_error{text.view(), line});
  }

  static void check_first_line(std::string_view content) {
    if (!content.starts_with(first_line)) {
      refuse(1, "it does not say 'tpoverlap tuning file', so this is another kind of file",
             "name another path for tuning; this file is left as it is");
    }
    if (content.substr(first_line.size()) != std::to_string(format)) {
      bounded_text<300> text;
      text << "line 1 of the tuning file: it is of format '" << content.substr(first_line.size(), 20)
           << "', but this program reads format " << format
           << "; use another path for this program, or delete the file, to have everything measured anew";
      raise(tuning_file_error{text.view(), 1});
    }
  }

  /// Takes `label` and what follows it up to the next space off the front of `rest`.
  static std::string_view take(int line, std::string_view& rest, std::string_view label) {
    std::size_t const space = rest.find(' ');
    if (!rest.starts_with(label) || space == rest.npos) {
      refuse(line, "it has not the form 'choice=... ns=... blocking_ns=... for ...'", delete_it);
    }
    std::string_view const value = rest.substr(label.size(), space - label.size());
    rest.remove_prefix(space + 1);
    return value;
  }

  static std::int64_t number(int line, std::string_view digits) {
    std::int64_t value = 0;
    for (char const c : digits) {
      if (c < '0' || c > '9' || value > INT64_MAX / 10 - 9) refuse(line, "a time is no number", delete_it);
      value = 10 * value + (c - '0');
    }
    if (digits.empty()) refuse(line, "a time is missing", delete_it);
    return value;
  }

  void add(int line, std::string_view content) {
    if (content.size() <= checksum_digits || content[checksum_digits] != ' ' ||
        content.substr(0, checksum_digits) != checksum(content.substr(checksum_digits + 1))) {
      refuse(line, "its checksum does not fit, so it was damaged or edited", delete_it);
    }
    std::string_view rest = content.substr(checksum_digits + 1);
    tuning_entry entry;
    entry.choice = take(line, rest, "choice=");
    entry.nanoseconds = number(line, take(line, rest, "ns="));
    entry.blocking_nanoseconds = number(line, take(line, rest, "blocking_ns="));
    if (!take(line, rest, "for").empty()) refuse(line, "'for' stands not before what it is for", delete_it);
    if (find(rest) != nullptr) refuse(line, "a line above is for the same", delete_it);
    entry.key = rest;
    entries_.push_back(std::move(entry));
  }

  std::vector<tuning_entry> entries_;
};

}  // namespace tpoverlap::inline v0
