// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "corpus.hpp"

#include "input_error.hpp"
#include "random.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace train_text {

corpus read_files(std::span<std::string const> files) {
  corpus text;
  for (auto const& file : files) {
    std::ifstream in{file, std::ios::binary};
    if (!in || std::filesystem::is_directory(file)) throw input_error{"cannot read the text file " + file};
    text.insert(text.end(), std::istreambuf_iterator<char>{in}, {});
  }
  return text;
}

std::vector<std::string> texts_of_repository(std::string const& root) {
  std::vector<std::string> files;
  for (auto const* name : {"/LICENSE", "/README.md"}) {
    if (std::filesystem::exists(root + name)) files.push_back(root + name);
  }
  if (auto const docs = root + "/docs"; std::filesystem::is_directory(docs)) {
    auto const first_doc = static_cast<std::ptrdiff_t>(files.size());
    for (auto const& entry : std::filesystem::directory_iterator{docs}) {
      if (entry.path().extension() == ".md") files.push_back(entry.path().string());
    }
    std::sort(files.begin() + first_doc, files.end());  // the system lists a folder in any order
  }
  return files;
}

void require_enough(corpus const& text, std::int64_t context, std::int64_t rows) {
  auto const size = static_cast<std::int64_t>(text.size());
  if (size >= context + rows) return;
  throw input_error{"the text has only " + std::to_string(size) + " bytes; a batch of " +
                    std::to_string(rows) + " positions with " + std::to_string(context) +
                    " bytes before each needs at least " + std::to_string(context + rows)};
}

void draw_batch(corpus const& text, std::int64_t context, std::uint64_t seed, int step,
                tpoverlap::row_range rows, std::span<std::int64_t> positions) {
  constexpr std::uint64_t first_batch_sequence = 1U << 20;  // those below belong to the parameters
  auto const places = text.size() - static_cast<std::size_t>(context);
  for (std::int64_t row = 0; row < rows.count; ++row) {
    auto const bits = random_bits(seed, first_batch_sequence + static_cast<std::uint64_t>(step),
                                  static_cast<std::uint64_t>(rows.first + row));
    positions[static_cast<std::size_t>(row)] = context + static_cast<std::int64_t>(bits % places);
  }
}

}  // namespace train_text
