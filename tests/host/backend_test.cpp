// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The element-wise kernels, and the concepts that the backend models.

#include "../support/catch.hpp"

#include <tpoverlap/host/backend.hpp>

#include <cstdint>
#include <vector>

using namespace tpoverlap;

namespace {

template <class T>
std::vector<T> counting(std::int64_t count, int first) {
  std::vector<T> made;
  for (std::int64_t i = 0; i < count; ++i) made.push_back(static_cast<T>(first + i % 1000));
  return made;
}

}  // namespace

TEST_CASE("add sums any number of elements, in place or not", "[backend]") {
  host::stream stream;
  for (std::int64_t const count : {0, 1, 63, 64, 65, 1000, 4096}) {
    auto const a = counting<float>(count, 1);
    auto const b = counting<float>(count, 5);
    std::vector<float> expected;
    for (std::size_t i = 0; i < a.size(); ++i) expected.push_back(a[i] + b[i]);
    std::vector<float> apart(a.size());
    auto left = a;
    auto right = b;
    auto twice = a;
    host::backend::add(stream, apart.data(), a.data(), b.data(), count);
    host::backend::add(stream, left.data(), left.data(), b.data(), count);
    host::backend::add(stream, right.data(), a.data(), right.data(), count);
    host::backend::add(stream, twice.data(), twice.data(), twice.data(), count);
    stream.synchronize();
    CHECK(apart == expected);
    CHECK(left == expected);
    CHECK(right == expected);
    for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(twice[i] == 2 * a[i]);
  }
}

TEST_CASE("add works in the widest type", "[backend]") {
  host::stream stream;
  float const a = 16777216.0F;  // 2^24: adding 1 in float changes nothing
  double const b = 1;
  double to = 0;
  host::backend::add(stream, &to, &a, &b, 1);
  float narrow = 0;
  double const back = -16777216.0;
  stream.synchronize();
  CHECK(to == 16777217.0);
  host::backend::add(stream, &narrow, &to, &back, 1);
  stream.synchronize();
  CHECK(narrow == 1.0F);
}

TEST_CASE("copy converts where the types differ", "[backend]") {
  host::stream stream;
  auto const from = counting<double>(777, -3);
  std::vector<float> narrow(777);
  std::vector<double> same(777);
  std::vector<std::int64_t> whole(777);
  host::backend::copy(stream, narrow.data(), from.data(), 777);
  host::backend::copy(stream, same.data(), from.data(), 777);
  host::backend::copy(stream, whole.data(), narrow.data(), 777);
  host::backend::copy(stream, same.data(), same.data(), 777);
  host::backend::copy(stream, static_cast<float*>(nullptr), static_cast<float const*>(nullptr), 0);
  stream.synchronize();
  CHECK(same == from);
  for (std::size_t i = 0; i < from.size(); ++i) {
    REQUIRE(narrow[i] == static_cast<float>(from[i]));
    REQUIRE(whole[i] == static_cast<std::int64_t>(from[i]));
  }
}

TEST_CASE("kernels run in stream order and events connect them", "[backend]") {
  host::stream first;
  host::stream second;
  host::backend::event done;
  std::vector<float> x(5000, 1.0F);
  std::vector<float> y(5000);
  std::vector<float> z(5000);
  for (int i = 0; i < 10; ++i) host::backend::add(first, x.data(), x.data(), x.data(), 5000);
  host::backend::copy(first, y.data(), x.data(), 5000);
  host::backend::record(done, first);
  host::backend::wait(second, done);
  host::backend::add(second, z.data(), y.data(), x.data(), 5000);
  second.synchronize();
  for (float each : z) REQUIRE(each == 2048.0F);
}
