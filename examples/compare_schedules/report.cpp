// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "report.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace compare {

namespace {

std::string_view words_for(std::string_view dependency) {
  if (dependency == "ag") return "AllGather -> GEMM";
  if (dependency == "rs") return "GEMM -> ReduceScatter";
  return "collective beside GEMM";
}

template <class... Values>
void print(std::string& text, char const* format, Values... values) {
  char line[256];
  std::snprintf(line, sizeof line, format, values...);
  text += line;
}

}  // namespace

std::string as_table(std::string_view dependency, request const& asked, comparison const& result) {
  std::string text;
  auto const& shape = asked.shape;
  print(text, "\n%s, %d ranks, (%lld, %lld) x (%lld, %lld) on each rank",
        std::string{words_for(dependency)}.c_str(), asked.ranks, static_cast<long long>(shape.rows),
        static_cast<long long>(shape.inner), static_cast<long long>(shape.inner),
        static_cast<long long>(shape.columns));
  if (result.pieces > 1) print(text, ", %d chunks", asked.chunks);
  text += "\n";
  print(text, "%s; medians of %d rounds measured in turn\n", describe(result.link).c_str(), asked.repeat);
  print(text, "GEMM alone, all ranks at once: %.2f ms", result.gemm * 1e3);
  if (result.pieces > 1) print(text, "; in %d pieces: %.2f ms", result.pieces, result.gemm_in_pieces * 1e3);
  print(text, "; fill: %.2f ms\n\n", result.fill * 1e3);

  std::size_t width = 8;
  for (row const& each : result.rows) width = (std::max)(width, each.strategy.size());
  int const name = static_cast<int>(width);
  print(text, "%-*s %10s %10s %10s %10s %10s %8s\n", name, "strategy", "time ms", "link ms", "alone ms",
        "/ blocking", "/ bound", "hidden");
  for (row const& each : result.rows) {
    print(text, "%-*s %10.2f %10.2f %10.2f %10.3f %10.3f %7.0f%%\n", name, each.strategy.c_str(),
          each.time * 1e3, each.link * 1e3, each.communication * 1e3, each.to_blocking, each.to_bound,
          each.hidden * 100);
  }
  text += "\nlink: computed from the model; alone: the same communication measured without a GEMM;\n"
          "bound: max(GEMM alone, link) + fill, see --help\n";
  return text;
}

std::string as_json(std::string_view dependency, request const& asked, comparison const& result) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (row const& each : result.rows) {
    rows.push_back({{"strategy", each.strategy},
                    {"seconds", each.time},
                    {"link_seconds", each.link},
                    {"communication_alone_seconds", each.communication},
                    {"bound_seconds", each.bound},
                    {"ratio_to_blocking", each.to_blocking},
                    {"ratio_to_bound", each.to_bound},
                    {"hidden_share", each.hidden}});
  }
  nlohmann::ordered_json const document{{"class", std::string{dependency}},
                                        {"ranks", asked.ranks},
                                        {"chunks", asked.chunks},
                                        {"rows", asked.shape.rows},
                                        {"inner", asked.shape.inner},
                                        {"columns", asked.shape.columns},
                                        {"repeat", asked.repeat},
                                        {"link",
                                         {{"label", describe(result.link)},
                                          {"emulated", result.link.emulates()},
                                          {"gigabits_per_second", result.link.gigabits_per_second},
                                          {"latency_seconds", result.link.latency_seconds},
                                          {"balanced", asked.balanced}}},
                                        {"gemm_alone_seconds", result.gemm},
                                        {"gemm_pieces", result.pieces},
                                        {"gemm_in_pieces_seconds", result.gemm_in_pieces},
                                        {"fill_seconds", result.fill},
                                        {"strategies", rows}};
  return document.dump(2) + "\n";
}

}  // namespace compare
