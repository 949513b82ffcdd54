// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What copies of a cuBLASLt functor share: the handle, the workspace, and the plans made so far.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/cuda/cublas_error.hpp>
#include <tpoverlap/cuda/detail/cublaslt_plan.hpp>
#include <tpoverlap/cuda/device_guard.hpp>
#include <tpoverlap/cuda/error.hpp>
#include <tpoverlap/cuda/stream.hpp>

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tpoverlap::inline v0::cu::detail {

class cublaslt_state {
 public:
  /// Enough for every chunk of every shard of a few layers, counted by shape; beyond it the oldest plan makes room.
  static constexpr std::size_t most_plans = 128;

  cublaslt_state(int device, std::span<std::byte> workspace, lt_settings settings)
      : device_{device}, workspace_{workspace}, settings_{settings} {
    settings_.workspace_bytes = workspace.size();
    device_guard const on{device_};
    check_workspace();
    cublasLtHandle_t made = nullptr;
    check(cublasLtCreate(&made), "cublasLtCreate");
    handle_.reset(made);
    plans_.reserve(most_plans);
  }

  [[nodiscard]] int device() const noexcept { return device_; }

  /// The plan for a problem, made where there is none yet.
  lt_plan const& plan(lt_problem const& problem) {
    if (last_ < plans_.size() && plans_[last_].problem == problem) return plans_[last_];
    for (last_ = 0; last_ < plans_.size(); ++last_)
      if (plans_[last_].problem == problem) return plans_[last_];
    device_guard const on{device_};
    lt_plan made{handle_.get(), problem, settings_};
    if (plans_.size() < most_plans) {
      plans_.push_back(std::move(made));
    } else {
      last_ = oldest_;
      oldest_ = (oldest_ + 1) % most_plans;
      plans_[last_] = std::move(made);
    }
    return plans_[last_];
  }

  void multiply(stream_ref in, lt_plan const& plan, void const* a, void const* b, void* d, float beta) const {
    float const alpha = 1;
    device_guard const on{device_};
    check(cublasLtMatmul(handle_.get(), plan.operation.get(), &alpha, a, plan.a.get(), b, plan.b.get(), &beta,
                         d, plan.d.get(), d, plan.d.get(), &plan.algorithm, workspace_.data(),
                         workspace_.size(), in.handle()),
          "cublasLtMatmul");
  }

 private:
  void check_workspace() const {
    if (workspace_.empty()) return;
    cudaPointerAttributes found{};
    check(cudaPointerGetAttributes(&found, workspace_.data()), "cudaPointerGetAttributes");
    if (found.type != cudaMemoryTypeDevice || found.device != device_) {
      raise(usage_error{
          "the workspace of cublaslt_gemm is not memory of its device; allocate it there (cudaMalloc), or "
          "pass none"});
    }
    if (reinterpret_cast<std::uintptr_t>(workspace_.data()) % 256 != 0)
      raise(usage_error{
          "the workspace of cublaslt_gemm does not begin at a multiple of 256 bytes; move its start"});
  }

  int device_;
  std::span<std::byte> workspace_;
  lt_settings settings_;
  lt_owned<cublasLtContext> handle_;
  std::vector<lt_plan> plans_;
  std::size_t last_ = 0;    // the plan used last: most calls repeat it
  std::size_t oldest_ = 0;  // the next one to make room
};

}  // namespace tpoverlap::inline v0::cu::detail
