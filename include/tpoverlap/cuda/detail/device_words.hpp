// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Device memory for the few words that ranks compare while objects are built.
#pragma once

#include <tpoverlap/cuda/device_guard.hpp>
#include <tpoverlap/cuda/error.hpp>
#include <tpoverlap/cuda/stream.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace tpoverlap::inline v0::cu::detail {

/// Up to `most` words a rank, on the device and on the host. Kept for the life of a communicator: memory is freed when
/// nobody else's operations can be in its way.
class device_words {
 public:
  static constexpr std::size_t most = 16;

  device_words(int device, std::size_t ranks)
      : device_{device}, host_{std::make_unique<std::uint64_t[]>(ranks * most)} {
    device_guard const on{device_};
    void* made = nullptr;
    check(cudaMalloc(&made, ranks * most * sizeof(std::uint64_t)), "cudaMalloc");
    data_ = static_cast<std::uint64_t*>(made);
  }
  device_words(device_words const&) = delete;
  device_words& operator=(device_words const&) = delete;
  ~device_words() { (void)cudaFree(data_); }

  [[nodiscard]] std::uint64_t* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t const* host() const noexcept { return host_.get(); }

  /// The words of one rank, from anywhere on the host.
  void put(std::span<std::uint64_t const> words, std::size_t rank, stream_ref in) const {
    device_guard const on{device_};
    check(cudaMemcpyAsync(data_ + rank * words.size(), words.data(), words.size_bytes(),
                          cudaMemcpyHostToDevice, in.handle()),
          "cudaMemcpyAsync");
  }

  /// The first `count` words, to `host()`.
  void fetch(std::size_t count, stream_ref in) const {
    device_guard const on{device_};
    check(cudaMemcpyAsync(host_.get(), data_, count * sizeof(std::uint64_t), cudaMemcpyDeviceToHost,
                          in.handle()),
          "cudaMemcpyAsync");
  }

 private:
  int device_;
  std::unique_ptr<std::uint64_t[]> host_;
  std::uint64_t* data_ = nullptr;
};

}  // namespace tpoverlap::inline v0::cu::detail
