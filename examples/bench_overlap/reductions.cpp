// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! GEMM → ReduceScatter with every strategy of `consumer_before_reduction`.

#include "strategies.hpp"
#include "values.hpp"
#include "workload.hpp"
#include "worlds.hpp"

#include <tpoverlap/overlap.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <optional>

namespace bench {

namespace {

template <auto Strategy, tpoverlap::reduction Options, int Ranks>
using reduction_call = tpoverlap::overlap<tpoverlap::consumer_before_reduction<Strategy, Options>,
                                          tpoverlap::world<Ranks>, transport, switched_gemm>;

/// y = reduce_scatter(a · w)
class reduction_workload : public workload {
 public:
  reduction_workload(transport& comm, request const& asked)
      : comm_{comm},
        asked_{asked},
        shape_{.rows = asked.rows * comm.size(), .inner = asked.inner, .columns = asked.columns},
        a_{numbers({'a', comm.rank()}, shape_.rows, shape_.inner)},
        w_{numbers({'w', comm.rank()}, shape_.inner, shape_.columns)},
        product_{shape_.rows, shape_.columns},
        y_{asked.rows, shape_.columns} {
    pass_bytes = static_cast<double>((shape_.rows - asked.rows) * shape_.columns) * sizeof(float);
  }

  [[nodiscard]] std::string description() const override {
    char text[200];
    std::snprintf(text, sizeof text,
                  "GEMM -> ReduceScatter: y (%lld, %lld) = reduce_scatter(a (%lld, %lld) . w (%lld, %lld))",
                  static_cast<long long>(asked_.rows), static_cast<long long>(shape_.columns),
                  static_cast<long long>(shape_.rows), static_cast<long long>(shape_.inner),
                  static_cast<long long>(shape_.inner), static_cast<long long>(shape_.columns));
    return text;
  }

  [[nodiscard]] std::vector<way> ways() override {
    using tpoverlap::reduction;
    std::vector<way> made;
    if (comm_.library() != nullptr) made.push_back(with_library());
    with_ranks(comm_.size(), [&]<int Ranks>() {
      std::size_t bytes = reduction_call<tpoverlap::blocking{}, reduction{}, Ranks>::workspace_bytes(shape_);
      for_each_reduction<Ranks>([&]<auto Strategy, reduction Options>(char const*) {
        bytes = (std::max)(bytes, reduction_call<Strategy, Options, Ranks>::workspace_bytes(shape_));
      });
      workspace_.resize(bytes);
      made.push_back(with_strategy<tpoverlap::blocking{}, reduction{}, Ranks>(kind::blocking, "blocking"));
      for_each_reduction<Ranks>([&]<auto Strategy, reduction Options>(char const* name) {
        if (is_wanted(asked_, name, tpoverlap::chunks_of(Strategy)))
          made.push_back(with_strategy<Strategy, Options, Ranks>(kind::overlapped, name));
      });
    });
    return made;
  }

  void compute(stream& in) override {
    tpoverlap::host::blas_gemm<float>{}(in, a_.view(), w_.view(), product_.view(), 0);
  }

  void prepare(way const&) override { fill_with_nan(y_.view()); }
  void spoil_result() override { y_.view()(0, 0) += 1; }

  [[nodiscard]] std::string fault(way const&) override {
    if (!expected_) {
      expected_.emplace(asked_.rows, shape_.columns);
      for (int r = 0; r < comm_.size(); ++r) {
        matrix const a = numbers({'a', r}, asked_.rows, shape_.inner, comm_.rank() * asked_.rows);
        matrix const w = numbers({'w', r}, shape_.inner, shape_.columns);
        multiply(a.view(), w.view(), expected_->view(), r == 0 ? 0.0F : 1.0F);
      }
    }
    return difference("y", y_.view(), expected_->view());
  }

 private:
  template <auto Strategy, tpoverlap::reduction Options, int Ranks>
  [[nodiscard]] way with_strategy(kind is, char const* name) {
    way made{.is = is, .strategy = name, .bytes = pass_bytes, .gemms = std::make_shared<gemm_switch>()};
    if (is == kind::overlapped) {
      made.chunks = tpoverlap::chunks_of(Strategy);
      made.exposed = share_of_chunk(Strategy, false);
    }
    // Calls follow each other in one stream and each is waited for, so they can take turns with one workspace.
    auto const call = std::make_shared<reduction_call<Strategy, Options, Ranks>>(
        comm_, switched_gemm{made.gemms.get()}, shape_, workspace_);
    made.issue = [call, a = input{a_.view()}, w = input{w_.view()}, y = y_.view()](stream& in) {
      (*call)(in, a, w, y);
    };
    return made;
  }

  [[nodiscard]] way with_library() {
    way made{.is = kind::library,
             .strategy = "library",
             .bytes = pass_bytes,
             .gemms = std::make_shared<gemm_switch>()};
    made.issue = [this, gemm = switched_gemm{made.gemms.get()}](stream& in) {
      gemm(in, a_.view(), w_.view(), product_.view(), 0);
      comm_.wait(in);
      comm_.library()->reduce_scatter(product_.view().data, y_.view().data, y_.view().size());
    };
    return made;
  }

  transport& comm_;
  request const& asked_;
  tpoverlap::gemm_shape shape_;
  matrix a_;                        // (M, K)
  matrix w_;                        // (K, N)
  matrix product_;                  // (M, N)
  matrix y_;                        // (M/P, N)
  std::optional<matrix> expected_;  // (M/P, N)
  std::vector<std::byte> workspace_;
};

}  // namespace

std::unique_ptr<workload> make_reductions(transport& comm, request const& asked) {
  return std::make_unique<reduction_workload>(comm, asked);
}

}  // namespace bench
