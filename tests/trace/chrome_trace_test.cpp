// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What is written conforms to the Trace Event Format, as far as viewers need it to.

#include "../support/catch.hpp"
#include "findings.hpp"
#include "json.hpp"
#include "traced_run.hpp"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

using namespace tpoverlap;

namespace {

struct slice {
  double start;
  double end;
  int operation;
};

/// A trace as a viewer sees it: everything is checked on the way in.
struct viewed {
  explicit viewed(std::string const& text) {
    json const file = parse_json(text);
    CHECK(file["displayTimeUnit"].text == "ns");
    for (json const& each : file["traceEvents"].items) {
      std::pair const thread{each["pid"].integer(), each["tid"].integer()};
      std::string const phase = each["ph"].text;
      if (phase == "M") {
        if (each["name"].text == "process_name") processes[thread.first] = each["args"]["name"].text;
        if (each["name"].text == "thread_name") threads[thread] = each["args"]["name"].text;
        continue;
      }
      double const ts = each["ts"].number;
      CHECK(each["ts"].is == json::kind::number);
      CHECK(ts >= 0);
      if (phase == "X") {
        CHECK(each["dur"].number >= 0);
        slices[thread].push_back({ts, ts + each["dur"].number, each["args"]["operation"].integer()});
        arguments.push_back(each["args"]);
        names.insert(each["name"].text);
      } else if (phase == "B") {
        CHECK_FALSE(each.has("dur"));
        ++open;
      } else if (phase == "s" || phase == "f") {
        CHECK(each["cat"].text == "wait");
        CHECK(each.has("bp") == (phase == "f"));
        if (phase == "f") CHECK(each["bp"].text == "e");
        auto& side = phase == "s" ? sources : targets;
        int const operation = enclosing(thread, ts);
        CHECK(operation >= 0);
        CHECK(side.emplace(each["id"].integer(), arrow_end{thread, ts, operation}).second);
      } else {
        FAIL("a phase that is not written: " << phase);
      }
    }
    for (auto const& [thread, ordered] : slices) {
      for (std::size_t i = 1; i < ordered.size(); ++i) {
        CAPTURE(thread.first, thread.second, i);
        CHECK(ordered[i].start >= ordered[i - 1].end - 1e-6);  // a thousandth of a nanosecond, for rounding
      }
    }
  }

  /// The operation whose slice an arrow's end binds to; slices come first in the file.
  int enclosing(std::pair<int, int> thread, double ts) const {
    int found = -1;
    for (auto const& each : slices.at(thread))
      if (each.start <= ts && ts <= each.end) found = each.operation;
    return found;
  }

  struct arrow_end {
    std::pair<int, int> thread;
    double ts;
    int operation;
  };

  std::map<int, std::string> processes;
  std::map<std::pair<int, int>, std::string> threads;
  std::map<std::pair<int, int>, std::vector<slice>> slices;
  std::vector<json> arguments;
  std::set<std::string> names;
  std::map<int, arrow_end> sources;
  std::map<int, arrow_end> targets;
  int open = 0;
};

trace::event made(int operation, int lane, std::int64_t started, std::int64_t ended) {
  trace::event each;
  each.operation = operation;
  each.lane = lane;
  each.kind = operation_kind::gemm;
  each.reached = each.started = started;
  each.ended = ended;
  return each;
}

}  // namespace

TEMPLATE_TEST_CASE("a trace has a process a rank, a thread a lane, a slice an operation, an arrow a wait",
                   "[trace]", producer_before_consumer<ring{.chunks = 2}>,
                   consumer_before_reduction<ring{.chunks = 2}>, independent_side_work<all_gather{}>) {
  auto const& program = schedule<TestType, 4>::program;
  auto const events = traced<TestType, 4>(2, 2);
  viewed const view{trace::to_chrome_trace(events)};

  REQUIRE(view.processes.size() == 4);
  for (auto const& [rank, name] : view.processes) CHECK(name == "rank " + std::to_string(rank));
  std::set<int> lanes;
  for (int i = 0; i < program.operation_count; ++i) lanes.insert(program.operations[i].lane);
  CHECK(view.threads.size() == 4 * lanes.size());
  char const* const lane_names[] = {"compute", "communication", "elementwise", "side"};
  for (auto const& [thread, name] : view.threads) CHECK(name == lane_names[thread.second]);

  CHECK(view.arguments.size() == events.size());
  CHECK(view.open == 0);
  for (json const& each : view.arguments) {
    int const operation = each["operation"].integer();
    CHECK((each["call"].integer() == 0 || each["call"].integer() == 1));
    CHECK_FALSE(each["tile"].text.empty());
    CHECK(static_cast<int>(each["waited for"].items.size()) == program.operations[operation].waits);
    CHECK(each["waited us"].number >= 0);
  }

  CHECK(view.sources.size() == static_cast<std::size_t>(4 * 2 * program.wait_count));
  REQUIRE(view.targets.size() == view.sources.size());
  std::map<std::pair<int, int>, int> arrows;
  for (auto const& [id, from] : view.sources) {
    auto const& to = view.targets.at(id);
    CHECK(from.ts <= to.ts);
    CHECK(from.thread.first == to.thread.first);
    ++arrows[{from.operation, to.operation}];
  }
  for (int i = 0; i < program.operation_count; ++i) {
    operation const& op = program.operations[i];
    for (int w = op.first_wait; w < op.first_wait + op.waits; ++w) {
      std::pair const edge{program.waits[w], i};
      CAPTURE(i, w);
      CHECK(arrows[edge] == 4 * 2);
    }
  }
}

