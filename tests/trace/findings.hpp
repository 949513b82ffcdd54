// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What the tests read out of a trace. Only the order of moments is looked at, never how much time lies between them.
#pragma once

#include <tpoverlap/schedule/program.hpp>
#include <tpoverlap/trace/event.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// In how many calls, of all ranks, something was seen; and on the rank that saw it least.
struct seen {
  int calls = 0;
  int least = 0;
};

using calls_by_rank = std::map<int, std::map<std::int64_t, std::vector<tpoverlap::trace::event>>>;

inline calls_by_rank split_calls(std::span<tpoverlap::trace::event const> events) {
  calls_by_rank made;
  for (auto const& each : events) made[each.rank][each.call].push_back(each);
  return made;
}

template <class Holds>
seen count_calls(std::span<tpoverlap::trace::event const> events, Holds holds) {
  seen made{0, -1};
  for (auto const& [rank, calls] : split_calls(events)) {
    int const count = static_cast<int>(
        std::count_if(calls.begin(), calls.end(), [&](auto const& call) { return holds(call.second); }));
    made.calls += count;
    made.least = made.least < 0 ? count : std::min(made.least, count);
  }
  return made;
}

inline bool is_gemm(tpoverlap::trace::event const& each) {
  return each.kind == tpoverlap::operation_kind::gemm;
}

/// Communication and a GEMM of one rank were running at the same time.
inline bool communicates_beside_gemm(std::vector<tpoverlap::trace::event> const& call) {
  for (auto const& a : call)
    for (auto const& b : call)
      if (a.communicates() && is_gemm(b) && a.ran_beside(b)) return true;
  return false;
}

/// The first communication started before the last GEMM did.
inline bool sends_before_last_gemm(std::vector<tpoverlap::trace::event> const& call) {
  std::int64_t first = INT64_MAX;
  std::int64_t last = INT64_MIN;
  for (auto const& each : call) {
    if (each.communicates()) first = std::min(first, each.started);
    if (is_gemm(each)) last = std::max(last, each.started);
  }
  return first < last;
}

/// The first GEMM started before the last communication ended.
inline bool computes_before_last_arrival(std::vector<tpoverlap::trace::event> const& call) {
  std::int64_t first = INT64_MAX;
  std::int64_t last = INT64_MIN;
  for (auto const& each : call) {
    if (is_gemm(each)) first = std::min(first, each.started);
    if (each.communicates()) last = std::max(last, each.ended);
  }
  return first < last;
}

/// Names the first operation that ran out of order, or "".
inline std::string order_fault(std::span<tpoverlap::trace::event const> events) {
  for (auto const& [rank, calls] : split_calls(events)) {
    std::map<int, std::int64_t> lane_free;
    for (auto const& [number, call] : calls) {
      for (auto const& each : call) {
        std::string const name = "rank " + std::to_string(rank) + " call " + std::to_string(number) +
                                 " operation " + std::to_string(each.operation);
        if (each.reached == each.never || each.started < each.reached || each.ended < each.started)
          return name + " has moments out of order";
        if (lane_free.contains(each.lane) && each.reached < lane_free[each.lane])
          return name + " was reached before its lane was free";
        lane_free[each.lane] = each.ended;
        for (int const awaited : each.waited_for)
          if (call.at(static_cast<std::size_t>(awaited)).ended > each.started)
            return name + " did not wait for operation " + std::to_string(awaited);
      }
    }
  }
  return "";
}

/// Says how the events differ from `calls` calls of a program on each of its ranks, or "".
inline std::string completeness_fault(std::span<tpoverlap::trace::event const> events,
                                      tpoverlap::program_view const& program, int calls) {
  auto const by_rank = split_calls(events);
  if (static_cast<int>(by_rank.size()) != program.group.ranks) return "not every rank";
  for (auto const& [rank, of_rank] : by_rank) {
    if (static_cast<int>(of_rank.size()) != calls) return "not every call";
    for (auto const& [number, call] : of_rank) {
      if (static_cast<int>(call.size()) != program.operation_count) return "not every operation";
      for (int i = 0; i < program.operation_count; ++i) {
        auto const& op = program.operations[i];
        auto const& each = call[static_cast<std::size_t>(i)];
        std::vector<int> const waits(program.waits + op.first_wait, program.waits + op.first_wait + op.waits);
        if (each.operation != i || each.kind != op.kind || each.lane != op.lane || each.waited_for != waits)
          return "operation " + std::to_string(i) + " is another one";
      }
    }
  }
  return "";
}
