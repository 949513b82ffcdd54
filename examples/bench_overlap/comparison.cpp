// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "comparison.hpp"

#include "bound.hpp"
#include "measurement.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <tuple>
#include <utility>

namespace bench {

namespace {

/// A way, the GEMMs that it is made of, and where its times are in the list of contenders.
struct plan {
  bench::way way;
  std::vector<gemm_call> gemms;
  std::size_t whole = 0;
  std::size_t communication = 0;
  std::size_t pieces = 0;
};

/// Sizes of GEMMs, in an order of their own: equal lists take equally long.
using sizes = std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>>;

sizes sizes_of(std::vector<gemm_call> const& calls) {
  sizes found;
  for (auto const& each : calls)
    found.emplace_back(each.c.rows, each.a.columns, each.c.columns, each.beta != 0);
  std::sort(found.begin(), found.end());
  return found;
}

std::string title(way const& of) {
  std::string text = of.collective.empty() ? of.strategy : of.collective + ", " + of.strategy;
  if (of.chunks > 0) text += ", " + std::to_string(of.chunks) + (of.chunks == 1 ? " chunk" : " chunks");
  return text;
}

/// Runs every way once, notes its GEMMs, and compares what it has left. Returns whether all ranks found all right.
bool check(transport& comm, stream& in, workload& work, std::vector<plan>& plans, bool spoils,
           progress const& complain) {
  double faults = 0;
  work.set_exact(true);
  for (plan& each : plans) {
    work.prepare(each.way);
    comm.barrier();  // nobody's memory is read before it is ready
    each.way.gemms->notes = &each.gemms;
    each.way.issue(in);
    each.way.gemms->notes = nullptr;
    comm.wait(in);
    if (spoils) work.spoil_result();
    std::string const wrong = work.fault(each.way);
    if (wrong.empty()) continue;
    ++faults;
    complain("rank " + std::to_string(comm.rank()) + ": " + title(each.way) +
             " computes wrong results: " + wrong);
  }
  work.set_exact(false);
  return largest(comm, faults) == 0;
}

/// Fills in what relates a row to others.
void relate(comparison& found, workload const& work, std::vector<plan> const& plans) {
  double smallest = 1;
  for (plan const& each : plans) smallest = (std::min)(smallest, each.way.exposed);
  auto const time_of = [&](kind wanted, std::string const& collective) {
    for (row const& each : found.rows)
      if (each.is == wanted && each.collective == collective) return each.seconds;
    return 0.0;
  };
  for (std::size_t i = 0; i < found.rows.size(); ++i) {
    row& each = found.rows[i];
    each.wire_seconds = plans[i].way.bytes * 8 / (found.wire_mbit * 1e6);
    each.times_as_fast_as_blocking = time_of(kind::blocking, each.collective) / each.seconds;
    each.times_as_fast_as_library = time_of(kind::library, each.collective) / each.seconds;
    // The wire that was measured is that of another transport.
    if (each.is == kind::library && found.source == wire_source::measured) continue;
    // A baseline that is not cut is held against the tightest bound of the table.
    double const exposed = each.is == kind::overlapped ? plans[i].way.exposed : smallest;
    each.bound_seconds = bound(work.parts, found.ranks, found.compute_seconds, found.elementwise_seconds,
                               each.wire_seconds, exposed);
    each.ratio_to_bound = each.seconds / each.bound_seconds;
    double const seen = (std::max)(0.0, each.seconds - found.compute_seconds);
    each.hidden_share = (std::max)(0.0, 1 - seen / each.wire_seconds);
  }
}

/// Mbit/s of the fastest communication on the benchmark's own transport.
double fastest_mbit(std::vector<row> const& rows, std::vector<plan> const& plans) {
  double fastest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].is == kind::library) continue;
    fastest = (std::max)(fastest, plans[i].way.bytes * 8 / rows[i].communication_seconds / 1e6);
  }
  return fastest;
}

round_listener rounds_told(int rounds, progress const& tell) {
  using clock = std::chrono::steady_clock;
  return [rounds, &tell, began = clock::now()](int round) mutable {
    char text[120];
    if (round == 0) {
      began = clock::now();
      std::snprintf(text, sizeof text, "warmed up");
    } else {
      std::chrono::duration<double> const passed = clock::now() - began;
      std::snprintf(text, sizeof text, "round %d of %d; about %.0f s left", round, rounds,
                    passed.count() / round * (rounds - round));
    }
    tell(text);
  };
}

}  // namespace

