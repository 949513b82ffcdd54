// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A folder that is gone when the test is over, and whole files as text.
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

namespace tpoverlap_test {

class scratch_folder {
 public:
  scratch_folder() {
    static std::atomic<int> count{0};
    path_ = std::filesystem::temp_directory_path() /
            ("tpoverlap_tuner_" + std::to_string(::getpid()) + "_" + std::to_string(++count));
    std::filesystem::create_directories(path_);
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(scratch_folder const&) = delete;
  scratch_folder& operator=(scratch_folder const&) = delete;

  [[nodiscard]] std::string file(std::string const& name = "tuning.txt") const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::string contents(std::string const& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

inline void put(std::string const& path, std::string const& text) {
  std::ofstream{path, std::ios::binary} << text;
}

}  // namespace tpoverlap_test
