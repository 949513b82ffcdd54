// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Ranks as threads with a software device each, their operands, and what became of them.
#pragma once

#include "../software_device/control.hpp"
#include "../support/catch.hpp"

#include <tpoverlap/cuda.hpp>
#include <tpoverlap/nccl.hpp>
#include <tpoverlap/overlap.hpp>

#include <cuda_runtime_api.h>

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cuda_test {

namespace device = software_device;
using namespace tpoverlap;

/// Fails the rank; Catch2's assertions are for one thread only.
inline void require(bool holds, std::string const& what) {
  if (!holds) throw std::runtime_error{what};
}

/// What a rank ended with: empty if all went well.
struct rank_outcome {
  std::exception_ptr thrown;

  [[nodiscard]] std::string text() const {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (std::exception const& error) {
      return error.what();
    }
    return {};
  }
  template <class Error>
  [[nodiscard]] bool is() const {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (Error const&) {
      return true;
    } catch (...) {
    }
    return false;
  }
};

/// Calls `body(rank)` on a thread a rank.
inline std::vector<rank_outcome> on_threads(int ranks, std::function<void(int)> const& body) {
  std::vector<rank_outcome> outcomes(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      try {
        body(r);
      } catch (...) {
        outcomes[static_cast<std::size_t>(r)].thrown = std::current_exception();
      }
    });
  for (auto& each : threads) each.join();
  return outcomes;
}

/// Calls `body(communicator)` on a thread a rank; rank r works on device r, and device 0 stays current, so that code
/// which relies on the current device is found out.
template <class Body>
std::vector<rank_outcome> on_ranks(int ranks, cu::nccl_options const& options, Body body) {
  auto const id = cu::make_nccl_id();
  return on_threads(ranks, [&](int r) {
    cu::nccl_communicator comm{{.id = id, .seat = {.ranks = ranks, .rank = r, .device = r}}, options};
    body(comm);
  });
}

/// All ranks went well, and the software device saw nothing wrong.
inline void check_all(std::vector<rank_outcome> const& outcomes) {
  for (std::size_t r = 0; r < outcomes.size(); ++r) {
    auto const failure = outcomes[r].thrown ? "rank " + std::to_string(r) + ": " + outcomes[r].text() : "";
    CHECK(failure == "");
  }
  for (auto const& each : device::findings()) {
    CAPTURE(each);
    CHECK(each == "");
  }
}

/// Device memory of one rank.
template <class T>
class device_matrix {
 public:
  device_matrix(int device, std::int64_t rows, std::int64_t columns) : rows_{rows}, columns_{columns} {
    cu::device_guard const on{device};
    void* made = nullptr;
    cu::detail::check(cudaMalloc(&made, bytes()), "cudaMalloc");
    data_ = static_cast<T*>(made);
  }
  device_matrix(device_matrix const&) = delete;
  device_matrix& operator=(device_matrix const&) = delete;
  ~device_matrix() { (void)cudaFree(data_); }

  [[nodiscard]] matrix_view<T> view() const { return {data_, rows_, columns_}; }
  [[nodiscard]] matrix_view<T const> read() const { return {data_, rows_, columns_}; }
  [[nodiscard]] std::span<std::byte> span() const {
    return {reinterpret_cast<std::byte*>(data_),
            rows_ == 0 ? 0 : static_cast<std::size_t>(rows_ * columns_) * sizeof(T)};
  }

  /// In stream order; the host's values are read before this returns.
  template <class Value>
  void fill(cu::stream_ref in, Value value) const {
    if (rows_ * columns_ == 0) return;
    std::vector<T> values;
    for (std::int64_t i = 0; i < rows_; ++i)
      for (std::int64_t j = 0; j < columns_; ++j)
        values.push_back(static_cast<T>(static_cast<float>(value(i, j))));
    cu::detail::check(cudaMemcpyAsync(data_, values.data(), bytes(), cudaMemcpyHostToDevice, in.handle()),
                      "cudaMemcpyAsync");
  }

  /// Blocks, so only after a bounded wait. NaN equals nothing.
  template <class Value>
  void require_equal(cu::stream_ref in, std::string const& what, std::int64_t rows, Value value) const {
    if (rows * columns_ == 0) return;
    std::vector<T> values(static_cast<std::size_t>(rows * columns_));
    cu::detail::check(
        cudaMemcpyAsync(values.data(), data_, values.size() * sizeof(T), cudaMemcpyDeviceToHost, in.handle()),
        "cudaMemcpyAsync");
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns_; ++j) {
        auto const is = static_cast<float>(values[static_cast<std::size_t>(i * columns_ + j)]);
        auto const should = static_cast<float>(value(i, j));
        require(is == should, what + ": (" + std::to_string(i) + ", " + std::to_string(j) + ") is " +
                                  std::to_string(is) + ", should be " + std::to_string(should));
      }
  }

 private:
  [[nodiscard]] std::size_t bytes() const {
    auto const size = static_cast<std::size_t>(rows_ * columns_) * sizeof(T);
    return size > 0 ? size : sizeof(T);  // an empty shard still has an address
  }

  std::int64_t rows_;
  std::int64_t columns_;
  T* data_ = nullptr;
};

/// -1, 0 or 1, the same on every rank: sums of all ranks stay exact in every type.
inline int small_integer(int seed, std::int64_t i, std::int64_t j) {
  auto const mixed = static_cast<std::uint64_t>(seed) * 0x9e3779b97f4a7c15u +
                     static_cast<std::uint64_t>(i) * 0xbf58476d1ce4e5b9u +
                     static_cast<std::uint64_t>(j) * 0x94d049bb133111ebu;
  return static_cast<int>((mixed ^ (mixed >> 29)) % 3) - 1;
}

}  // namespace cuda_test
