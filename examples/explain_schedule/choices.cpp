// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "choices.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <iostream>
#include <map>
#include <string>
#include <system_error>

namespace {

namespace tpo = tpoverlap;

/// More would fill the memory with a picture that nobody can read.
constexpr int most_tiles = 4096;

/// An option whose value is one of the named ones.
template <class Value>
void add_choice(CLI::App& app, std::string const& flag, Value& value,
                std::map<std::string, Value> const& names, std::string const& description) {
  std::string all;
  for (auto const& entry : names) all += (all.empty() ? "" : "|") + entry.first;
  auto const check = [names, all](std::string const& name) {
    return names.count(name) == 1 ? std::string{} : name + " is unknown; choose one of " + all;
  };
  app.add_option_function<std::string>(
         flag, [&value, names](std::string const& name) { value = names.at(name); }, description)
      ->type_name(all)
      ->check(CLI::Validator{check, ""});
}

/// An option that counts something, `least` or more of it.
void add_count(CLI::App& app, std::string const& flag, int& value, int least,
               std::string const& description) {
  std::string const range =
      "a whole number from " + std::to_string(least) + " to " + std::to_string(most_tiles);
  auto const check = [least, range](std::string const& text) {
    int number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    bool const is_number = error == std::errc{} && end == text.data() + text.size();
    return is_number && number >= least && number <= most_tiles ? std::string{} : text + " is not " + range;
  };
  app.add_option(flag, value, description)->type_name("N")->check(CLI::Validator{check, ""});
}

/// A ratio of two numbers, as in 2:1.
void add_ratio(CLI::App& app, std::string const& flag, tpo::chunk_ratio& value,
               std::string const& description) {
  auto const read = [](std::string const& text, tpo::chunk_ratio& ratio) {
    char const* const end = text.data() + text.size();
    auto const earlier = std::from_chars(text.data(), end, ratio.earlier);
    if (earlier.ec != std::errc{} || earlier.ptr == end || *earlier.ptr != ':') return false;
    auto const later = std::from_chars(earlier.ptr + 1, end, ratio.later);
    return later.ec == std::errc{} && later.ptr == end && ratio.earlier >= 1 && ratio.later >= 1;
  };
  auto const check = [read](std::string const& text) {
    tpo::chunk_ratio ratio;
    return read(text, ratio) ? std::string{}
                             : text + " is not a ratio of two whole numbers from 1 on, as 2:1 is";
  };
  app.add_option_function<std::string>(
         flag, [&value, read](std::string const& text) { read(text, value); }, description)
      ->type_name("N:N")
      ->check(CLI::Validator{check, ""});
}

void declare_options(CLI::App& app, choices& chosen) {
  add_choice(app, "--class", chosen.edge,
             {{"ag", dependency_class::gather},
              {"rs", dependency_class::reduction},
              {"bulk", dependency_class::side_work}},
             "AllGather before GEMM, GEMM before ReduceScatter, or a collective beside a GEMM (ag)");
  add_choice(app, "--policy", chosen.strategy,
             {{"blocking", policy::blocking},
              {"ring", policy::ring},
              {"direct", policy::direct},
              {"pipeline", policy::pipeline},
              {"all_gather", policy::all_gather},
              {"reduce_scatter", policy::reduce_scatter},
              {"all_reduce", policy::all_reduce}},
             "how the edge is cut; the last three are bulk (ring)");
  add_count(app, "--ranks", chosen.ranks, 1, "ranks in the group (4)");
  add_count(app, "--chunks", chosen.chunks, 1, "row ranges a shard is cut into (1, pipeline 4)");
  add_ratio(app, "--ratio", chosen.ratio, "size of each chunk to the one behind it (1:1)");
  add_count(app, "--depth", chosen.depth, 0, "landing slots of ring and direct, 0 for one a shard (0)");
  add_choice(app, "--direction", chosen.way,
             {{"forward", tpo::direction::forward},
              {"backward", tpo::direction::backward},
              {"both", tpo::direction::both}},
             "which way round a ring (forward)");
  add_choice(app, "--accumulate", chosen.reduction.accumulate,
             {{"separate", tpo::accumulation::separate}, {"fused", tpo::accumulation::fused}},
             "rs: add by itself, or let the GEMM add into the bucket (separate)");
  add_choice(app, "--reduce-in", chosen.reduction.reduce_in,
             {{"output", tpo::reduction_type::as_output},
              {"float32", tpo::reduction_type::float32},
              {"float64", tpo::reduction_type::float64}},
             "rs: type of the sums (output)");
  add_choice(app, "--result", chosen.reduction.result,
             {{"reduce_scatter", tpo::reduction_result::reduce_scatter},
              {"all_reduce", tpo::reduction_result::all_reduce}},
             "rs: own shard of the sum, or all of it (reduce_scatter)");
  add_choice(app, "--dimension", chosen.gather.dimension,
             {{"rows", tpo::gathered_dimension::rows}, {"contraction", tpo::gathered_dimension::contraction}},
             "ag: dimension of the GEMM that the shards make up (rows)");
  app.add_flag("--keep-gathered", chosen.gather.keep_gathered, "ag: leave the gathered matrix to the caller");
  add_count(app, "--rank", chosen.rank, 0, "rank whose operations are listed (0)");
  add_choice(app, "--format", chosen.format,
             {{"all", output_format::all},
              {"text", output_format::text},
              {"dot", output_format::dot},
              {"grid", output_format::grid}},
             "everything, or one picture alone (all)");
}

/// Stops with `reason` if an option was given that means nothing here.
void only_if(CLI::App const& app, std::string const& flag, bool applies, std::string const& reason) {
  if (!applies && app.count(flag) > 0) throw CLI::ValidationError(flag, reason);
}

/// What the library would refuse at compile time, and what would be ignored without a word.
void check_together(CLI::App const& app, choices const& c) {
  bool const gathers = c.edge == dependency_class::gather;
  bool const reduces = c.edge == dependency_class::reduction;
  bool const bulk = c.strategy >= policy::all_gather;
  bool const ring = c.strategy == policy::ring;
  if (bulk != (c.edge == dependency_class::side_work)) {
    throw CLI::ValidationError(
        "--policy", bulk ? "all_gather, reduce_scatter and all_reduce are side work; add --class bulk"
                         : "--class bulk takes all_gather, reduce_scatter or all_reduce; choose one");
  }
  only_if(app, "--chunks", !bulk && c.strategy != policy::blocking, "this policy cuts nothing; leave it out");
  only_if(app, "--ratio", !bulk && c.chunks > 1,
          "there are no two chunks to be sized; leave it out or add --chunks 2");
  only_if(app, "--depth", ring || c.strategy == policy::direct,
          "only ring and direct have landing slots; leave it out");
  only_if(app, "--direction", ring, "only a ring has a direction; leave it out or choose --policy ring");
  for (auto const* flag : {"--accumulate", "--reduce-in", "--result"}) {
    only_if(app, flag, reduces, "belongs to a reduction; leave it out or choose --class rs");
  }
  for (auto const* flag : {"--dimension", "--keep-gathered"}) {
    only_if(app, flag, gathers, "belongs to a gather; leave it out or choose --class ag");
  }
  if (c.gather.keep_gathered && c.depth > 0) {
    throw CLI::ValidationError("--keep-gathered", "needs a place for every shard, --depth reuses places; "
                                                  "leave one of them out");
  }
  if (c.reduction.accumulate == tpo::accumulation::fused && !ring) {
    throw CLI::ValidationError("--accumulate", "only a moving bucket can be fused; choose --policy ring or "
                                               "--accumulate separate");
  }
  if (reduces && c.way == tpo::direction::both && c.chunks < 2) {
    throw CLI::ValidationError("--direction",
                               "a reduction goes both ways with two chunks or more; add --chunks 2");
  }
  if (!c.ratio.cuts(c.chunks)) {
    throw CLI::ValidationError("--ratio",
                               "its powers, the sizes of chunks, exceed 2147483647 together; lower "
                               "--chunks, or choose smaller numbers");
  }
  if (c.rank >= c.ranks) {
    throw CLI::ValidationError("--rank", "ranks are 0 to " + std::to_string(c.ranks - 1) +
                                             "; name one of these or raise --ranks");
  }
  if (c.chunks > most_tiles / c.ranks) {
    throw CLI::ValidationError("--ranks", "ranks times chunks is more than " + std::to_string(most_tiles) +
                                              ", too much to print; lower --ranks or --chunks");
  }
}

}  // namespace

std::optional<choices> read_command_line(int argc, char** argv, int& status) {
  choices chosen;
  CLI::App app{"Builds the schedule of an overlap policy, proves it and explains it.", "explain_schedule"};
  declare_options(app, chosen);
  try {
    app.parse(argc, argv);
    if (chosen.strategy == policy::pipeline && app.count("--chunks") == 0)
      chosen.chunks = tpo::pipeline{}.chunks;
    check_together(app, chosen);
    return chosen;
  } catch (CLI::Success const& help) {
    status = app.exit(help);
  } catch (CLI::ParseError const& error) {
    std::cerr << "explain_schedule: " << error.what() << ".\n"
              << "explain_schedule --help lists what can be chosen.\n";
    status = 2;
  }
  return std::nullopt;
}
