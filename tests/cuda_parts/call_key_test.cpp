// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! When two calls count as the same one, so that a captured graph may be replayed.

#include "../support/catch.hpp"

#include <tpoverlap/cuda/detail/call_key.hpp>
#include <tpoverlap/overlap/shape.hpp>

#include <array>
#include <cstdint>
#include <vector>

using namespace tpoverlap;
using cu::detail::call_key;

namespace {

template <class... Arguments>
call_key key_of(Arguments const&... arguments) {
  call_key made;
  (made.add(arguments), ...);
  return made;
}

struct a_functor {
  void operator()() const;
};
static_assert(!cu::detail::comparable_argument<a_functor> &&
              !cu::detail::comparable_argument<std::vector<int>>);
static_assert(cu::detail::comparable_argument<call_options> &&
              cu::detail::comparable_argument<matrix_view<float const>>);

}  // namespace

TEST_CASE("Every part of a view tells calls apart") {
  float memory[100];
  matrix_view<float> const view{memory, 4, 5, 10, 2};
  CHECK(key_of(view) == key_of(matrix_view<float>{memory, 4, 5, 10, 2}));
  CHECK_FALSE(key_of(view) == key_of(matrix_view<float>{memory + 1, 4, 5, 10, 2}));
  CHECK_FALSE(key_of(view) == key_of(matrix_view<float>{memory, 3, 5, 10, 2}));
  CHECK_FALSE(key_of(view) == key_of(matrix_view<float>{memory, 4, 4, 10, 2}));
  CHECK_FALSE(key_of(view) == key_of(matrix_view<float>{memory, 4, 5, 11, 2}));
  CHECK_FALSE(key_of(view) == key_of(matrix_view<float>{memory, 4, 5, 10, 1}));
  CHECK_FALSE(key_of(view) == key_of(view, view));
  CHECK_FALSE(key_of(view, 1) == key_of(view, 2));
}

TEST_CASE("Row counts are compared by what they say, not by where they lie") {
  std::array<std::int64_t, 3> rows{1, 2, 3};
  std::array<std::int64_t, 3> const same = rows;
  call_key const before = key_of(call_options{.shard_rows = rows});
  CHECK(before == key_of(call_options{.shard_rows = same}));
  CHECK_FALSE(before == key_of(call_options{.shard_rows = std::span{same}.first(2)}));
  CHECK_FALSE(before == key_of(call_options{}));
  CHECK_FALSE(before == key_of(call_options{.shard_rows = rows, .beta = 1}));
  rows[1] = 4;
  CHECK_FALSE(before == key_of(call_options{.shard_rows = rows}));
}
