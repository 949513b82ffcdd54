// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "report.hpp"

#include "options.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace bench {

namespace {

constexpr char const* legend =
    "time: from the barrier to the slowest rank; alone: its communication without computing; pieces: its\n"
    "GEMMs alone, cut as they are, over the GEMM in one piece; blocking, library: how many times as fast as\n"
    "the same work one after the other on the same transport, and with the MPI library's own collective;\n"
    "/ bound: time over max(GEMM, wire) + fill of one chunk; hidden: share of the wire's time. See --help.\n";

template <class... Values>
void print(std::string& text, char const* format, Values... values) {
  char line[400];
  std::snprintf(line, sizeof line, format, values...);
  text += line;
}

char const* name_of(kind is) {
  switch (is) {
    case kind::library: return "library";
    case kind::blocking: return "blocking";
    case kind::overlapped: break;
  }
  return "overlapped";
}

/// "a, b", or "a (4 times)" where all ranks are on one host.
std::string hosts_of(surroundings const& where) {
  auto const& hosts = where.hosts;
  if (hosts.size() > 1 &&
      std::count(hosts.begin(), hosts.end(), hosts[0]) == static_cast<std::ptrdiff_t>(hosts.size()))
    return hosts[0];
  std::string text;
  for (auto const& each : hosts) text += (text.empty() ? "" : ", ") + each;
  return text;
}

char const* words_for(wire_source source) {
  switch (source) {
    case wire_source::emulated: return "as emulated";
    case wire_source::stated: return "as stated";
    case wire_source::measured: break;
  }
  return "as measured, the fastest communication alone";
}

/// A figure, or a dash where there is none.
void print_factor(std::string& text, double value) {
  if (value > 0) {
    print(text, " %8.2fx", value);
  } else {
    print(text, " %9s", "-");
  }
}

void print_rows(std::string& text, comparison const& found) {
  std::vector<std::string> names;
  std::size_t width = 8;
  for (row const& each : found.rows) {
    names.push_back(each.collective.empty() ? each.strategy : each.collective + ", " + each.strategy);
    width = (std::max)(width, names.back().size());
  }
  int const column = static_cast<int>(width);
  print(text, "%-*s %6s %10s %10s %10s %7s %9s %9s %8s %7s\n", column, "strategy", "chunks", "time ms",
        "alone ms", "wire ms", "pieces", "blocking", "library", "/ bound", "hidden");
  for (std::size_t i = 0; i < found.rows.size(); ++i) {
    row const& each = found.rows[i];
    std::string const chunks = each.chunks > 0 ? std::to_string(each.chunks) : "-";
    print(text, "%-*s %6s %10.2f %10.2f %10.2f %7.3f", column, names[i].c_str(), chunks.c_str(),
          each.seconds * 1e3, each.communication_seconds * 1e3, each.wire_seconds * 1e3,
          each.pieces_seconds / found.compute_seconds);
    print_factor(text, each.times_as_fast_as_blocking);
    print_factor(text, each.times_as_fast_as_library);
    if (each.ratio_to_bound > 0) {
      print(text, " %8.3f %6.0f%%\n", each.ratio_to_bound, each.hidden_share * 100);
    } else {
      print(text, " %8s %7s\n", "-", "-");
    }
  }
}

}  // namespace

std::string as_table(request const& asked, comparison const& found) {
  std::string text;
  print(text, "\n%s, float32 on each rank\n", found.description.c_str());
  print(text, "%d ranks, %s, on %s\n", found.ranks, found.where.transport.c_str(),
        hosts_of(found.where).c_str());
  print(text, "GEMM alone, all ranks at once: %.2f ms", found.compute_seconds * 1e3);
  if (found.elementwise_seconds > 0)
    print(text, " (%.2f ms of it between the GEMMs)", found.elementwise_seconds * 1e3);
  print(text, "; wire: %.5g Mbit/s, %s\n", found.wire_mbit, words_for(found.source));
  print(text, "medians of %d rounds in which everything is measured in turn; BLAS threads a rank: %d\n\n",
        asked.repeat, asked.blas_threads);
  print_rows(text, found);
  auto const& cost = found.communication;
  print(text,
        "\nProcessor time of communication, %.4g MB each way in %.1f ms%s: %.1f %% of a core a rank, of "
        "which the "
        "lane's thread %.1f %%\n\n",
        static_cast<double>(cost.bytes) * 1e-6, cost.seconds * 1e3, found.where.emulated ? " (emulated)" : "",
        cost.process_share * 100, cost.lane_share * 100);
  return text + legend;
}

std::string as_json(request const& asked, comparison const& found) {
  using json = nlohmann::ordered_json;
  auto const or_null = [](double value, bool known) { return known ? json(value) : json(nullptr); };
  json rows = json::array();
  for (row const& each : found.rows) {
    json made{{"kind", name_of(each.is)}, {"strategy", each.strategy}};
    if (!each.collective.empty()) made["collective"] = each.collective;
    if (each.chunks > 0) made["chunks"] = each.chunks;
    made["seconds"] = each.seconds;
    made["communication_alone_seconds"] = each.communication_seconds;
    made["pieces_alone_seconds"] = each.pieces_seconds;
    made["wire_seconds"] = each.wire_seconds;
    bool const bounded = each.ratio_to_bound > 0;
    made["bound_seconds"] = or_null(each.bound_seconds, bounded);
    made["times_as_fast_as_blocking"] = each.times_as_fast_as_blocking;
    made["times_as_fast_as_library"] =
        or_null(each.times_as_fast_as_library, each.times_as_fast_as_library > 0);
    made["ratio_to_bound"] = or_null(each.ratio_to_bound, bounded);
    made["hidden_share"] = or_null(each.hidden_share, bounded);
    made["round_seconds"] = each.rounds;
    rows.push_back(std::move(made));
  }
  char const* const sources[] = {"emulated", "stated", "measured"};
  auto const& cost = found.communication;
  json const document{{"program", "bench_overlap"},
                      {"format", 1},
                      {"class", name_of(asked.what)},
                      {"ranks", found.ranks},
                      {"element", "float32"},
                      {"rows_per_rank", asked.rows},
                      {"inner", asked.inner},
                      {"columns", asked.columns},
                      {"repeat", asked.repeat},
                      {"blas_threads", asked.blas_threads},
                      {"transport",
                       {{"label", found.where.transport},
                        {"emulated", found.where.emulated},
                        {"hosts", found.where.hosts},
                        {"link_gbps", found.link.gigabits_per_second},
                        {"link_latency_seconds", found.link.latency_seconds}}},
                      {"compute_alone_seconds", found.compute_seconds},
                      {"elementwise_alone_seconds", found.elementwise_seconds},
                      {"wire_mbit_per_second", found.wire_mbit},
                      {"wire_source", sources[static_cast<int>(found.source)]},
                      {"rows", rows},
                      {"comm_cpu",
                       {{"message_bytes", cost.bytes},
                        {"seconds", cost.seconds},
                        {"process_share_of_core", cost.process_share},
                        {"lane_share_of_core", cost.lane_share}}}};
  return document.dump(2) + "\n";
}

}  // namespace bench
