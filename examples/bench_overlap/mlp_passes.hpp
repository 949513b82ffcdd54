// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The passes of a tensor-parallel MLP that communicate, and the three ways to do so.
#pragma once

#include "switched_gemm.hpp"
#include "transport.hpp"
#include "values.hpp"

#include <tpoverlap/overlap.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bench {

struct mlp_shape {
  std::int64_t rows = 0;    ///< M, of all ranks
  std::int64_t width = 0;   ///< D
  std::int64_t hidden = 0;  ///< H/P, of each rank
};

/// | pass                 | collective                       | GEMM    |
/// |----------------------|----------------------------------|---------|
/// | `up`                 | AllGather(x), feeds it           | x · W1  |
/// | `down`               | ReduceScatter(y), fed by it      | a · W2  |
/// | `down_data_gradient` | AllGather(dy), feeds it, is kept | dy · W2ᵀ |
/// | `up_data_gradient`   | AllGather(x), beside it          | du · W1ᵀ |
/// | `up_weight_gradient` | ReduceScatter(dx), beside it     | xᵀ · du |
class mlp_passes {
 public:
  mlp_passes() = default;
  mlp_passes(mlp_passes const&) = delete;
  mlp_passes& operator=(mlp_passes const&) = delete;
  virtual ~mlp_passes() = default;

  /// u = all_gather(x) · w: x (M/P, D), w (D, H/P), u (M, H/P)
  virtual void up(stream& in, input x, input w, output u) = 0;

  /// y = reduce_scatter(a · w): a (M, H/P), w (H/P, D), y (M/P, D)
  virtual void down(stream& in, input a, input w, output y) = 0;

  /// all_dy = all_gather(dy), da = all_dy · wt: dy (M/P, D), wt (D, H/P), da (M, H/P), all_dy (M, D)
  virtual void down_data_gradient(stream& in, input dy, input wt, output da, output all_dy) = 0;

  /// all_x = all_gather(x), partial_dx = du · wt: x (M/P, D), du (M, H/P), wt (H/P, D), the others (M, D)
  virtual void up_data_gradient(stream& in, input x, output all_x, input du, input wt, output partial_dx) = 0;

  /// dx = reduce_scatter(partial_dx), dw = all_xt · du: all_xt (D, M), du (M, H/P), dw (D, H/P), dx (M/P, D)
  virtual void up_weight_gradient(stream& in, input partial_dx, output dx, input all_xt, input du,
                                  output dw) = 0;
};

/// `Beside` says whether side work runs beside its GEMM or, for the baseline, before it.
template <int Ranks, auto Gather, auto Reduction, bool Beside>
class generated_passes : public mlp_passes {
 public:
  generated_passes(transport& comm, gemm_switch& gemms, mlp_shape const& s, std::span<std::byte> workspace)
      : gemm_{&gemms},
        up_{comm, gemm_, wide(s), workspace},
        down_{comm, gemm_, narrow(s), workspace},
        down_data_gradient_{comm, gemm_, wide(s), workspace},
        gather_{comm, gemm_, {.rows = s.rows, .columns = s.width}},
        scatter_{comm, gemm_, {.rows = s.rows, .columns = s.width}} {}

  /// The passes follow each other in one stream, so they can take turns with one workspace.
  [[nodiscard]] static std::size_t workspace_bytes(mlp_shape const& s) {
    return (std::max)({call<gather_policy>::workspace_bytes(wide(s)),
                       call<reduce_policy>::workspace_bytes(narrow(s)),
                       call<kept_policy>::workspace_bytes(wide(s))});
  }

  void up(stream& in, input x, input w, output u) override { up_(in, x, w, u); }
  void down(stream& in, input a, input w, output y) override { down_(in, a, w, y); }
  void down_data_gradient(stream& in, input dy, input wt, output da, output all_dy) override {
    down_data_gradient_(in, dy, wt, da, all_dy);
  }
  void up_data_gradient(stream& in, input x, output all_x, input du, input wt, output partial_dx) override {
    beside(in, gather_, x, all_x, du, wt, partial_dx);
  }
  void up_weight_gradient(stream& in, input partial_dx, output dx, input all_xt, input du,
                          output dw) override {
    beside(in, scatter_, partial_dx, dx, all_xt, du, dw);
  }

 private:
  using gather_policy = tpoverlap::producer_before_consumer<Gather>;
  using kept_policy = tpoverlap::producer_before_consumer<Gather, tpoverlap::gather{.keep_gathered = true}>;
  using reduce_policy = tpoverlap::consumer_before_reduction<Reduction>;
  template <class Policy>
  using call = tpoverlap::overlap<Policy, tpoverlap::world<Ranks>, transport, switched_gemm>;

  template <class SideWork>
  void beside(stream& in, SideWork& side, input source, output target, input a, input b, output c) {
    if constexpr (Beside) {
      side(in, source, target, a, b, c);
    } else {
      side(in, source, target, {}, {}, {});
      gemm_(in, a, b, c, 0);
    }
  }

  static tpoverlap::gemm_shape wide(mlp_shape const& s) {
    return {.rows = s.rows, .inner = s.width, .columns = s.hidden};
  }
  static tpoverlap::gemm_shape narrow(mlp_shape const& s) {
    return {.rows = s.rows, .inner = s.hidden, .columns = s.width};
  }

  switched_gemm gemm_;
  call<gather_policy> up_;
  call<reduce_policy> down_;
  call<kept_policy> down_data_gradient_;
  call<tpoverlap::independent_side_work<tpoverlap::all_gather{}>> gather_;
  call<tpoverlap::independent_side_work<tpoverlap::reduce_scatter{}>> scatter_;
};

/// One after the other, with the collectives of the transport's own library.
class library_passes : public mlp_passes {
 public:
  library_passes(transport& comm, gemm_switch& gemms, mlp_shape const& s)
      : comm_{comm}, gemm_{&gemms}, gathered_{s.rows, s.width}, partial_{s.rows, s.width} {}

  void up(stream& in, input x, input w, output u) override {
    gather(in, x, gathered_.view());
    gemm_(in, gathered_.view(), w, u, 0);
  }
  void down(stream& in, input a, input w, output y) override {
    gemm_(in, a, w, partial_.view(), 0);
    scatter(in, partial_.view(), y);
  }
  void down_data_gradient(stream& in, input dy, input wt, output da, output all_dy) override {
    gather(in, dy, all_dy);
    gemm_(in, all_dy, wt, da, 0);
  }
  void up_data_gradient(stream& in, input x, output all_x, input du, input wt, output partial_dx) override {
    gather(in, x, all_x);
    gemm_(in, du, wt, partial_dx, 0);
  }
  void up_weight_gradient(stream& in, input partial_dx, output dx, input all_xt, input du,
                          output dw) override {
    scatter(in, partial_dx, dx);
    gemm_(in, all_xt, du, dw, 0);
  }

 private:
  void gather(stream& in, input own, output all) {
    comm_.wait(in);
    comm_.library()->all_gather(own.data, all.data, own.size());
  }
  void scatter(stream& in, input all, output own) {
    comm_.wait(in);
    comm_.library()->reduce_scatter(all.data, own.data, own.size());
  }

  transport& comm_;
  switched_gemm gemm_;
  matrix gathered_;  // (M, D)
  matrix partial_;   // (M, D)
};

}  // namespace bench
