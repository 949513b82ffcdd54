// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "gather_rank.hpp"

namespace tpoverlap_test {

namespace {

constexpr std::int64_t gap = 3;  // columns between two rows of a result with unusual views

std::uint64_t x_seed(std::size_t call) { return 10 + call; }
std::uint64_t other_seed(std::size_t call, int rank) {
  return 1000 + 100 * call + static_cast<std::uint64_t>(rank);
}
std::uint64_t y_seed(std::size_t call, int rank) {
  return 5000 + 100 * call + static_cast<std::uint64_t>(rank);
}

}  // namespace

template <class T>
struct gather_rank<T>::expectation {
  std::size_t call = 0;
  float beta = 0;
  std::vector<row_range> shards;
  matrix_view<T> x, other, y, gathered;
  matrix<T> bits;  // of fractions

  [[nodiscard]] std::int64_t total() const { return shards.back().end(); }
};

template <class T>
gemm_shape gather_rank<T>::shape(policy_facts const& facts, object_plan const& object) {
  if (facts.gathers.dimension == gathered_dimension::rows)
    return {.rows = object.rows, .inner = 5, .columns = 4, .largest_shard = object.largest_shard};
  return {.rows = 4, .inner = object.rows, .columns = 3, .largest_shard = object.largest_shard};
}

template <class T>
gather_rank<T>::gather_rank(host::communicator& comm, policy_facts const& facts, plan const& all,
                            object_plan const& object, std::size_t workspace_bytes)
    : facts_{facts},
      plan_{all},
      object_{object},
      rank_{comm.rank()},
      ranks_{comm.size()},
      shape_{shape(facts, object)},
      width_{!contracts() ? shape_.inner
             : right()    ? shape_.columns
                          : shape_.rows},
      workspace_{workspace_bytes} {
  std::int64_t const cut = object.rows;
  x_.resize(cut, width_);
  gathered_.resize(cut, width_);
  if (contracts()) {
    other_.resize(cut, right() ? shape_.rows : shape_.columns);
    y_.resize(shape_.rows, shape_.columns + gap);
  } else {
    // Of a transposed operand, too.
    other_.resize(shape_.inner, shape_.columns);
    y_.resize(cut, shape_.columns + gap);
  }
}

template <class T>
gather_rank<T>::~gather_rank() = default;

template <class T>
void gather_rank<T>::before(std::size_t index) {
  call_plan const& call = object_.calls[index];
  auto made = std::make_unique<expectation>();
  made->call = index;
  made->beta = call.beta;
  made->shards = shards_of(call.shard_rows, object_.rows, ranks_);
  std::int64_t const total = made->total();
  row_range const own = made->shards[static_cast<std::size_t>(rank_)];

  gathered_view_ = gathered_.top(total);
  bool const in_place = plan_.unusual_views && facts_.gathers.keep_gathered;
  x_view_ = in_place ? gathered_view_.row_range(own.first, own.count) : x_.top(own.count);
  other_view_ = contracts() ? other_.top(total) : other_.view();
  if (plan_.unusual_views && !contracts())
    other_view_ = matrix_view<T>{other_.view().data, shape_.columns, shape_.inner}.transposed();
  std::int64_t const rows = contracts() ? shape_.rows : total;
  y_view_ = {y_.view().data, rows, shape_.columns,
             plan_.unusual_views ? shape_.columns + gap : shape_.columns};
  options_ = {.shard_rows = call.shard_rows, .beta = call.beta};

  made->x = x_view_;
  made->other = other_view_;
  made->y = y_view_;
  made->gathered = gathered_view_;
  stream_.enqueue([this, now = made.get()] {
    fill_nan(y_.view());
    fill_nan(gathered_.view());
    workspace_.fill();
    fill(now->x, plan_.with, x_seed(now->call), now->shards[static_cast<std::size_t>(rank_)].first);
    fill(now->other, plan_.with, other_seed(now->call, rank_));
    if (now->beta != 0) fill(now->y, plan_.with, y_seed(now->call, rank_));
  });
  expected_.push_back(std::move(made));
}

template <class T>
void gather_rank<T>::after(std::size_t index) {
  expectation& made = *expected_[index];
  if (plan_.with == filling::fractions) make_expected(made);
  stream_.enqueue([this, now = &made] { check(*now); });
}

/// The same functor on the same pieces in the same order, without communication.
template <class T>
void gather_rank<T>::make_expected(expectation& call) {
  std::int64_t const total = call.total();
  matrix<T> x{total, width_};
  fill(x.view(), plan_.with, x_seed(call.call));
  matrix<T> other{other_view_.rows, other_view_.columns};
  fill(other.view(), plan_.with, other_seed(call.call, rank_));
  call.bits.resize(call.y.rows, call.y.columns);
  matrix_view<T> const result = call.bits.view();
  if (call.beta != 0) fill(result, plan_.with, y_seed(call.call, rank_));
  chosen_gemm<T> const gemm = gemm_of<T>(plan_.gemm);
  float beta = call.beta;
  for (row_piece const& piece : gathered_pieces(facts_, call.shards, rank_)) {
    row_range const rows = piece.rows;
    matrix_view<T const> const tile = x.view().row_range(rows.first, rows.count);
    if (!contracts()) {
      gemm(oracle_, tile, other.view(), result.row_range(rows.first, rows.count), beta);
      continue;
    }
    matrix_view<T const> const local = other.view().row_range(rows.first, rows.count);
    if (right()) {
      gemm(oracle_, local.transposed(), tile, result, beta);
    } else {
      gemm(oracle_, tile.transposed(), local, result, beta);
    }
    beta = 1;
  }
  oracle_.synchronize();
}

template <class T>
double gather_rank<T>::exact(expectation const& call, std::int64_t row, std::int64_t column) const {
  auto const x = [&](std::int64_t i, std::int64_t j) { return value(plan_.with, x_seed(call.call), i, j); };
  auto const other = [&](std::int64_t i, std::int64_t j) {
    return value(plan_.with, other_seed(call.call, rank_), i, j);
  };
  double sum = 0;
  if (call.beta != 0)
    sum = static_cast<double>(call.beta) * value(plan_.with, y_seed(call.call, rank_), row, column);
  std::int64_t const inner = contracts() ? call.total() : shape_.inner;
  for (std::int64_t k = 0; k < inner; ++k) {
    sum += !contracts() ? x(row, k) * other(k, column)
           : right()    ? other(k, row) * x(k, column)
                        : x(k, row) * other(k, column);
  }
  return sum;
}

template <class T>
void gather_rank<T>::check(expectation const& call) const {
  std::string const where = "rank " + std::to_string(rank_) + ", call " + std::to_string(call.call);
  if (plan_.with == filling::fractions) {
    require_same_bits(where, call.y, call.bits.view());
  } else {
    require_equal(where, call.y, [&](std::int64_t i, std::int64_t j) { return exact(call, i, j); });
  }
  auto const x = [&](std::int64_t i, std::int64_t j) {
    return static_cast<T>(value(plan_.with, x_seed(call.call), i, j));
  };
  if (facts_.gathers.keep_gathered) require_equal(where + ": gathered", call.gathered, x);
  std::int64_t const first = call.shards[static_cast<std::size_t>(rank_)].first;
  require_equal(where + ": x", call.x, [&](std::int64_t i, std::int64_t j) { return x(first + i, j); });
  if (call.y.row_stride == call.y.columns) return;
  for (std::int64_t i = 0; i < call.y.rows; ++i)
    for (std::int64_t j = call.y.columns; j < call.y.row_stride; ++j)
      require(std::isnan(call.y.data[i * call.y.row_stride + j]), where + ": written between the rows of y");
}

template class gather_rank<float>;
template class gather_rank<double>;

}  // namespace tpoverlap_test
