// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! How a schedule's progress is observed, if somebody wants to. Without a recorder nothing is compiled in.
#pragma once

#include <tpoverlap/schedule/moment.hpp>
#include <tpoverlap/schedule/program.hpp>

#include <concepts>
#include <cstdint>

namespace tpoverlap::inline v0 {

/// The default: no recorder, no cost.
struct no_recorder {};

/// A recorder is told of every schedule (`attach`, once an object), of every call (`begin`, which returns a number for
/// it), and of every moment, in the stream in which it happens.
template <class Recorder, class Stream>
concept recorder_for = requires(Recorder& recorder, Stream& stream, program_view const& program, int rank,
                                int schedule, std::int64_t call, int operation, moment when) {
  { recorder.attach(program, rank, "name") } -> std::same_as<int>;
  { recorder.begin(schedule) } -> std::same_as<std::int64_t>;
  recorder.mark(stream, call, operation, when);
};

/// What an overlap object keeps of its recorder. A null recorder records nothing.
template <class Recorder>
class recording {
 public:
  recording(Recorder* recorder, program_view const& program, int rank, char const* name)
      : recorder_{recorder} {
    if (recorder_ != nullptr) schedule_ = recorder_->attach(program, rank, name);
  }

  void begin() {
    if (recorder_ != nullptr) call_ = recorder_->begin(schedule_);
  }

  template <class Stream>
  void mark(Stream& in, int operation, moment when) {
    if (recorder_ != nullptr) recorder_->mark(in, call_, operation, when);
  }

 private:
  Recorder* recorder_;
  int schedule_ = 0;
  std::int64_t call_ = 0;
};

template <>
class recording<no_recorder> {
 public:
  recording(no_recorder*, program_view const&, int, char const*) {}
  void begin() {}
  template <class Stream>
  void mark(Stream&, int, moment) {}
};

}  // namespace tpoverlap::inline v0
