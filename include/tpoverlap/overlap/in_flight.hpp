// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A token for side work that has been started and not yet joined.
#pragma once

#include <utility>

namespace tpoverlap::inline v0 {

/// Owns the buffers of started side work until `join`. Move-only. A token that is dropped joins the stream that the
/// work was started from, so that nothing is left running on memory that its owner thinks free. A token does not
/// outlive its overlap object, nor that stream.
template <class Overlap>
class [[nodiscard]] in_flight {
 public:
  using stream = typename Overlap::stream;

  in_flight(in_flight&& other) noexcept
      : work_{std::exchange(other.work_, nullptr)}, started_from_{other.started_from_} {}
  in_flight& operator=(in_flight&& other) noexcept {
    if (this != &other) {
      drop();
      work_ = std::exchange(other.work_, nullptr);
      started_from_ = other.started_from_;
    }
    return *this;
  }
  ~in_flight() { drop(); }

  /// Orders all of the work before what is issued to `in` from now on. The second and later calls do nothing. If it
  /// throws, the token still owns the work.
  void join(stream& in) {
    if (work_ != nullptr) work_->finish(in);
    work_ = nullptr;
  }

  /// Whether there is still something to join.
  [[nodiscard]] bool pending() const noexcept { return work_ != nullptr; }

 private:
  friend Overlap;
  in_flight(Overlap& work, stream& started_from) : work_{&work}, started_from_{&started_from} {}

  /// A stream that cannot be joined any more, as after a failed capture, is waited for instead.
  void drop() noexcept {
    if (work_ == nullptr) return;
    Overlap* const work = std::exchange(work_, nullptr);
#if defined(__cpp_exceptions)
    try {
      work->finish(*started_from_);
    } catch (...) {
      work->give_up();
    }
#else
    work->finish(*started_from_);
#endif
  }

  Overlap* work_;
  stream* started_from_;
};

}  // namespace tpoverlap::inline v0
