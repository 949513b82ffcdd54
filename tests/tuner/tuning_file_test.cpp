// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Tuning files on disk: missing, out of reach, foreign, and written by many at once.

#include "../overlap/rank_outcomes.hpp"
#include "../support/catch.hpp"
#include "scratch_folder.hpp"

#include <tpoverlap/tuner/tuning_file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace tpoverlap;
using namespace tpoverlap_test;

namespace {

tuning_entry entry(std::string key) { return {std::move(key), "ring{}", 1, 2}; }

template <class F>
std::string refused(F f) {
  return text_thrown<tuning_file_error>(f);
}

}  // namespace

TEST_CASE("a file that is not there holds nothing, and is made when something is kept", "[tuning_file]") {
  scratch_folder const folder;
  tuning_file const file{folder.file()};
  CHECK(file.read().entries().empty());
  file.check_writable();
  CHECK(!std::filesystem::exists(file.path()));
  file.keep(entry("a"));
  CHECK(file.read().entries() == std::vector{entry("a")});
}

TEST_CASE("choices add up, and replace each other by key", "[tuning_file]") {
  scratch_folder const folder;
  tuning_file{folder.file()}.keep(entry("a"));
  tuning_file{folder.file()}.keep(entry("b"));
  tuning_entry const better{"a", "direct{}", 1, 2};
  tuning_file{folder.file()}.keep(better);
  CHECK(tuning_file{folder.file()}.read().entries() == std::vector{better, entry("b")});
  CHECK(!std::filesystem::exists(folder.file() + ".new"));
}

TEST_CASE("a foreign or damaged file is refused and left as it is", "[tuning_file]") {
  scratch_folder const folder;
  tuning_file const file{folder.file()};
  for (std::string const& text : {std::string{"# my notes\n"}, std::string{}, std::string{"\0\1", 2}}) {
    put(file.path(), text);
    auto const reading = refused([&] { (void)file.read(); });
    auto const writing = refused([&] { file.keep(entry("a")); });
    CAPTURE(reading, writing);
    CHECK(has(reading, "line 1 of the tuning file"));
    CHECK(has(reading, file.path()));
    CHECK(reading == writing);
    CHECK(contents(file.path()) == text);
  }
}

TEST_CASE("paths that cannot be used", "[tuning_file]") {
  scratch_folder const folder;
  auto const nowhere = folder.file("no/such/folder/tuning.txt");
  CHECK(tuning_file{nowhere}.read().entries().empty());
  for (auto const& told : {refused([&] { tuning_file{nowhere}.check_writable(); }),
                           refused([&] { tuning_file{nowhere}.keep(entry("a")); })}) {
    CHECK(has(told, "opening its lock file, PATH.lock, failed"));
    CHECK(has(told, "make its folder, or name another path"));
    CHECK(has(told, nowhere));
  }
  std::filesystem::create_directory(folder.file("folder"));
  CHECK(has(refused([&] { (void)tuning_file{folder.file("folder")}.read(); }), "cannot be read"));
  put(folder.file("plain"), "");
  CHECK(has(refused([&] { tuning_file{folder.file("plain/tuning.txt")}.check_writable(); }),
            "make its folder"));
  CHECK(has(refused([&] { (void)tuning_file{folder.file("plain/tuning.txt")}.read(); }), "cannot be read"));
  put(folder.file("large"), std::string((std::size_t{16} << 20) + 1, 'x'));
  CHECK(has(refused([&] { (void)tuning_file{folder.file("large")}.read(); }), "more than 16 MiB"));
}

TEST_CASE("where the new file cannot be made, the old one stays", "[tuning_file]") {
  scratch_folder const folder;
  tuning_file const file{folder.file()};
  file.keep(entry("a"));
  std::filesystem::create_directory(file.path() + ".new");  // stands in the way, whoever runs the test
  CHECK(has(refused([&] { file.keep(entry("b")); }), "opening PATH.new failed"));
  CHECK(file.read().entries() == std::vector{entry("a")});
}

TEST_CASE("a file that another process does not let go of", "[tuning_file]") {
  scratch_folder const folder;
  tuning_file const file{folder.file()};
  file.keep(entry("a"));
  int const held = ::open((file.path() + ".lock").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(held >= 0);
  REQUIRE(::flock(held, LOCK_EX) == 0);
  CHECK(has(refused([&] { file.keep(entry("b")); }), "has been locked by another process"));
  CHECK(file.read().entries() == std::vector{entry("a")});  // reading needs no lock
  ::close(held);
  file.keep(entry("b"));
  CHECK(file.read().entries().size() == 2);
}

TEST_CASE("many writers lose nothing, and readers see whole files", "[tuning_file]") {
  scratch_folder const folder;
  constexpr int writers = 4;
  constexpr int each = 25;
  auto const write = [&](int writer) {
    for (int i = 0; i < each; ++i) {
      tuning_file const file{folder.file()};
      file.keep(entry(std::to_string(writer) + "." + std::to_string(i)));
      (void)file.read();
    }
  };
  // Half of them are processes of their own.
  std::vector<pid_t> children;
  for (int w = 0; w < writers / 2; ++w) {
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      bool failed = false;
      try {
        write(w);
      } catch (...) {
        failed = true;
      }
      ::_exit(failed ? 1 : 0);
    }
    children.push_back(child);
  }
  std::vector<std::string> faults(writers);
  std::string seen;
  std::jthread reader{[&](std::stop_token const& stop) {
    seen = text_thrown<std::exception>([&] {
      while (!stop.stop_requested()) (void)tuning_file{folder.file()}.read();
    });
  }};
  {
    std::vector<std::jthread> threads;
    for (int w = writers / 2; w < writers; ++w) {
      threads.emplace_back(
          [&, w] { faults[static_cast<std::size_t>(w)] = text_thrown<std::exception>([&] { write(w); }); });
    }
  }
  for (pid_t const child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  reader.request_stop();
  reader.join();
  CHECK(seen == "");
  for (auto const& fault : faults) CHECK(fault == "");
  std::set<std::string> keys;
  for (auto const& kept : tuning_file{folder.file()}.read().entries()) keys.insert(kept.key);
  CHECK(keys.size() == writers * each);
}
