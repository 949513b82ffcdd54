// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What is known to have happened: for each stream, the number of its last operation that is ordered before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace software_device {

class vector_clock {
 public:
  [[nodiscard]] std::uint64_t at(std::size_t stream) const {
    return stream < last_.size() ? last_[stream] : 0;
  }

  void join(vector_clock const& other) {
    if (last_.size() < other.last_.size()) last_.resize(other.last_.size());
    for (std::size_t i = 0; i < other.last_.size(); ++i) last_[i] = (std::max)(last_[i], other.last_[i]);
  }

  void set(std::size_t stream, std::uint64_t value) {
    if (last_.size() <= stream) last_.resize(stream + 1);
    last_[stream] = value;
  }

 private:
  std::vector<std::uint64_t> last_;
};

}  // namespace software_device
