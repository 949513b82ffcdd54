// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A whole MLP block, forward and backward: all three dependency classes at work.

#include "activation.hpp"
#include "mlp_passes.hpp"
#include "strategies.hpp"
#include "values.hpp"
#include "workload.hpp"
#include "worlds.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <optional>

namespace bench {

namespace {

template <int Ranks>
using blocking_passes = generated_passes<Ranks, tpoverlap::blocking{}, tpoverlap::blocking{}, false>;

/// Forward: y = reduce_scatter(gelu(all_gather(x) · W1) · W2). Backward, from dy: dx, dW1 and dW2.
class mlp_workload : public workload {
 public:
  mlp_workload(transport& comm, request const& asked)
      : comm_{comm},
        asked_{asked},
        shape_{asked.rows * comm.size(), asked.inner, asked.columns},
        x_{numbers({'x'}, asked.rows, shape_.width, first_row())},
        dy_{numbers({'d'}, asked.rows, shape_.width, first_row())},
        w1_{numbers({'w', comm.rank()}, shape_.width, shape_.hidden)},
        w2_{numbers({'v', comm.rank()}, shape_.hidden, shape_.width)},
        u_{shape_.rows, shape_.hidden},
        a_{shape_.rows, shape_.hidden},
        du_{shape_.rows, shape_.hidden},
        all_dy_{shape_.rows, shape_.width},
        all_x_{shape_.rows, shape_.width},
        partial_dx_{shape_.rows, shape_.width},
        y_{asked.rows, shape_.width},
        dx_{asked.rows, shape_.width},
        dw1_{shape_.width, shape_.hidden},
        dw2_{shape_.hidden, shape_.width} {
    parts = {.has_elementwise = true, .gemms = 6, .passes = 5, .filled_passes = 3};
    pass_bytes = static_cast<double>((shape_.rows - asked.rows) * shape_.width) * sizeof(float);
  }

  [[nodiscard]] std::string description() const override {
    char text[240];
    std::snprintf(text, sizeof text,
                  "MLP, forward and backward: y (%lld, %lld) = reduce_scatter(gelu(all_gather(x) . W1 (%lld, "
                  "%lld)) . W2 (%lld, %lld))",
                  static_cast<long long>(asked_.rows), static_cast<long long>(shape_.width),
                  static_cast<long long>(shape_.width), static_cast<long long>(shape_.hidden),
                  static_cast<long long>(shape_.hidden), static_cast<long long>(shape_.width));
    return text;
  }

  [[nodiscard]] std::vector<way> ways() override {
    std::vector<way> made;
    if (comm_.library() != nullptr) {
      way library = without_passes(kind::library, "library");
      add_passes(library, std::make_shared<library_passes>(comm_, *library.gemms, shape_));
      made.push_back(std::move(library));
    }
    with_ranks(comm_.size(), [&]<int Ranks>() {
      std::size_t bytes = blocking_passes<Ranks>::workspace_bytes(shape_);
      for_each_mlp<Ranks>([&]<auto Gather, auto Reduction>(char const*) {
        bytes = (std::max)(bytes, generated_passes<Ranks, Gather, Reduction, true>::workspace_bytes(shape_));
      });
      workspace_.resize(bytes);
      made.push_back(with_passes<blocking_passes<Ranks>>(without_passes(kind::blocking, "blocking")));
      for_each_mlp<Ranks>([&]<auto Gather, auto Reduction>(char const* name) {
        if (!is_wanted(asked_, name, tpoverlap::chunks_of(Gather))) return;
        way cut = without_passes(kind::overlapped, name);
        cut.chunks = tpoverlap::chunks_of(Gather);
        cut.exposed = share_of_chunk(Gather, true);
        made.push_back(with_passes<generated_passes<Ranks, Gather, Reduction, true>>(std::move(cut)));
      });
    });
    return made;
  }

  void compute(stream& in) override {
    tpoverlap::host::blas_gemm<float> const gemm;
    gemm(in, all_x_.view(), w1_.view(), u_.view(), 0);
    activate(in);
    gemm(in, a_.view(), w2_.view(), partial_dx_.view(), 0);
    gemm(in, all_dy_.view(), w2_.view().transposed(), du_.view(), 0);
    gemm(in, a_.view().transposed(), all_dy_.view(), dw2_.view(), 0);
    activate_backward(in);
    gemm(in, du_.view(), w1_.view().transposed(), partial_dx_.view(), 0);
    gemm(in, all_x_.view().transposed(), du_.view(), dw1_.view(), 0);
  }

  void compute_elementwise(stream& in) override {
    activate(in);
    activate_backward(in);
  }

  void prepare(way const&) override {
    for (matrix* each : {&y_, &dx_, &dw1_, &dw2_, &all_x_, &all_dy_}) fill_with_nan(each->view());
  }
  void spoil_result() override { dx_.view()(0, 0) += 1; }

  [[nodiscard]] std::string fault(way const&) override {
    if (!expected_) expected_.emplace(*this);
    for (auto const& [name, got, wanted] :
         {named{"y", y_.view(), expected_->y.view()}, named{"dx", dx_.view(), expected_->dx.view()},
          named{"dW1", dw1_.view(), expected_->dw1.view()},
          named{"dW2", dw2_.view(), expected_->dw2.view()}}) {
      if (auto wrong = difference(name, got, wanted); !wrong.empty()) return wrong;
    }
    return {};
  }

