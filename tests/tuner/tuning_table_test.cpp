// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The text of a tuning file: what was written is read, and whatever else is there is refused with its line.

#include "../support/catch.hpp"

#include <tpoverlap/tuner/tuning_key.hpp>
#include <tpoverlap/tuner/tuning_table.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace tpoverlap;

namespace {

tuning_entry entry(std::string key, std::string choice = "a{}", std::int64_t time = 7) {
  return {std::move(key), std::move(choice), time, 2 * time};
}

tuning_table three() {
  tuning_table table;
  table.put(entry("ranks=4 rows=1", "ring{chunks=4}", 812400));
  table.put(entry("ranks=4 rows=2", "ring{chunks=2}", INT64_MAX / 100));
  table.put(entry("ranks=8 tag=\"a b\" ", "blocking{}", 0));
  return table;
}

struct refusal {
  int line = -1;
  std::string text;
};

// line -1: it was not refused
refusal refusal_of(std::string_view text) {
  try {
    (void)tuning_table::parse(text);
  } catch (tuning_file_error const& wrong) {
    return {wrong.line(), wrong.what()};
  }
  return {};
}

void check_refused(std::string_view text, int line, std::string const& part) {
  auto const [at, what] = refusal_of(text);
  CAPTURE(std::string{text}, what);
  CHECK(at == line);
  CHECK(what.find("line " + std::to_string(line) + " of the tuning file") != what.npos);
  CHECK(what.find(part) != what.npos);
}

// A line as it would be written, with a checksum that fits.
std::string line_for(std::string const& content) {
  return detail::hexadecimal(detail::hash_of_text(content)) + " " + content + "\n";
}
std::string const head = "tpoverlap tuning file, format 1\n";

}  // namespace

TEST_CASE("what is written is read", "[tuning_table]") {
  auto const table = three();
  CHECK(tuning_table::parse(table.text()).entries() == table.entries());
  CHECK(tuning_table::parse(tuning_table{}.text()).entries().empty());
  CHECK(table.find("ranks=4 rows=2")->choice == "ring{chunks=2}");
  CHECK(table.find("ranks=4 rows=") == nullptr);
  CHECK(table.find("ranks=4 rows=2 ") == nullptr);
}

TEST_CASE("the format is what the documents say", "[tuning_table]") {
  tuning_table table;
  table.put(entry("ranks=4", "ring{}", 5));
  CHECK(table.text() == head + line_for("choice=ring{} ns=5 blocking_ns=10 for ranks=4") + "end of 1\n");
  // FNV-1a's published values, so that a file can be read by the next build.
  CHECK(detail::hexadecimal(detail::hash_of_text("")) == "cbf29ce484222325");
  CHECK(detail::hexadecimal(detail::hash_of_text("foobar")) == "85944171f73967e8");
}

TEST_CASE("a new choice takes the place of the old one for the same key", "[tuning_table]") {
  auto table = three();
  table.put(entry("ranks=4 rows=2", "direct{}", 3));
  REQUIRE(table.entries().size() == 3);
  CHECK(table.entries()[1] == entry("ranks=4 rows=2", "direct{}", 3));
}

TEST_CASE("a file cut off anywhere is refused", "[tuning_table]") {
  std::string const whole = three().text();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK(refusal_of(std::string_view{whole}.substr(0, length)).line >= 1);
  }
}

TEST_CASE("a changed byte is refused wherever it is", "[tuning_table]") {
  std::string const whole = three().text();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int change = 1; change < 256; ++change) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ change);
      if (refusal_of(damaged).line >= 1) continue;
      CAPTURE(at, change);
      FAIL("accepted");
    }
  }
}

TEST_CASE("a byte removed, doubled or put in is refused wherever it is", "[tuning_table]") {
  std::string const whole = three().text();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    CAPTURE(at);
    CHECK(refusal_of(std::string{whole}.erase(at, 1)).line >= 1);
    CHECK(refusal_of(std::string{whole}.insert(at, 1, whole[at])).line >= 1);
    CHECK(refusal_of(std::string{whole}.insert(at, "\n")).line >= 1);
  }
}

TEST_CASE("lines removed, doubled or swapped", "[tuning_table]") {
  auto const a = line_for("choice=a ns=1 blocking_ns=1 for a");
  auto const b = line_for("choice=b ns=1 blocking_ns=1 for b");
  CHECK(refusal_of(head + a + b + "end of 2\n").line == -1);
  CHECK(refusal_of(head + b + a + "end of 2\n").line == -1);
  check_refused(head + a + "end of 2\n", 3, "does not read 'end of 1'");
  check_refused(head + a + b + a + "end of 3\n", 4, "a line above is for the same");
  check_refused(a + "end of 1\n", 1, "another kind of file");
  check_refused(head + a, 3, "the line that ends the file is missing");
  check_refused(head + "end of 0\n" + a, 3, "something follows");
  check_refused(head + "end of 0\n" + head + "end of 0\n", 3, "something follows");
  // Two files, one behind the other.
  check_refused(head + a + head + "end of 1\n", 3, "its checksum does not fit");
}

