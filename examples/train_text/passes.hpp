// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The GEMMs of a model and the collectives that hide under them: one object for each pass, shared by all blocks.
#pragma once

#include "matrix.hpp"
#include "model_shape.hpp"

#include <tpoverlap/blas.hpp>
#include <tpoverlap/tpoverlap.hpp>
#include <tpoverlap/trace/recorder.hpp>

#include <cstddef>
#include <vector>

namespace train_text {

using recorder = tpoverlap::trace::recorder<tpoverlap::host::backend>;

/// An overlap object together with its workspace.
template <class Overlap, class Gemm>
class overlapped_gemm {
 public:
  template <class Communicator>
  overlapped_gemm(Communicator& comm, tpoverlap::gemm_shape const& shape, recorder* trace, char const* name)
      : workspace_(Overlap::workspace_bytes(shape)), call_{comm, Gemm{}, shape, workspace_, trace, name} {}

  template <class... Operands>
  void operator()(Operands&&... operands) {
    call_(static_cast<Operands&&>(operands)...);
  }

 private:
  std::vector<std::byte> workspace_;
  Overlap call_;
};

/// `Schedule` is one of schedules.hpp, `World` a `tpoverlap::world<P>`.
///
/// | pass                        | collective                            | GEMM             |
/// |-----------------------------|---------------------------------------|------------------|
/// | `up`                        | AllGather(h), feeds it                | h · W1           |
/// | `down`                      | ReduceScatter(y), fed by it           | a · W2           |
/// | `down_data_gradient`        | AllGather(dy), feeds it, is kept      | dy · W2ᵀ         |
/// | `up_data_gradient`          | AllGather(h), beside it               | du · W1ᵀ         |
/// | `up_weight_gradient`        | ReduceScatter(dh), beside it          | hᵀ · du          |
template <class T, class Schedule, class World>
class parallel_passes {
 public:
  using communicator = tpoverlap::host::communicator;
  using stream = tpoverlap::host::stream;
  using gemm = tpoverlap::host::blas_gemm<T>;
  using input = matrix_view<T const>;
  using output = matrix_view<T>;

  parallel_passes(communicator& comm, model_shape const& shape, share const& own, recorder* trace)
      : up_{comm, wide(shape, own), trace, "up"},
        down_{comm, narrow(shape, own), trace, "down"},
        down_data_gradient_{comm, wide(shape, own), trace, "down data gradient"},
        gather_{comm, gemm{}, {.rows = shape.rows, .columns = shape.width()}, {}, trace, "up data gradient"},
        scatter_{comm, gemm{}, {.rows = shape.rows, .columns = shape.width()},
                 {},   trace,  "up weight gradient"} {}

  /// u = all_gather(h) · w: h (M/P, D), w (D, H/P), u (M, H/P)
  void up(stream& in, input h, input w, output u) { up_(in, h, w, u); }

  /// y = reduce_scatter(a · w): a (M, H/P), w (H/P, D), y (M/P, D)
  void down(stream& in, input a, input w, output y) { down_(in, a, w, y); }

  /// all_dy = all_gather(dy), da = all_dy · wt: dy (M/P, D), wt (D, H/P), da (M, H/P), all_dy (M, D)
  void down_data_gradient(stream& in, input dy, input wt, output da, output all_dy) {
    down_data_gradient_(in, dy, wt, da, all_dy);
  }

  /// all_h = all_gather(h) beside partial_dh = du · wt: h (M/P, D), du (M, H/P), wt (H/P, D), others (M, D)
  void up_data_gradient(stream& in, input h, output all_h, input du, input wt, output partial_dh) {
    beside(in, gather_, h, all_h, du, wt, partial_dh);
  }

  /// dh = reduce_scatter(partial_dh) beside dw = all_ht · du: all_ht (D, M), du (M, H/P), dw (D, H/P), dh (M/P, D)
  void up_weight_gradient(stream& in, input partial_dh, output dh, input all_ht, input du, output dw) {
    beside(in, scatter_, partial_dh, dh, all_ht, du, dw);
  }

  /// c = a · b on this rank alone.
  void local(stream& in, input a, input b, output c) { gemm{}(in, a, b, c, 0); }

 private:
  template <class Policy>
  using pass = overlapped_gemm<tpoverlap::overlap<Policy, World, communicator, gemm, recorder>, gemm>;
  template <auto Collective>
  using side_work =
      tpoverlap::overlap<tpoverlap::independent_side_work<Collective>, World, communicator, gemm, recorder>;

  using gather_policy = tpoverlap::producer_before_consumer<Schedule::gather>;
  using kept_policy =
      tpoverlap::producer_before_consumer<Schedule::gather, tpoverlap::gather{.keep_gathered = true}>;
  using reduce_policy = tpoverlap::consumer_before_reduction<Schedule::reduction>;

  /// c = a · b with a collective from `source` to `target` at its side; for the baseline, behind it.
  template <class SideWork>
  void beside(stream& in, SideWork& side, input source, output target, input a, input b, output c) {
    if constexpr (Schedule::side_work) {
      side(in, source, target, a, b, c);
    } else {
      side(in, source, target, {}, {}, {});
      local(in, a, b, c);
    }
  }

  static tpoverlap::gemm_shape wide(model_shape const& shape, share const& own) {
    return {.rows = shape.rows, .inner = shape.width(), .columns = own.hidden.count};
  }
  static tpoverlap::gemm_shape narrow(model_shape const& shape, share const& own) {
    return {.rows = shape.rows, .inner = own.hidden.count, .columns = shape.width()};
  }

  pass<gather_policy> up_;
  pass<reduce_policy> down_;
  pass<kept_policy> down_data_gradient_;
  side_work<tpoverlap::all_gather{}> gather_;
  side_work<tpoverlap::reduce_scatter{}> scatter_;
};

}  // namespace train_text
