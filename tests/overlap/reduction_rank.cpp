// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "reduction_rank.hpp"

namespace tpoverlap_test {

namespace {

std::uint64_t a_seed(std::size_t call, int rank) {
  return 10 + 100 * call + static_cast<std::uint64_t>(rank);
}
std::uint64_t w_seed(std::size_t call, int rank) {
  return 5000 + 100 * call + static_cast<std::uint64_t>(rank);
}

}  // namespace

template <class T>
struct reduction_rank<T>::expectation {
  std::size_t call = 0;
  std::vector<row_range> shards;
  row_range rows;  // that y holds
  matrix_view<T> a, w, y;
  matrix<T> bits;  // of fractions

  [[nodiscard]] std::int64_t total() const { return shards.back().end(); }
};

template <class T>
reduction_rank<T>::reduction_rank(host::communicator& comm, policy_facts const& facts, plan const& all,
                                  object_plan const& object, std::size_t workspace_bytes)
    : facts_{facts},
      plan_{all},
      object_{object},
      rank_{comm.rank()},
      ranks_{comm.size()},
      shape_{shape(object)},
      a_{object.rows, shape_.inner},
      w_{shape_.inner, shape_.columns},
      y_{object.rows, shape_.columns},
      workspace_{workspace_bytes} {}

template <class T>
reduction_rank<T>::~reduction_rank() = default;

template <class T>
void reduction_rank<T>::before(std::size_t index) {
  call_plan const& call = object_.calls[index];
  auto made = std::make_unique<expectation>();
  made->call = index;
  made->shards = shards_of(call.shard_rows, object_.rows, ranks_);
  std::int64_t const total = made->total();
  made->rows = everywhere() ? row_range{0, total} : made->shards[static_cast<std::size_t>(rank_)];

  a_view_ = a_.top(total);
  w_view_ = w_.view();
  if (plan_.unusual_views) {
    a_view_ = matrix_view<T>{a_.view().data, shape_.inner, total}.transposed();
    w_view_ = matrix_view<T>{w_.view().data, shape_.columns, shape_.inner}.transposed();
  }
  y_view_ = y_.top(made->rows.count);
  options_ = {.shard_rows = call.shard_rows};

  made->a = a_view_;
  made->w = w_view_;
  made->y = y_view_;
  stream_.enqueue([this, now = made.get()] {
    fill_nan(y_.view());
    workspace_.fill();
    fill(now->a, plan_.with, a_seed(now->call, rank_));
    fill(now->w, plan_.with, w_seed(now->call, rank_));
  });
  expected_.push_back(std::move(made));
}

template <class T>
void reduction_rank<T>::after(std::size_t index) {
  expectation& made = *expected_[index];
  if (plan_.with == filling::fractions) make_expected(made);
  stream_.enqueue([this, now = &made] { check(*now); });
}

/// Separate: every rank's partial in the same pieces, then added in the documented order.
template <class T>
template <class Sum>
void reduction_rank<T>::add_in_order(expectation& call) {
  chosen_gemm<T> const gemm = gemm_of<T>(plan_.gemm);
  std::vector<matrix<T>> partials;
  for (int r = 0; r < ranks_; ++r) {
    matrix<T> a{call.total(), shape_.inner};
    matrix<T> w{shape_.inner, shape_.columns};
    fill(a.view(), plan_.with, a_seed(call.call, r));
    fill(w.view(), plan_.with, w_seed(call.call, r));
    partials.emplace_back(call.total(), shape_.columns);
    for (row_piece const& piece : partial_pieces(facts_, call.shards)) {
      row_range const rows = piece.rows;
      gemm(oracle_, a.view().row_range(rows.first, rows.count), w.view(),
           partials.back().view().row_range(rows.first, rows.count), 0);
    }
    oracle_.synchronize();
  }
  for (int owner = 0; owner < ranks_; ++owner) {
    for (int c = 0; c < facts_.chunks; ++c) {
      row_range const rows =
          chunk_of(call.shards[static_cast<std::size_t>(owner)], c, reduced_weights(facts_));
      std::vector<int> const order = order_of_addition(facts_, ranks_, owner, c);
      for (std::int64_t i = rows.first; i < rows.end(); ++i) {
        if (i < call.rows.first || i >= call.rows.end()) continue;
        for (std::int64_t j = 0; j < shape_.columns; ++j) {
          auto sum = static_cast<Sum>(partials[static_cast<std::size_t>(order[0])].view()(i, j));
          for (std::size_t k = 1; k < order.size(); ++k)
            sum += static_cast<Sum>(partials[static_cast<std::size_t>(order[k])].view()(i, j));
          call.bits.view()(i - call.rows.first, j) = static_cast<T>(sum);
        }
      }
    }
  }
}

/// Fused: each rank's GEMM adds to what the ranks before it have left.
template <class T>
template <class Sum>
void reduction_rank<T>::chain_in_order(expectation& call, gemm_issuer<T, Sum> gemm) {
  for (int owner = 0; owner < ranks_; ++owner) {
    for (int c = 0; c < facts_.chunks; ++c) {
      row_range const rows =
          chunk_of(call.shards[static_cast<std::size_t>(owner)], c, reduced_weights(facts_));
      if (rows.count == 0 || rows.first < call.rows.first || rows.first >= call.rows.end()) continue;
      matrix<Sum> bucket{rows.count, shape_.columns};
      bool first = true;
      for (int r : order_of_addition(facts_, ranks_, owner, c)) {
        matrix<T> a{rows.count, shape_.inner};
        matrix<T> w{shape_.inner, shape_.columns};
        fill(a.view(), plan_.with, a_seed(call.call, r), rows.first);
        fill(w.view(), plan_.with, w_seed(call.call, r));
        gemm(oracle_, a.view(), w.view(), bucket.view(), first ? 0.0F : 1.0F);
        oracle_.synchronize();
        first = false;
      }
      for (std::int64_t i = 0; i < rows.count; ++i)
        for (std::int64_t j = 0; j < shape_.columns; ++j)
          call.bits.view()(rows.first - call.rows.first + i, j) = static_cast<T>(bucket.view()(i, j));
    }
  }
}

template <class T>
void reduction_rank<T>::make_expected(expectation& call) {
  call.bits.resize(call.y.rows, call.y.columns);
  bool const wide = facts_.reduces.reduce_in == reduction_type::float64;
  chosen_gemm<T> const gemm = gemm_of<T>(plan_.gemm);
  // One rank has no bucket to add to.
  if (facts_.reduces.accumulate == accumulation::fused && ranks_ > 1) {
    wide ? chain_in_order<double>(call, gemm.issue_wide) : chain_in_order<T>(call, gemm.issue);
  } else {
    wide ? add_in_order<double>(call) : add_in_order<T>(call);
  }
}

template <class T>
void reduction_rank<T>::check(expectation const& call) const {
  std::string const where = "rank " + std::to_string(rank_) + ", call " + std::to_string(call.call);
  if (plan_.with == filling::fractions) return require_same_bits(where, call.y, call.bits.view());
  require_equal(where, call.y, [&](std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (int r = 0; r < ranks_; ++r)
      for (std::int64_t k = 0; k < shape_.inner; ++k)
        sum += value(plan_.with, a_seed(call.call, r), call.rows.first + i, k) *
               value(plan_.with, w_seed(call.call, r), k, j);
    return sum;
  });
}

template class reduction_rank<float>;
template class reduction_rank<double>;

}  // namespace tpoverlap_test
