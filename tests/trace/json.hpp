// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A strict reader of JSON, so that the tests of a writer need no library.
#pragma once

#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct json {
  enum class kind { null, boolean, number, text, array, object };

  kind is = kind::null;
  double number = 0;
  std::string text;
  std::vector<json> items;        // of an array, or the values of an object
  std::vector<std::string> keys;  // of an object

  [[nodiscard]] bool has(std::string_view key) const {
    for (auto const& each : keys)
      if (each == key) return true;
    return false;
  }

  json const& operator[](std::string_view key) const {
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (keys[i] == key) return items[i];
    throw std::runtime_error{"no member " + std::string{key}};
  }

  [[nodiscard]] int integer() const {
    if (is != kind::number || number != static_cast<int>(number)) throw std::runtime_error{"no integer"};
    return static_cast<int>(number);
  }
};

class json_reader {
 public:
  explicit json_reader(std::string_view text) : rest_{text} {}

  json read() {
    json made = value();
    blanks();
    if (!rest_.empty()) fail("something follows the value");
    return made;
  }

 private:
  [[noreturn]] void fail(char const* what) const {
    throw std::runtime_error{std::string{what} + " at: " + std::string{rest_.substr(0, 40)}};
  }

  void blanks() {
    while (!rest_.empty() && std::string_view{" \t\r\n"}.find(rest_.front()) != std::string_view::npos)
      rest_.remove_prefix(1);
  }

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  json value() {
    blanks();
    json made;
    if (rest_.starts_with('"')) {
      made.is = json::kind::text;
      made.text = quoted();
    } else if (take("{")) {
      made.is = json::kind::object;
      list(made, "}");
    } else if (take("[")) {
      made.is = json::kind::array;
      list(made, "]");
    } else if (take("true") || take("false")) {
      made.is = json::kind::boolean;
    } else if (!take("null")) {
      made.is = json::kind::number;
      made.number = decimal();
    }
    return made;
  }

  void list(json& into, std::string_view end) {
    blanks();
    if (take(end)) return;
    do {
      if (into.is == json::kind::object) {
        blanks();
        into.keys.push_back(quoted());
        blanks();
        if (!take(":")) fail("a colon is missing");
      }
      into.items.push_back(value());
      blanks();
    } while (take(","));
    if (!take(end)) fail("a list does not end");
  }

  std::string quoted() {
    if (!take("\"")) fail("a quotation mark is missing");
    std::string made;
    while (!take("\"")) {
      if (rest_.empty()) fail("a text does not end");
      if (static_cast<unsigned char>(rest_.front()) < 0x20) fail("a control character");
      if (!take("\\")) {
        made.push_back(rest_.front());
        rest_.remove_prefix(1);
      } else if (take("u")) {
        made.push_back(static_cast<char>(std::stoi(std::string{rest_.substr(0, 4)}, nullptr, 16)));
        rest_.remove_prefix(4);
      } else if (rest_.starts_with('"') || rest_.starts_with('\\')) {
        made.push_back(rest_.front());
        rest_.remove_prefix(1);
      } else {
        fail("an escape that the writer has no use for");
      }
    }
    return made;
  }

  double decimal() {
    std::string digits;
    while (!rest_.empty() &&
           (std::isdigit(rest_.front()) != 0 || rest_.front() == '-' || rest_.front() == '.')) {
      digits.push_back(rest_.front());
      rest_.remove_prefix(1);
    }
    std::size_t const first = digits.starts_with('-') ? 1 : 0;
    if (digits.size() == first || std::isdigit(digits[first]) == 0 || std::isdigit(digits.back()) == 0)
      fail("no value");
    char* end = nullptr;
    double const made = std::strtod(digits.c_str(), &end);
    if (*end != '\0') fail("no number");
    return made;
  }

  std::string_view rest_;
};

inline json parse_json(std::string_view text) { return json_reader{text}.read(); }
