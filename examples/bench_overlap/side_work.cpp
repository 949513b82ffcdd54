// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Collectives beside a GEMM that has nothing to do with them: `independent_side_work`.

#include "strategies.hpp"
#include "values.hpp"
#include "workload.hpp"
#include "worlds.hpp"

#include <tpoverlap/overlap.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <type_traits>
#include <utility>

namespace bench {

namespace {

template <auto Collective, int Ranks>
using side_call = tpoverlap::overlap<tpoverlap::independent_side_work<Collective>, tpoverlap::world<Ranks>,
                                     transport, switched_gemm>;

enum class collective { all_gather, reduce_scatter, all_reduce };

template <class Strategy>
constexpr collective collective_of(Strategy const&) {
  if constexpr (std::is_same_v<Strategy, tpoverlap::all_gather>) return collective::all_gather;
  if constexpr (std::is_same_v<Strategy, tpoverlap::reduce_scatter>) return collective::reduce_scatter;
  return collective::all_reduce;
}

/// c = a · b beside a collective on a matrix as large as a.
class side_workload : public workload {
 public:
  side_workload(transport& comm, request const& asked)
      : comm_{comm},
        asked_{asked},
        shape_{.rows = asked.rows * comm.size(), .inner = asked.inner, .columns = asked.columns},
        a_{numbers({'a', comm.rank()}, shape_.rows, shape_.inner)},
        b_{numbers({'b', comm.rank()}, shape_.inner, shape_.columns)},
        c_{shape_.rows, shape_.columns},
        source_{numbers({'s', comm.rank()}, shape_.rows, shape_.inner)},
        whole_{shape_.rows, shape_.inner},
        part_{asked.rows, shape_.inner} {
    parts.filled_passes = 0;
    pass_bytes = static_cast<double>((shape_.rows - asked.rows) * shape_.inner) * sizeof(float);
  }

  [[nodiscard]] std::string description() const override {
    char text[240];
    std::snprintf(text, sizeof text,
                  "collectives on (%lld, %lld) beside GEMM: c (%lld, %lld) = a (%lld, %lld) . b (%lld, %lld)",
                  static_cast<long long>(shape_.rows), static_cast<long long>(shape_.inner),
                  static_cast<long long>(shape_.rows), static_cast<long long>(shape_.columns),
                  static_cast<long long>(shape_.rows), static_cast<long long>(shape_.inner),
                  static_cast<long long>(shape_.inner), static_cast<long long>(shape_.columns));
    return text;
  }

  [[nodiscard]] std::vector<way> ways() override {
    std::vector<way> made;
    with_ranks(comm_.size(), [&]<int Ranks>() {
      for_each_collective<Ranks>([&]<auto Collective>(char const* name) {
        if (is_wanted(asked_, name, 0)) add<Collective, Ranks>(made, name);
      });
    });
    return made;
  }

  void compute(stream& in) override {
    tpoverlap::host::blas_gemm<float>{}(in, a_.view(), b_.view(), c_.view(), 0);
  }

  void prepare(way const& next) override {
    fill_with_nan(c_.view());
    fill_with_nan(part_.view());
    fill_with_nan(whole_.view());
    // In place, so that the operand lies where the result will. Timed calls sum what the ones before have left, which
    // soon is no number any more; adding takes as long.
    auto const from = source_.view();
    if (next.collective == "all_reduce") std::copy_n(from.data, from.size(), whole_.view().data);
  }
  void spoil_result() override {
    part_.view()(0, 0) += 1;
    whole_.view()(0, 0) += 1;
  }