  void set_exact(bool exact) override { exact_ = exact; }

 private:
  struct named {
    char const* name;
    input got;
    input wanted;
  };

  /// What the block has to give with `rectify` in the place of GELU, made without communication: the own rows with
  /// the weights of all ranks, and the own weights' gradients from the rows of all ranks.
  struct results {
    explicit results(mlp_workload const& of)
        : y{of.asked_.rows, of.shape_.width},
          dx{of.asked_.rows, of.shape_.width},
          dw1{of.shape_.width, of.shape_.hidden},
          dw2{of.shape_.hidden, of.shape_.width} {
      auto const& s = of.shape_;
      {
        matrix u{of.asked_.rows, s.hidden};
        matrix a{of.asked_.rows, s.hidden};
        matrix du{of.asked_.rows, s.hidden};
        for (int r = 0; r < of.comm_.size(); ++r) {
          matrix const w1 = numbers({'w', r}, s.width, s.hidden);
          matrix const w2 = numbers({'v', r}, s.hidden, s.width);
          float const beta = r == 0 ? 0 : 1;
          backward(of.x_.view(), of.dy_.view(), w1.view(), w2.view(), u.view(), a.view(), du.view());
          multiply(a.view(), w2.view(), y.view(), beta);
          multiply(du.view(), w1.view().transposed(), dx.view(), beta);
        }
      }
      matrix const all_x = numbers({'x'}, s.rows, s.width);
      matrix const all_dy = numbers({'d'}, s.rows, s.width);
      matrix u{s.rows, s.hidden};
      matrix a{s.rows, s.hidden};
      matrix du{s.rows, s.hidden};
      backward(all_x.view(), all_dy.view(), of.w1_.view(), of.w2_.view(), u.view(), a.view(), du.view());
      multiply(all_x.view().transposed(), du.view(), dw1.view());
      multiply(a.view().transposed(), all_dy.view(), dw2.view());
    }

    /// From x and dy to the activation and the gradient before it.
    static void backward(input x, input dy, input w1, input w2, output u, output a, output du) {
      multiply(x, w1, u);
      rectify(u.data, a.data, u.size());
      multiply(dy, w2.transposed(), du);
      scale_by(u.data, du.data, du.size());
    }

    matrix y;
    matrix dx;
    matrix dw1;
    matrix dw2;
  };

  [[nodiscard]] std::int64_t first_row() const { return comm_.rank() * asked_.rows; }

  void activate(stream& in) {
    in.enqueue([u = u_.view(), a = a_.view().data, exact = exact_] {
      exact ? rectify(u.data, a, u.size()) : gelu(u.data, a, u.size());
    });
  }
  void activate_backward(stream& in) {
    in.enqueue([u = u_.view(), d = du_.view().data] { scale_by(u.data, d, u.size()); });
  }

  [[nodiscard]] way without_passes(kind is, char const* name) const {
    return {.is = is,
            .strategy = name,
            .bytes = pass_bytes * parts.passes,
            .gemms = std::make_shared<gemm_switch>()};
  }

  template <class Passes>
  [[nodiscard]] way with_passes(way made) {
    add_passes(made, std::make_shared<Passes>(comm_, *made.gemms, shape_, workspace_));
    return made;
  }

  void add_passes(way& to, std::shared_ptr<mlp_passes> through) {
    to.issue = [this, through, gemms = to.gemms](stream& in) {
      bool const computes = gemms->multiplies;
      through->up(in, x_.view(), w1_.view(), u_.view());
      if (computes) activate(in);
      through->down(in, a_.view(), w2_.view(), y_.view());

      through->down_data_gradient(in, dy_.view(), w2_.view().transposed(), du_.view(), all_dy_.view());
      switched_gemm{gemms.get()}(in, a_.view().transposed(), all_dy_.view(), dw2_.view(), 0);
      if (computes) activate_backward(in);
      through->up_data_gradient(in, x_.view(), all_x_.view(), du_.view(), w1_.view().transposed(),
                                partial_dx_.view());
      through->up_weight_gradient(in, partial_dx_.view(), dx_.view(), all_x_.view().transposed(), du_.view(),
                                  dw1_.view());
    };
  }

  transport& comm_;
  request const& asked_;
  mlp_shape shape_;
  matrix x_;           // (M/P, D)
  matrix dy_;          // (M/P, D)
  matrix w1_;          // (D, H/P)
  matrix w2_;          // (H/P, D)
  matrix u_;           // (M, H/P), after the activation its slope
  matrix a_;           // (M, H/P)
  matrix du_;          // (M, H/P)
  matrix all_dy_;      // (M, D)
  matrix all_x_;       // (M, D)
  matrix partial_dx_;  // (M, D)
  matrix y_;           // (M/P, D)
  matrix dx_;          // (M/P, D)
  matrix dw1_;         // (D, H/P)
  matrix dw2_;         // (H/P, D)
  bool exact_ = false;
  std::optional<results> expected_;
  std::vector<std::byte> workspace_;
};

}  // namespace

std::unique_ptr<workload> make_mlp(transport& comm, request const& asked) {
  return std::make_unique<mlp_workload>(comm, asked);
}

}  // namespace bench