TEST_CASE("each fault is named, with its line and what to do", "[tuning_table]") {
  check_refused("", 1, "the file is empty; delete the file");
  check_refused("{\"json\": true}\n", 1, "another kind of file; name another path");
  check_refused("tpoverlap tuning file, format 2\nnobody knows\n", 1,
                "it is of format '2', but this program reads format 1; use another path");
  check_refused("tpoverlap tuning file, format 1 \n", 1, "of format '1 '");
  check_refused("tpoverlap tuning file, format 1\r\n", 1, "of format '1\r'");
  check_refused("tpoverlap tuning file, format 1", 1, "the line is cut off");
  check_refused(head + "\nend of 0\n", 2, "its checksum does not fit");
  check_refused(head + "0123456789abcdef choice=a ns=1 blocking_ns=1 for a\nend of 1\n", 2,
                "its checksum does not fit, so it was damaged or edited; delete the file");
  // Damage that a fitting checksum covers up.
  auto const covered = [](std::string const& content) { return head + line_for(content) + "end of 1\n"; };
  CHECK(refusal_of(covered("choice=a ns=1 blocking_ns=1 for a")).line == -1);
  check_refused(covered("chosen=a ns=1 blocking_ns=1 for a"), 2, "it has not the form");
  check_refused(covered("choice=a"), 2, "it has not the form");
  check_refused(covered("choice=a ns=1 for a"), 2, "it has not the form");
  check_refused(covered("choice=a ns=1 blocking_ns=1 of a"), 2, "it has not the form");
  check_refused(covered("choice=a ns=1 blocking_ns=1 force a"), 2, "'for' stands not");
  check_refused(covered("choice=a ns=-1 blocking_ns=1 for a"), 2, "a time is no number");
  check_refused(covered("choice=a ns= blocking_ns=1 for a"), 2, "a time is missing");
  check_refused(covered("choice=a ns=99999999999999999999 blocking_ns=1 for a"), 2, "a time is no number");
}

TEST_CASE("text that others chose stays in its quotes and on its line", "[tuning_key]") {
  auto const quoted = [](std::string_view text) { return detail::tuning_key{}.quoted("tag", text).text(); };
  CHECK(quoted("a b") == "tag=\"a b\"");
  CHECK(quoted("a\" gemm=\"b") == "tag=\"a\\22 gemm=\\22b\"");
  CHECK(quoted("a\nb\\") == "tag=\"a\\0ab\\5c\"");
  CHECK(quoted("é") == "tag=\"é\"");
  tuning_table table;
  table.put(entry(quoted("one\ntwo\r\n\"")));
  CHECK(tuning_table::parse(table.text()).entries() == table.entries());
}

TEST_CASE("shapes that differ make keys that differ", "[tuning_key]") {
  auto const key = [](auto const& shape) { return detail::tuning_key{}.shape(shape).text(); };
  gemm_shape const g{1, 2, 3, 4};
  for (gemm_shape const& other : {gemm_shape{9, 2, 3, 4}, {1, 9, 3, 4}, {1, 2, 9, 4}, {1, 2, 3, 9}}) {
    CHECK(key(g) != key(other));
  }
  side_shape const s{{1, 2, 3}, {4, 5, 6}};
  for (side_shape const& other : {side_shape{{9, 2, 3}, {4, 5, 6}},
                                  {{1, 9, 3}, {4, 5, 6}},
                                  {{1, 2, 9}, {4, 5, 6}},
                                  {{1, 2, 3}, {9, 5, 6}},
                                  {{1, 2, 3}, {4, 9, 6}},
                                  {{1, 2, 3}, {4, 5, 9}}}) {
    CHECK(key(s) != key(other));
  }
}

TEST_CASE("ranks with other keys are another case", "[tuning_key]") {
  using hashes = std::vector<std::uint64_t>;
  CHECK(detail::relation_of(hashes{5, 5, 5}) == "same");
  CHECK(detail::relation_of(hashes{5, 6, 5}) != "same");
  CHECK(detail::relation_of(hashes{5, 6, 5}) != detail::relation_of(hashes{5, 5, 6}));
  CHECK(detail::relation_of(hashes{5, 6, 5}) == detail::relation_of(hashes{5, 6, 5}));
}