  [[nodiscard]] std::string fault(way const& checked) override {
    if (!product_) {
      product_.emplace(shape_.rows, shape_.columns);
      multiply(a_.view(), b_.view(), product_->view());
      sum_.emplace(shape_.rows, shape_.inner);
      gathered_.emplace(shape_.rows, shape_.inner);
      for (int r = 0; r < comm_.size(); ++r) {
        matrix const theirs = numbers({'s', r}, shape_.rows, shape_.inner);
        add_to(sum_->view(), theirs.view());
        add_to(gathered_->view().row_range(r * asked_.rows, asked_.rows),
               theirs.view().row_range(r * asked_.rows, asked_.rows));
      }
    }
    if (auto wrong = difference("c", c_.view(), product_->view()); !wrong.empty()) return wrong;
    if (checked.collective == "all_gather")
      return difference("the gathered matrix", whole_.view(), gathered_->view());
    if (checked.collective == "all_reduce") return difference("the sum", whole_.view(), sum_->view());
    return difference("the own rows of the sum", part_.view(), own_rows(sum_->view()));
  }

 private:
  template <class View>
  [[nodiscard]] View own_rows(View all) const {  // (M/P, K)
    return all.row_range(comm_.rank() * asked_.rows, asked_.rows);
  }

  [[nodiscard]] static double turns(collective which) { return which == collective::all_reduce ? 2 : 1; }

  template <auto Collective, int Ranks>
  void add(std::vector<way>& to, char const* name) {
    constexpr collective which = collective_of(Collective);
    way made{.is = kind::overlapped,
             .strategy = "beside",
             .collective = name,
             .bytes = pass_bytes * turns(which),
             .gemms = std::make_shared<gemm_switch>()};
    if (comm_.library() != nullptr) to.push_back(with_library(which, made));

    auto const call = std::make_shared<side_call<Collective, Ranks>>(
        comm_, switched_gemm{made.gemms.get()}, tpoverlap::collective_shape{shape_.rows, shape_.inner});
    made.issue = [this, call](stream& in) {
      if constexpr (which == collective::all_gather) {
        (*call)(in, own_rows(source_.view()), whole_.view(), a_.view(), b_.view(), c_.view());
      } else if constexpr (which == collective::reduce_scatter) {
        (*call)(in, source_.view(), part_.view(), a_.view(), b_.view(), c_.view());
      } else {
        (*call)(in, whole_.view(), a_.view(), b_.view(), c_.view());
      }
    };

    // The same call with its GEMM switched off, then the GEMM.
    way serial = made;
    serial.is = kind::blocking;
    serial.strategy = "blocking";
    serial.gemms = std::make_shared<gemm_switch>();
    serial.issue = [this, first = made.issue, beside = made.gemms,
                    gemm = switched_gemm{serial.gemms.get()}](stream& in) {
      bool const kept = std::exchange(beside->multiplies, false);
      first(in);
      beside->multiplies = kept;
      gemm(in, a_.view(), b_.view(), c_.view(), 0);
    };
    to.push_back(std::move(serial));
    to.push_back(std::move(made));
  }

  [[nodiscard]] way with_library(collective which, way const& like) {
    way made = like;
    made.is = kind::library;
    made.strategy = "library";
    made.gemms = std::make_shared<gemm_switch>();
    made.issue = [this, which, gemm = switched_gemm{made.gemms.get()}](stream& in) {
      auto& library = *comm_.library();
      auto const own = own_rows(source_.view());
      if (which == collective::all_gather) {
        library.all_gather(own.data, whole_.view().data, own.size());
      } else if (which == collective::reduce_scatter) {
        library.reduce_scatter(source_.view().data, part_.view().data, own.size());
      } else {
        library.all_reduce(whole_.view().data, whole_.view().size());
      }
      gemm(in, a_.view(), b_.view(), c_.view(), 0);
    };
    return made;
  }

  transport& comm_;
  request const& asked_;
  tpoverlap::gemm_shape shape_;
  matrix a_;                        // (M, K)
  matrix b_;                        // (K, N)
  matrix c_;                        // (M, N)
  matrix source_;                   // (M, K)
  matrix whole_;                    // (M, K)
  matrix part_;                     // (M/P, K)
  std::optional<matrix> product_;   // (M, N)
  std::optional<matrix> sum_;       // (M, K)
  std::optional<matrix> gathered_;  // (M, K)
};

}  // namespace

std::unique_ptr<workload> make_side_work(transport& comm, request const& asked) {
  return std::make_unique<side_workload>(comm, asked);
}

}  // namespace bench