std::unique_ptr<workload> make_workload(transport& comm, request const& asked) {
  switch (asked.what) {
    case job::gather: return make_gathers(comm, asked);
    case job::reduction: return make_reductions(comm, asked);
    case job::side_work: return make_side_work(comm, asked);
    case job::mlp: break;
  }
  return make_mlp(comm, asked);
}

double balanced_bandwidth(transport& comm, request const& asked, progress const& tell) {
  constexpr int rounds = 5;
  stream in;
  auto const work = make_workload(comm, asked);
  contender const parts[]{{"compute", [&](stream& to) { work->compute(to); }},
                          {"elementwise", [&](stream& to) { work->compute_elementwise(to); }}};
  auto const times = measure(comm, in, parts, rounds);
  double const elementwise = work->parts.has_elementwise ? median(times[1]) : 0;
  double const gemm = (median(times[0]) - elementwise) / work->parts.gemms;
  double const gigabits = work->pass_bytes * 8 / gemm / 1e9;
  if (comm.rank() == 0) {
    char text[120];
    std::snprintf(text, sizeof text,
                  "GEMM alone: %.2f ms; the emulated link gets %.3g Gbit/s to take as long", gemm * 1e3,
                  gigabits);
    tell(text);
  }
  return gigabits;
}

std::optional<comparison> compare(transport& comm, request const& asked, progress const& tell,
                                  progress const& complain) {
  stream in;
  auto const work = make_workload(comm, asked);
  std::vector<plan> plans;
  for (way& each : work->ways()) plans.emplace_back().way = std::move(each);
  if (!check(comm, in, *work, plans, asked.spoils, complain)) {
    if (comm.rank() == 0) tell("results are wrong, so nothing was measured");
    return std::nullopt;
  }
  if (comm.rank() == 0) tell("all results are right");

  std::vector<contender> contenders{{"compute", [&](stream& to) { work->compute(to); }},
                                    {"elementwise", [&](stream& to) { work->compute_elementwise(to); }}};
  std::vector<std::pair<sizes, std::size_t>> pieces;
  for (plan& each : plans) {
    each.whole = contenders.size();
    contenders.push_back({title(each.way), each.way.issue});
    each.communication = contenders.size();
    contenders.push_back({title(each.way) + ", communication alone",
                          [issue = each.way.issue, gemms = each.way.gemms](stream& to) {
                            gemms->multiplies = false;
                            issue(to);
                            gemms->multiplies = true;
                          }});
    if (each.way.chunks == 0) continue;  // the pieces are whole: `compute`, the first contender
    // Strategies that cut the GEMM alike share one measurement of the pieces.
    sizes const own = sizes_of(each.gemms);
    auto const known =
        std::find_if(pieces.begin(), pieces.end(), [&](auto const& seen) { return seen.first == own; });
    if (known != pieces.end()) {
      each.pieces = known->second;
      continue;
    }
    each.pieces = contenders.size();
    pieces.emplace_back(own, each.pieces);
    contenders.push_back({title(each.way) + ", pieces alone", [&work, calls = each.gemms](stream& to) {
                            for (auto const& call : calls)
                              tpoverlap::host::blas_gemm<float>{}(to, call.a, call.b, call.c, call.beta);
                            work->compute_elementwise(to);
                          }});
  }
  auto const times = measure(comm, in, contenders, asked.repeat, rounds_told(asked.repeat, tell));

  comparison found;
  found.description = work->description();
  found.where = comm.where();
  found.link = asked.link;
  found.ranks = comm.size();
  found.compute_seconds = median(times[0]);
  found.elementwise_seconds = work->parts.has_elementwise ? median(times[1]) : 0;
  for (plan const& each : plans) {
    row made;
    made.is = each.way.is;
    made.strategy = each.way.strategy;
    made.collective = each.way.collective;
    made.chunks = each.way.chunks;
    made.seconds = median(times[each.whole]);
    made.communication_seconds = median(times[each.communication]);
    made.pieces_seconds = median(times[each.pieces]);
    made.rounds = times[each.whole];
    found.rows.push_back(std::move(made));
  }
  if (comm.in_one_process() && asked.link.gigabits_per_second > 0) {
    found.source = wire_source::emulated;
    found.wire_mbit = asked.link.gigabits_per_second * 1e3;
  } else if (asked.line_mbit > 0) {
    found.source = wire_source::stated;
    found.wire_mbit = asked.line_mbit;
  } else {
    found.wire_mbit = fastest_mbit(found.rows, plans);
  }
  relate(found, *work, plans);
  found.communication = measure_processor_time(comm, in, asked.message_bytes, (std::min)(asked.repeat, 5));
  return found;
}

}  // namespace bench
