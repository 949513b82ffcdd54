// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! AllGather → GEMM with every strategy of `producer_before_consumer`.

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

template <auto Strategy, int Ranks>
using gather_call = tpoverlap::overlap<tpoverlap::producer_before_consumer<Strategy>, tpoverlap::world<Ranks>,
                                       transport, switched_gemm>;

/// y = all_gather(x) · w
class gather_workload : public workload {
 public:
  gather_workload(transport& comm, request const& asked)
      : comm_{comm},
        asked_{asked},
        shape_{.rows = asked.rows * comm.size(), .inner = asked.inner, .columns = asked.columns},
        all_x_{numbers({'x'}, shape_.rows, shape_.inner)},
        w_{numbers({'w', comm.rank()}, shape_.inner, shape_.columns)},
        y_{shape_.rows, shape_.columns} {
    pass_bytes = static_cast<double>((shape_.rows - asked.rows) * shape_.inner) * sizeof(float);
  }

  [[nodiscard]] std::string description() const override {
    char text[200];
    std::snprintf(text, sizeof text,
                  "AllGather -> GEMM: y (%lld, %lld) = all_gather(x (%lld, %lld)) . w (%lld, %lld)",
                  static_cast<long long>(shape_.rows), static_cast<long long>(shape_.columns),
                  static_cast<long long>(asked_.rows), static_cast<long long>(shape_.inner),
                  static_cast<long long>(shape_.inner), static_cast<long long>(shape_.columns));
    return text;
  }

  [[nodiscard]] std::vector<way> ways() override {
    std::vector<way> made;
    if (comm_.library() != nullptr) made.push_back(with_library());
    with_ranks(comm_.size(), [&]<int Ranks>() {
      std::size_t bytes = gather_call<tpoverlap::blocking{}, Ranks>::workspace_bytes(shape_);
      for_each_gather<Ranks>([&]<auto Strategy>(char const*) {
        bytes = (std::max)(bytes, gather_call<Strategy, Ranks>::workspace_bytes(shape_));
      });
      workspace_.resize(bytes);
      made.push_back(with_strategy<tpoverlap::blocking{}, Ranks>(kind::blocking, "blocking"));
      for_each_gather<Ranks>([&]<auto Strategy>(char const* name) {
        if (is_wanted(asked_, name, tpoverlap::chunks_of(Strategy)))
          made.push_back(with_strategy<Strategy, Ranks>(kind::overlapped, name));
      });
    });
    return made;
  }

  void compute(stream& in) override {
    tpoverlap::host::blas_gemm<float>{}(in, all_x_.view(), w_.view(), y_.view(), 0);
  }

  void prepare(way const&) override { fill_with_nan(y_.view()); }
  void spoil_result() override { y_.view()(0, 0) += 1; }

  [[nodiscard]] std::string fault(way const&) override {
    if (!expected_) {
      expected_.emplace(shape_.rows, shape_.columns);
      multiply(all_x_.view(), w_.view(), expected_->view());
    }
    return difference("y", y_.view(), expected_->view());
  }

 private:
  [[nodiscard]] input x() {  // (M/P, K)
    return all_x_.view().row_range(comm_.rank() * asked_.rows, asked_.rows);
  }

  template <auto Strategy, int Ranks>
  [[nodiscard]] way with_strategy(kind is, char const* name) {
    way made{.is = is, .strategy = name, .bytes = pass_bytes, .gemms = std::make_shared<gemm_switch>()};
    if (is == kind::overlapped) {
      made.chunks = tpoverlap::chunks_of(Strategy);
      made.exposed = share_of_chunk(Strategy, true);
    }
    // Calls follow each other in one stream and each is waited for, so they can take turns with one workspace.
    auto const call = std::make_shared<gather_call<Strategy, Ranks>>(comm_, switched_gemm{made.gemms.get()},
                                                                     shape_, workspace_);
    made.issue = [call, x = x(), w = input{w_.view()}, y = y_.view()](stream& in) { (*call)(in, x, w, y); };
    return made;
  }

  [[nodiscard]] way with_library() {
    gathered_.emplace(shape_.rows, shape_.inner);
    way made{.is = kind::library,
             .strategy = "library",
             .bytes = pass_bytes,
             .gemms = std::make_shared<gemm_switch>()};
    made.issue = [this, gemm = switched_gemm{made.gemms.get()}](stream& in) {
      comm_.library()->all_gather(x().data, gathered_->view().data, x().size());
      gemm(in, gathered_->view(), w_.view(), y_.view(), 0);
    };
    return made;
  }

  transport& comm_;
  request const& asked_;
  tpoverlap::gemm_shape shape_;
  matrix all_x_;                    // (M, K)
  matrix w_;                        // (K, N)
  matrix y_;                        // (M, N)
  std::optional<matrix> gathered_;  // (M, K)
  std::optional<matrix> expected_;  // (M, N)
  std::vector<std::byte> workspace_;
};

}  // namespace

std::unique_ptr<workload> make_gathers(transport& comm, request const& asked) {
  return std::make_unique<gather_workload>(comm, asked);
}

}  // namespace bench
