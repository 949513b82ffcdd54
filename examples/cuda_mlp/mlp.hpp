// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The forward pass of an MLP, its weights cut by columns and then by rows, its tokens cut by rank:
//! y = reduce_scatter(relu(all_gather(x) · w1) · w2).
#pragma once

#include "kernels.hpp"

#include <tpoverlap/cuda.hpp>
#include <tpoverlap/nccl.hpp>
#include <tpoverlap/overlap.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

struct mlp_sizes {
  std::int64_t tokens = 4096;
  std::int64_t hidden = 4096;
  int passes = 20;
};

/// Device memory of the device that is current when it is made.
template <class T>
class device_array {
 public:
  explicit device_array(std::int64_t count) : count_{count > 0 ? static_cast<std::size_t>(count) : 1} {
    void* made = nullptr;
    tpoverlap::cu::detail::check(cudaMalloc(&made, count_ * sizeof(T)), "cudaMalloc");
    data_ = static_cast<T*>(made);
  }
  device_array(device_array const&) = delete;
  device_array& operator=(device_array const&) = delete;
  ~device_array() { (void)cudaFree(data_); }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::span<std::byte> bytes() const {
    return {reinterpret_cast<std::byte*>(data_), count_ * sizeof(T)};
  }

  void put(std::vector<T> const& from) {
    tpoverlap::cu::detail::check(
        cudaMemcpy(data_, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  [[nodiscard]] std::vector<T> get() const {
    std::vector<T> to(count_);
    tpoverlap::cu::detail::check(cudaMemcpy(to.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost),
                                 "cudaMemcpy");
    return to;
  }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

/// Two overlap objects and what lies between them, as one callable that `captured` can replay.
template <class Gather, class Reduction, int P>
class mlp {
 public:
  using number = __nv_bfloat16;
  using gemm = tpoverlap::cu::cublaslt_gemm<number>;
  using communicator = tpoverlap::cu::nccl_communicator;

  /// `width` is the number of hidden columns that this rank has of the whole MLP's.
  mlp(communicator& comm, gemm const& multiply, mlp_sizes const& sizes, std::int64_t width)
      : w1_{sizes.hidden * width},
        w2_{width * sizes.hidden},
        inner_{sizes.tokens * width},
        sizes_{sizes},
        width_{width},
        up_workspace_{static_cast<std::int64_t>(up_type::workspace_bytes(up_shape()))},
        down_workspace_{static_cast<std::int64_t>(down_type::workspace_bytes(down_shape()))},
        up_{comm, multiply, up_shape(), up_workspace_.bytes()},
        down_{comm, multiply, down_shape(), down_workspace_.bytes()} {}

  void set_weights(std::vector<number> const& w1, std::vector<number> const& w2) {
    w1_.put(w1);
    w2_.put(w2);
  }

  void operator()(tpoverlap::cu::stream_ref& in,
                  tpoverlap::matrix_view<number const> x /* (tokens/P, hidden) */,
                  tpoverlap::matrix_view<number> y /* (tokens/P, hidden) */) {
    tpoverlap::matrix_view<number> const inner{inner_.data(), sizes_.tokens, width_};
    up_(in, x, {w1_.data(), sizes_.hidden, width_}, inner);
    relu(in, inner_.data(), inner.size());
    down_(in, inner, {w2_.data(), width_, sizes_.hidden}, y);
  }

 private:
  using up_type = tpoverlap::overlap<Gather, tpoverlap::world<P>, communicator, gemm>;
  using down_type = tpoverlap::overlap<Reduction, tpoverlap::world<P>, communicator, gemm>;

  [[nodiscard]] tpoverlap::gemm_shape up_shape() const {
    return {.rows = sizes_.tokens, .inner = sizes_.hidden, .columns = width_};
  }
  [[nodiscard]] tpoverlap::gemm_shape down_shape() const {
    return {.rows = sizes_.tokens, .inner = width_, .columns = sizes_.hidden};
  }

  device_array<number> w1_;
  device_array<number> w2_;
  device_array<number> inner_;
  mlp_sizes sizes_;
  std::int64_t width_;
  device_array<std::byte> up_workspace_;
  device_array<std::byte> down_workspace_;
  up_type up_;
  down_type down_;
};