TEST_CASE("times are exact and start at zero", "[trace]") {
  constexpr std::int64_t late = 4'000'000'000'000'000'001;  // a double would lose these nanoseconds
  trace::event const events[] = {made(0, 0, late, late + 1), made(1, 0, late + 1'234'567, late + 9'000'005)};
  std::string const text = trace::to_chrome_trace(events);
  CHECK(text.find("\"ts\":0.000,\"dur\":0.001") != std::string::npos);
  CHECK(text.find("\"ts\":1234.567,\"dur\":7765.438") != std::string::npos);
}

TEST_CASE("names of the caller's are escaped", "[trace]") {
  trace::event each = made(0, 0, 0, 1);
  each.schedule_name = "a \"quoted\" \\ name,\nwith\ta control \x01 and \xc3\xa9";
  viewed const view{trace::to_chrome_trace(std::span{&each, 1})};
  REQUIRE(view.arguments.size() == 1);
  CHECK(view.arguments[0]["schedule name"].text == each.schedule_name);
}

TEST_CASE("odd traces are traces, too", "[trace]") {
  CHECK(parse_json(trace::to_chrome_trace({}))["traceEvents"].items.empty());

  SECTION("dropped calls are told") {
    viewed const view{trace::to_chrome_trace(traced<producer_before_consumer<ring{}>, 2>(5, 2, {}))};
    CHECK(view.processes.at(0) == "rank 0 (calls not recorded: 3)");
  }
  SECTION("an operation that never ended is open, one that never started is left out") {
    std::vector<trace::event> events{made(0, 0, 10, 20), made(1, 1, 20, trace::event::never),
                                     made(2, 0, trace::event::never, trace::event::never),
                                     made(3, 0, 30, 40)};
    events[3].waited_for = {1};
    viewed const view{trace::to_chrome_trace(events)};
    CHECK(view.open == 1);
    CHECK(view.arguments.size() == 2);
    CHECK(view.sources.empty());
  }
  SECTION("two streams of one caller are two threads of lane 0") {
    std::vector<trace::event> events{made(0, 0, 10, 30), made(0, 0, 20, 40), made(1, 0, 30, 50)};
    events[1].schedule = 1;
    viewed const view{trace::to_chrome_trace(events)};
    REQUIRE(view.threads.size() == 2);
    CHECK(view.threads.begin()->second == "compute");
    CHECK(view.threads.rbegin()->second == "compute (2)");
  }
}

TEST_CASE("the checks see what is no trace", "[trace]") {
  CHECK_THROWS(parse_json("{\"a\":1,}"));
  CHECK_THROWS(parse_json("[1 2]"));
  CHECK_THROWS(parse_json("[1]]"));
  CHECK_THROWS(parse_json("\"\n\""));
  CHECK_THROWS(parse_json("{\"ts\":.5}"));
  CHECK_THROWS(parse_json("{\"ts\":nan}"));
  CHECK(parse_json("[\"\\u0041\",-1.5,{}]").items[1].number == -1.5);
}

TEST_CASE("a trace is written to a file, or the file is named that cannot be", "[trace]") {
  auto const folder = std::filesystem::temp_directory_path();
  auto const events = traced<producer_before_consumer<ring{}>, 2>(1, 1, {});
  std::string const path = (folder / "tpoverlap_chrome_trace_test.json").string();
  trace::write_chrome_trace(path, events);
  {
    std::ifstream file{path, std::ios::binary};
    std::string const text{std::istreambuf_iterator<char>{file}, {}};
    CHECK(text == trace::to_chrome_trace(events));
  }
  std::filesystem::remove(path);

  std::string const nowhere = (folder / "tpoverlap_no_such_folder" / "a.json").string();
  std::string what;
  try {
    trace::write_chrome_trace(nowhere, events);
  } catch (trace::file_error const& failure) {
    what = failure.what();
  }
  CHECK(what.find(nowhere) != std::string::npos);
  CHECK(what.find("No such file") != std::string::npos);

  if (std::filesystem::exists("/dev/full"))
    CHECK_THROWS_AS(trace::write_chrome_trace("/dev/full", events), trace::file_error);
}
