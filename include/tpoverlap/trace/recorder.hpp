// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Notes when each operation of each call was reached, started and ended.
#pragma once

#include <tpoverlap/concepts/backend.hpp>
#include <tpoverlap/core/error.hpp>
#include <tpoverlap/schedule/moment.hpp>
#include <tpoverlap/schedule/print_words.hpp>
#include <tpoverlap/schedule/program.hpp>
#include <tpoverlap/trace/event.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tpoverlap::inline v0::trace {

struct recorder_options {
  std::int64_t calls = 64;  ///< calls kept of each schedule; each takes 24 bytes an operation
};

/// The last argument of an `overlap`: records its calls. One recorder a rank serves any number of overlap objects.
///
/// **Ordering** attaching and calling happen on the rank's thread. Streams write the times; read `events()`, or `clear()`
/// or destroy the recorder, when all streams of the calls have been waited for, also after a call that threw.
/// **Capacity** memory is taken when an object is attached, so that a call allocates nothing. The first `calls` calls of a
/// schedule are kept. Later ones run as ever, unrecorded, and are counted: in `dropped_calls()`, in each event, and in the
/// files made of them. `clear()` makes room.
/// **Example**
///
///     trace::recorder<host::backend> recorder{{.calls = 8}};
///     overlap up{gather_policy{}, world<4>{}, comm, gemm, shape, workspace, recorder};
///     up(stream, x, w, y);
///     comm.wait(stream);
///     std::vector<trace::event> const events = recorder.events();
template <class Backend>
class recorder {
  static_assert(
      has_timestamps<Backend>,
      "tpoverlap[E036]: a trace needs the time in stream order, which this backend cannot tell; add "
      "`static void timestamp(stream&, std::int64_t* nanoseconds)` to it, or call without a recorder");

 public:
  using stream = typename Backend::stream;

  explicit recorder(recorder_options const& options = {}) : calls_{options.calls} {
    if (calls_ < 1) raise(usage_error{"recorder_options::calls is less than 1; nothing would be recorded"});
  }
  recorder(recorder const&) = delete;
  recorder& operator=(recorder const&) = delete;

  /// Called by an overlap object when it is built. Returns the schedule's number, 0 for the first.
  int attach(program_view const& program, int rank, char const* name) {
    log made;
    made.operations.reserve(static_cast<std::size_t>(program.operation_count));
    for (int i = 0; i < program.operation_count; ++i) {
      made.operations.push_back(describe(program, i, rank));
      made.operations.back().schedule = static_cast<int>(logs_.size());
      made.operations.back().schedule_name = name;
    }
    std::size_t const count = made.operations.size() * static_cast<std::size_t>(calls_);
    made.times = std::make_unique<moments[]>(count);
    logs_.push_back(std::move(made));
    return static_cast<int>(logs_.size()) - 1;
  }

  /// Called when a call begins. Returns a number for it, or `not_kept`.
  std::int64_t begin(int schedule) {
    log& to = logs_[static_cast<std::size_t>(schedule)];
    if (to.begun == calls_) {
      ++to.dropped;
      return not_kept;
    }
    return schedule * calls_ + to.begun++;
  }

  /// Called for every moment of a call; issues the reading of the clock to `in`.
  void mark(stream& in, std::int64_t call, int operation, moment when) {
    if (call == not_kept) return;
    log& to = logs_[static_cast<std::size_t>(call / calls_)];
    moments& at = to.times[index(to, call % calls_) + static_cast<std::size_t>(operation)];
    switch (when) {
      case moment::reached: return Backend::timestamp(in, &at.reached);
      case moment::started: return Backend::timestamp(in, &at.started);
      case moment::ended: return Backend::timestamp(in, &at.ended);
    }
  }

  /// Everything recorded: schedule by schedule, call by call, in the order of the operations.
  [[nodiscard]] std::vector<event> events() const {
    std::vector<event> all;
    for (log const& from : logs_) {
      for (std::int64_t call = 0; call < from.begun; ++call) {
        moments const* at = &from.times[index(from, call)];
        for (event const& operation : from.operations) {
          event& made = all.emplace_back(operation);
          made.call = call;
          made.reached = at->reached;
          made.started = at->started;
          made.ended = at->ended;
          made.dropped_calls = from.dropped;
          ++at;
        }
      }
    }
    return all;
  }

  /// Calls that were not recorded, of all schedules, since the last `clear`.
  [[nodiscard]] std::int64_t dropped_calls() const {
    std::int64_t sum = 0;
    for (log const& each : logs_) sum += each.dropped;
    return sum;
  }

  /// Forgets all calls, after a warm-up say. Schedules keep their numbers.
  void clear() {
    for (log& each : logs_) {
      std::fill_n(each.times.get(), index(each, each.begun), moments{});
      each.begun = 0;
      each.dropped = 0;
    }
  }

 private:
  static constexpr std::int64_t not_kept = -1;

  struct moments {
    std::int64_t reached = event::never;
    std::int64_t started = event::never;
    std::int64_t ended = event::never;
  };

  struct log {
    std::vector<event> operations;     // as in every call, without times
    std::unique_ptr<moments[]> times;  // stays in place, as streams write to it
    std::int64_t begun = 0;
    std::int64_t dropped = 0;
  };

  static std::size_t index(log const& in, std::int64_t call) {
    return static_cast<std::size_t>(call) * in.operations.size();
  }

  static event describe(program_view const& program, int index, int rank) {
    operation const& op = program.operations[index];
    event made;
    made.rank = rank;
    made.operation = index;
    made.lane = op.lane;
    made.kind = op.kind;
    made.action = tpoverlap::detail::printing::action_words(program, op, rank, ", ");
    for (int w = op.first_wait; w < op.first_wait + op.waits; ++w)
      made.waited_for.push_back(program.waits[w]);
    if (op.kind == operation_kind::fork || op.kind == operation_kind::join || op.accesses == 0) return made;
    tile_range const& tile = main_tile(program, op);
    if (program.buffers[tile.buffer].arrangement == layout::whole) return made;
    made.chunk = tile.chunk;
    if (tile.slots == 1) made.shard = program.group.apply(rank, tile.shard);
    return made;
  }

  /// What a GEMM takes in, if that is a tile, and what anything else leaves behind.
  static tile_range const& main_tile(program_view const& program, operation const& op) {
    tile_access const* const uses = program.accesses + op.first_access;
    for (int a = 0; a < op.accesses; ++a) {
      if ((uses[a].mode == access_mode::read) == (op.kind == operation_kind::gemm)) return uses[a].tiles;
    }
    return uses[0].tiles;
  }

  std::int64_t calls_;
  std::vector<log> logs_;
};

}  // namespace tpoverlap::inline v0::trace
