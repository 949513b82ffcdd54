// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Every policy computes what it should: exactly on integers, and on fractions bit for bit what the same GEMMs give
//! without overlap, however late ranks are.

#include "../support/catch.hpp"
#include "case_lists.hpp"

#include <exception>

using namespace tpoverlap_test;

namespace {

void append(policy_cases& all, policy_cases const& more) { all.insert(all.end(), more.begin(), more.end()); }

policy_cases gathers() {
  policy_cases all;
  append(all, gather_optimized_cases());
  append(all, gather_ring_cases());
  append(all, gather_direct_cases());
  append(all, gather_contraction_cases());
  append(all, gather_kept_cases());
  append(all, gather_graded_cases());
  return all;
}

policy_cases reductions() {
  policy_cases all;
  append(all, reduction_optimized_cases());
  append(all, reduction_ring_cases());
  append(all, reduction_direct_cases());
  append(all, reduction_everywhere_cases());
  append(all, reduction_wide_cases());
  append(all, reduction_graded_cases());
  return all;
}

// Every case gets a check of its own, so that one failure does not hide the others.
void put_through(policy_cases const& cases, plan (*make)(int ranks, std::size_t index)) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::string failure;
    try {
      cases[i].run(make(cases[i].ranks, i));
    } catch (std::exception const& thrown) {
      failure = cases[i].name + ": " + thrown.what();
    }
    CHECK(failure == "");
  }
}

plan exact(int ranks, std::size_t) { return every_shape(ranks, false); }
plan exact_with_beta(int ranks, std::size_t) { return every_shape(ranks, true); }
plan exact_by_loops(int ranks, std::size_t) {
  plan made = every_shape(ranks, false);
  made.gemm = gemm_kind::loops;
  made.unusual_views = true;
  return made;
}
plan exact_unusual(int ranks, std::size_t) {
  plan made = every_shape(ranks, true);
  made.unusual_views = true;
  return made;
}
plan same_bits(int ranks, std::size_t) { return bitwise(ranks, 0); }
plan same_bits_late(int ranks, std::size_t index) {
  plan made = bitwise(ranks, 77 + index);
  if (index % 2 == 1) made.gemm = gemm_kind::late_loops;
  return made;
}

}  // namespace

TEST_CASE("gathers are exact on integers", "[results][gather]") { put_through(gathers(), exact_with_beta); }
TEST_CASE("gathers are exact with unusual views", "[results][gather]") {
  put_through(gathers(), exact_unusual);
}
TEST_CASE("gathers give the bits of the same GEMMs without overlap", "[results][gather][bits]") {
  put_through(gathers(), same_bits);
}
TEST_CASE("gathers give the same bits when ranks are late", "[results][gather][bits]") {
  put_through(gathers(), same_bits_late);
}

TEST_CASE("reductions are exact on integers", "[results][reduction]") { put_through(reductions(), exact); }
TEST_CASE("reductions are exact with unusual views and another GEMM", "[results][reduction]") {
  put_through(reductions(), exact_by_loops);
}
TEST_CASE("reductions give the bits of the same GEMMs, added in the documented order",
          "[results][reduction][bits]") {
  put_through(reductions(), same_bits);
}
TEST_CASE("reductions give the same bits when ranks are late", "[results][reduction][bits]") {
  put_through(reductions(), same_bits_late);
}

TEST_CASE("side work is exact on integers", "[results][side]") { put_through(side_cases(), exact_with_beta); }
TEST_CASE("side work may find its operand where it puts its result", "[results][side]") {
  put_through(side_cases(), exact_unusual);
}
TEST_CASE("side work gives the bits of its documented order", "[results][side][bits]") {
  put_through(side_cases(), same_bits);
  put_through(side_cases(), same_bits_late);
}
