// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Writes events in the Trace Event Format, which Perfetto (ui.perfetto.dev) and chrome://tracing open.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/schedule/print_words.hpp>
#include <tpoverlap/trace/event.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace tpoverlap::inline v0::trace {

/// A file could not be written.
class [[gnu::visibility("default")]] file_error : public error {
  using error::error;
};

namespace detail {

[[nodiscard]] inline std::string quoted(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string made = "\"";
  for (char const c : text) {
    auto const code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      made.append({'\\', c});
    } else if (code < 0x20) {
      made.append("\\u00").append({digits[code / 16], digits[code % 16]});
    } else {
      made.push_back(c);
    }
  }
  return made.append("\"");
}

/// Microseconds with three decimals. Not through a double, which would lose nanoseconds after some weeks.
[[nodiscard]] inline std::string microseconds(std::int64_t nanoseconds) {
  std::string const fraction = std::to_string(1000 + nanoseconds % 1000);
  return std::to_string(nanoseconds / 1000) + "." + fraction.substr(1);
}

/// Puts the text of a trace together, one line an entry.
class chrome_trace {
 public:
  explicit chrome_trace(std::span<event const> events) : events_{events}, thread_(events.size(), 0) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].started == event::never) continue;
      by_start_.push_back(i);
      positions_.emplace(key(events[i], events[i].operation), i);
    }
    std::ranges::stable_sort(by_start_, {}, [&](std::size_t i) { return events[i].started; });
    if (!by_start_.empty()) origin_ = events[by_start_.front()].started;
    for (std::size_t const i : by_start_) origin_ = (std::min)(origin_, events[i].reached);
  }

  [[nodiscard]] std::string text() {
    assign_threads();
    name_processes();
    name_threads();
    for (std::size_t const i : by_start_) add_slice(events_[i], thread_[i]);
    // Viewers bind an arrow to a slice that they have seen already.
    for (std::size_t const i : by_start_) add_arrows_to(i);
    return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + lines_ + "\n]}\n";
  }

 private:
  using position = std::array<std::int64_t, 4>;
  static constexpr int rows_apart = 1000;

  static position key(event const& of, int operation) { return {of.rank, of.schedule, of.call, operation}; }

  /// A lane is a thread. Slices of one thread must not overlap, but streams of several callers are all lane 0: what
  /// does not fit into a lane's first row goes to a thread of its own.
  void assign_threads() {
    std::map<std::pair<int, int>, std::vector<std::int64_t>> rows;  // (rank, lane): end of each row
    for (std::size_t const i : by_start_) {
      event const& each = events_[i];
      auto& ends = rows[{each.rank, each.lane}];
      auto const free = std::ranges::find_if(ends, [&](std::int64_t end) { return end <= each.started; });
      auto const row = static_cast<int>(free - ends.begin());
      if (free == ends.end()) ends.emplace_back();
      ends[static_cast<std::size_t>(row)] = each.ended == event::never ? INT64_MAX : each.ended;
      thread_[i] = each.lane + row * rows_apart;
    }
  }

  void name_processes() {
    std::map<int, std::map<int, std::int64_t>> dropped;  // rank: schedule: calls
    for (event const& each : events_) dropped[each.rank][each.schedule] = each.dropped_calls;
    for (auto const& [rank, schedules] : dropped) {
      std::int64_t missing = 0;
      for (auto const& schedule : schedules) missing += schedule.second;
      std::string name = "rank " + std::to_string(rank);
      if (missing > 0) name += " (calls not recorded: " + std::to_string(missing) + ")";
      add_metadata("process_name", rank, 0, "\"name\":" + detail::quoted(name));
      add_metadata("process_sort_index", rank, 0, "\"sort_index\":" + std::to_string(rank));
    }
  }

  void name_threads() {
    std::map<std::pair<int, int>, int> threads;  // (rank, thread): lane
    for (std::size_t const i : by_start_) threads[{events_[i].rank, thread_[i]}] = events_[i].lane;
    for (auto const& [where, lane] : threads) {
      auto const [rank, thread] = where;
      std::string name = tpoverlap::detail::printing::lane_words(lane);
      if (thread != lane) name += " (" + std::to_string(thread / rows_apart + 1) + ")";
      add_metadata("thread_name", rank, thread, "\"name\":" + detail::quoted(name));
      add_metadata("thread_sort_index", rank, thread, "\"sort_index\":" + std::to_string(thread));
    }
  }

  void add_metadata(std::string_view what, int rank, int thread, std::string const& arguments) {
    begin_line("M", what, rank, thread);
    lines_ += ",\"args\":{" + arguments + "}}";
  }

  /// An operation that never ended is left open, as viewers know it.
  void add_slice(event const& each, int thread) {
    bool const ended = each.ended != event::never;
    std::string name = name_of(each.kind);
    if (each.shard >= 0) name += " shard " + std::to_string(each.shard);
    if (each.chunk >= 0) name += " chunk " + std::to_string(each.chunk);
    begin_line(ended ? "X" : "B", name, each.rank, thread);
    lines_ +=
        ",\"cat\":" + detail::quoted(name_of(each.kind)) + ",\"ts\":" + microseconds(each.started - origin_);
    if (ended) lines_ += ",\"dur\":" + microseconds(each.ended - each.started);
    lines_ += ",\"args\":{\"schedule\":" + std::to_string(each.schedule) +
              ",\"schedule name\":" + detail::quoted(each.schedule_name) +
              ",\"call\":" + std::to_string(each.call) + ",\"operation\":" + std::to_string(each.operation) +
              ",\"tile\":" + detail::quoted(each.action) + ",\"waited for\":[";
    for (std::size_t w = 0; w < each.waited_for.size(); ++w)
      lines_ += (w == 0 ? "" : ",") + std::to_string(each.waited_for[w]);
    lines_ += "],\"waited us\":" + microseconds(each.started - each.reached) + "}}";
  }

  /// From inside the slice of each awaited operation to the start of the waiting one.
  void add_arrows_to(std::size_t waiting) {
    event const& to = events_[waiting];
    for (int const operation : to.waited_for) {
      auto const found = positions_.find(key(to, operation));
      if (found == positions_.end() || events_[found->second].ended == event::never) continue;
      event const& from = events_[found->second];
      add_arrow_end("s", from, thread_[found->second], (std::max)(from.started, from.ended - 1));
      lines_ += "}";
      add_arrow_end("f", to, thread_[waiting], to.started);
      lines_ += ",\"bp\":\"e\"}";
      ++arrows_;
    }
  }

  void add_arrow_end(std::string_view phase, event const& at, int thread, std::int64_t when) {
    begin_line(phase, "wait", at.rank, thread);
    lines_ +=
        ",\"cat\":\"wait\",\"id\":" + std::to_string(arrows_) + ",\"ts\":" + microseconds(when - origin_);
  }

  void begin_line(std::string_view phase, std::string_view name, int rank, int thread) {
    if (!lines_.empty()) lines_ += ",\n";
    lines_ += "{\"ph\":" + detail::quoted(phase) + ",\"name\":" + detail::quoted(name) +
              ",\"pid\":" + std::to_string(rank) + ",\"tid\":" + std::to_string(thread);
  }

  std::span<event const> events_;
  std::vector<int> thread_;
  std::vector<std::size_t> by_start_;
  std::map<position, std::size_t> positions_;
  std::int64_t origin_ = 0;
  std::int64_t arrows_ = 1;
  std::string lines_;
};

}  // namespace detail

/// The events of any number of ranks as one trace: a process for each rank, a thread for each of its lanes, a slice for
/// each operation, and an arrow from each operation to those that waited for it. Time starts at the first event.
/// Operations that did not start are left out. Names are taken to be UTF-8.
///
/// **Units** microseconds with three decimals.
[[nodiscard]] inline std::string to_chrome_trace(std::span<event const> events) {
  return detail::chrome_trace{events}.text();
}

/// Writes `to_chrome_trace(events)` to a file, over what was there.
///
/// **Errors** `file_error` that names the file and the system's reason.
inline void write_chrome_trace(std::string const& path, std::span<event const> events) {
  std::string const text = to_chrome_trace(events);
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  bool written = false;
  int reason = errno;
  if (file != nullptr) {
    written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    reason = errno;
    if (std::fclose(file) != 0 && written) {
      written = false;
      reason = errno;
    }
  }
  if (written) return;
  std::string const why = std::generic_category().message(reason);
  bounded_text<400> what;
  what << "the trace cannot be written to \"" << path << "\" (" << why
       << "); give the name of a file that can be written";
  raise(file_error{what.c_str()});
}

}  // namespace tpoverlap::inline v0::trace
