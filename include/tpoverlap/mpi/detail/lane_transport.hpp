// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Moves the messages of one lane through MPI: in segments, few at a time, and asleep most of the time.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/message.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/mpi/communicator_options.hpp>
#include <tpoverlap/mpi/detail/flow.hpp>
#include <tpoverlap/mpi/detail/notice_board.hpp>
#include <tpoverlap/mpi/detail/pace.hpp>
#include <tpoverlap/mpi/error.hpp>

namespace tpoverlap::inline v0::mpi::detail {

/// One operation at a time, in the thread of the lane. The lane's MPI communicator belongs to it.
///
/// Segments are sent from and received into memory of the transport, so that the caller's is free when the operation
/// ends, however it ends: MPI cannot always take back what it has been given.
class lane_transport {
 public:
  lane_transport(MPI_Comm own, notice_board& board, communicator_options const& options, int rank, int ranks)
      : comm_{own},
        board_{board},
        options_{options},
        rank_{rank},
        sends_{count((std::max)(options.window, ranks - 1))},
        depth_{(std::max)((sends_ + 1) / count((std::max)(ranks - 1, 1)), std::size_t{2})},
        requests_(sends_ + (std::max)(sends_, 2 * count(ranks)), MPI_REQUEST_NULL),
        slots_(requests_.size()),
        indices_(requests_.size()),
        statuses_(requests_.size()),
        segments_{std::make_unique_for_overwrite<std::byte[]>(requests_.size() * options.segment_bytes)},
        summands_{std::make_unique_for_overwrite<std::byte[]>(depth_ * count(ranks) * options.segment_bytes)},
        pace_{options.polling, static_cast<int>(sends_)},
        arrived_(depth_ * count(ranks), 0) {}

  lane_transport(lane_transport const&) = delete;
  lane_transport& operator=(lane_transport const&) = delete;

  ~lane_transport() {
    if (!board_.aborted()) {
      MPI_Comm_free(&comm_);
      return;
    }
    for (MPI_Request const& each : requests_) {
      if (each == MPI_REQUEST_NULL) continue;
      // An aborted peer may never come for it: what MPI was given stays as long as the process.
      (void)segments_.release();
      (void)summands_.release();
      (void)new std::vector<slot>(std::move(slots_));
      return;
    }
  }

  /// Completes all flows. Summed receives are of one size; as soon as a segment of it has come from everybody, calls
  /// `sum(first_byte, bytes, source)`, where `source(i)` is the segment of summand i.
  template <class Sum>
  void run(std::span<flow> flows, call_site where, Sum sum) {
    where_ = where;
    pace_.begin();
    if (board_.look()) board_.raise_aborted(where_);
    begin_sum(flows);
    choose_what_counts(flows);
    for (;;) {
      post(flows);
      std::size_t const came = complete(flows);
      while (add(sum)) {
      }
      if (finished(flows)) return;
      if (2 * came >= sends_) continue;  // more may be there already
      post(flows);
      auto const now = clock::now();
      if (now - looked_ >= time_between_looks) {
        looked_ = now;
        if (board_.look()) {
          release();
          board_.raise_aborted(where_);
        }
      }
      if (now - pace_.last_moved() >= options_.time_limit) fail_late(flows);
      std::this_thread::sleep_for(pace_.next_sleep(left_of(flows)));
    }
  }

 private:
  /// At the board: a notice need not be seen at once, and each look is a call of MPI.
  static constexpr std::chrono::milliseconds time_between_looks{10};

  enum tag : int { header_tag = 1, data_tag = 2 };

  /// What a request is for.
  struct slot {
    std::size_t flow = 0;
    std::size_t first = 0;
    std::size_t bytes = 0;
    bool is_header = false;
    flow_header header;
  };

  static std::size_t count(int value) { return static_cast<std::size_t>(value); }
  void post(std::span<flow> flows) {
    for (bool const sending : {true, false}) {
      std::size_t const end = sending ? sends_ : requests_.size();
      for (std::size_t s = sending ? 0 : sends_; s < end; ++s) {
        if (requests_[s] != MPI_REQUEST_NULL) continue;
        std::size_t const next = choose(flows, sending);
        if (next == flows.size()) break;
        start(s, flows, next);
      }
    }
  }

  bool may_go_on(std::span<flow const> flows, flow const& each) const {
    if (each.all_posted()) return false;
    if (each.after >= 0 && !flows[count(each.after)].all_posted()) return false;
    return each.summand < 0 || each.posted < summed_ + depth_ * options_.segment_bytes;
  }

  /// Takes turns among the flows of one direction that may go on; flows.size() if there is none. None takes more than
  /// its share of the requests, so that a slow peer holds nobody up.
  std::size_t choose(std::span<flow const> flows, bool sending) {
    std::size_t willing = 0;
    for (flow const& each : flows) willing += each.sends() == sending && may_go_on(flows, each) ? 1 : 0;
    if (willing == 0) return flows.size();
    std::size_t const requests = sending ? sends_ : requests_.size() - sends_;
    std::size_t const share = (std::max)(requests / willing, std::size_t{1});
    std::size_t& turn = sending ? send_turn_ : receive_turn_;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      std::size_t const candidate = (turn + i) % flows.size();
      flow const& each = flows[candidate];
      if (each.sends() != sending || each.under_way >= share || !may_go_on(flows, each)) continue;
      turn = candidate + 1;
      return candidate;
    }
    return flows.size();
  }

  void start(std::size_t s, std::span<flow> flows, std::size_t index) {
    flow& each = flows[index];
    slot& to = slots_[s];
    to.flow = index;
    to.is_header = !each.header_posted;
    std::byte* data = nullptr;
    if (to.is_header) {
      to.bytes = sizeof(flow_header);
      to.header = {each.half.bytes, each.operation};
      data = reinterpret_cast<std::byte*>(&to.header);
    } else {
      std::size_t const left = each.half.bytes - each.posted;
      to.first = each.posted;
      to.bytes = left < options_.segment_bytes ? left : options_.segment_bytes;
      data = place(s, each, to);
    }
    ++each.under_way;
    int const peer = each.half.peer;
    // Room for a whole segment, whatever is expected: where ranks disagree, MPI has nothing to cut short, which some
    // implementations end the program for.
    bool const has_room = !each.sends() && !to.is_header;
    int const bytes = static_cast<int>(has_room ? options_.segment_bytes : to.bytes);
    int const kind = to.is_header ? header_tag : data_tag;
    if (each.sends()) {
      succeed(MPI_Isend(data, bytes, MPI_BYTE, peer, kind, comm_, &requests_[s]), "MPI_Isend", peer);
    } else {
      succeed(MPI_Irecv(data, bytes, MPI_BYTE, peer, kind, comm_, &requests_[s]), "MPI_Irecv", peer);
    }
    if (to.is_header) {
      each.header_posted = true;
    } else {
      each.posted += to.bytes;
    }
  }

  /// Memory for a segment of data; one to send is copied to it.
  std::byte* place(std::size_t s, flow const& each, slot const& segment) {
    if (each.summand >= 0) return summand_segment(each.summand, segment.first);
    if (each.sends())
      std::memcpy(own_segment(s), static_cast<std::byte const*>(each.half.data) + segment.first,
                  segment.bytes);
    return own_segment(s);
  }
  std::byte* own_segment(std::size_t s) const { return segments_.get() + s * options_.segment_bytes; }

  /// Returns the number of requests that are done.
  std::size_t complete(std::span<flow> flows) {
    int done = 0;
    int const code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &done,
                                  indices_.data(), statuses_.data());
    if (code != MPI_ERR_IN_STATUS) succeed(code, "MPI_Testsome");
    if (done == MPI_UNDEFINED) done = 0;
    // A header explains what is wrong with the data behind it, so headers go first.
    for (bool const headers : {true, false}) {
      for (int i = 0; i < done; ++i) {
        std::size_t const s = count(indices_[count(i)]);
        slot const& from = slots_[s];
        if (from.is_header != headers) continue;
        flow& each = flows[from.flow];
        MPI_Status const& status = statuses_[count(i)];
        if (code == MPI_ERR_IN_STATUS)
          succeed(status.MPI_ERROR, each.sends() ? "MPI_Isend" : "MPI_Irecv", each.half.peer);
        finish(s, each, status);
        if (from.is_header || each.sends() != count_sends_) {
          pace_.moved();
        } else {
          pace_.moved(from.bytes);
        }
      }
    }
    return count(done);
  }

  void finish(std::size_t s, flow& each, MPI_Status const& status) {
    slot const& from = slots_[s];
    --each.under_way;
    if (!each.sends()) {
      int bytes = 0;
      succeed(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
      if (from.is_header) check_header(from.header, each);
      if (bytes != static_cast<int>(from.bytes)) {
        if (each.header_done) fail_mismatch(each, static_cast<std::size_t>(bytes));
        return;  // the header, which comes next, knows the whole size
      }
    }
    if (from.is_header) {
      each.header_done = true;
      return;
    }
    each.done += from.bytes;
    if (each.summand >= 0) {
      arrived_[summand_slot(each.summand, from.first)] = 1;
    } else if (!each.sends()) {
      std::memcpy(static_cast<std::byte*>(each.half.data) + from.first, own_segment(s), from.bytes);
    }
  }

  // --- Sums ---

  std::size_t summand_slot(int summand, std::size_t first) const {
    return depth_ * count(summand) + first / options_.segment_bytes % depth_;
  }
  std::byte* summand_segment(int summand, std::size_t first) const {
    return summands_.get() + summand_slot(summand, first) * options_.segment_bytes;
  }

  void begin_sum(std::span<flow const> flows) {
    summed_ = 0;
    to_sum_ = 0;
    summand_count_ = 0;
    for (flow const& each : flows) {
      if (each.summand < 0) continue;
      to_sum_ = each.half.bytes;
      ++summand_count_;
    }
    std::fill(arrived_.begin(), arrived_.end(), char{0});
  }

  template <class Sum>
  bool add(Sum& sum) {
    if (summed_ == to_sum_) return false;
    for (int i = 0; i < summand_count_; ++i)
      if (arrived_[summand_slot(i, summed_)] == 0) return false;
    std::size_t const left = to_sum_ - summed_;
    std::size_t const bytes = left < options_.segment_bytes ? left : options_.segment_bytes;
    sum(summed_, bytes, [this](int summand) -> void const* { return summand_segment(summand, summed_); });
    for (int i = 0; i < summand_count_; ++i) arrived_[summand_slot(i, summed_)] = 0;
    summed_ += bytes;
    return true;
  }

  // --- Where an operation stands ---

  bool finished(std::span<flow const> flows) const {
    if (summed_ != to_sum_) return false;
    for (flow const& each : flows)
      if (!each.finished()) return false;
    return true;
  }

  /// What the pace is reckoned by: receives, if there are any. Sends are done when the system has them, which is
  /// earlier than the wire.
  void choose_what_counts(std::span<flow const> flows) {
    count_sends_ = true;
    for (flow const& each : flows)
      if (!each.sends() && each.half.bytes > 0) count_sends_ = false;
  }

  std::size_t left_of(std::span<flow const> flows) const {
    std::size_t left = 0;
    for (flow const& each : flows)
      if (each.sends() == count_sends_) left += each.left();
    return left;
  }

  // --- Failures ---

  void succeed(int code, char const* call, int peer = -1) {
    if (code == MPI_SUCCESS) return;
    auto const failure = as_error(code, call, rank_, where_, peer);
    fail(failure);
  }

  void check_header(flow_header const& sent, flow const& each) {
    if (sent.bytes != each.half.bytes) fail_mismatch(each, sent.bytes);
    if (sent.operation == each.operation) return;
    bounded_text<240> text;
    text << "rank " << each.half.peer << " is at operation " << sent.operation << " of its schedule, rank "
         << rank_ << " at operation " << each.operation
         << "; make the same calls in the same order on every rank";
    fail(communication_error{text.view(), rank_, where_, each.half.peer});
  }

  [[noreturn]] void fail_mismatch(flow const& each, std::size_t sent) {
    bounded_text<240> text;
    text << "rank " << each.half.peer << " sends " << sent << " bytes, but rank " << rank_ << " receives "
         << each.half.bytes << " bytes; give both ranks the same shapes and the same policy";
    fail(communication_error{text.view(), rank_, where_, each.half.peer});
  }

  [[noreturn]] void fail_late(std::span<flow const> flows) {
    flow const* late = flows.data();
    for (flow const& candidate : flows) {
      if (candidate.finished()) continue;
      late = &candidate;
      if (!candidate.sends()) break;  // who sends nothing has not come; who takes nothing may only be slow
    }
    bounded_text<320> text;
    text << "waited " << options_.time_limit.count() << " ms for rank " << late->half.peer
         << (late->sends() ? " to receive " : " to send ") << late->half.bytes << " bytes (" << late->done
         << " came); look for the rank that did not call, or raise communicator_options::time_limit";
    fail(timeout_error{text.view(), rank_, where_, late->half.peer});
  }

  template <class Error>
  [[noreturn]] void fail(Error const& failure) {
    board_.abort(failure.what());
    release();
    raise(failure);
  }

  /// What MPI does not give back at once is kept until the end of the process.
  void release() {
    for (std::size_t s = sends_; s < requests_.size(); ++s) {
      if (requests_[s] == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&requests_[s]);
      int done = 0;
      MPI_Test(&requests_[s], &done, MPI_STATUS_IGNORE);
    }
  }

  MPI_Comm comm_;
  notice_board& board_;
  communicator_options options_;
  int rank_;
  call_site where_;
  clock::time_point looked_{};
  std::size_t sends_;  // the first requests, at least one for each peer, send; the others receive
  std::size_t depth_;  // segments of each summand that there is room for
  std::vector<MPI_Request> requests_;
  std::vector<slot> slots_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::unique_ptr<std::byte[]> segments_;  // one for each request
  std::unique_ptr<std::byte[]> summands_;  // `depth_` segments for each peer
  pace pace_;
  std::vector<char> arrived_;  // which of these are complete
  std::size_t summed_ = 0;
  std::size_t to_sum_ = 0;
  int summand_count_ = 0;
  bool count_sends_ = false;
  std::size_t send_turn_ = 0;
  std::size_t receive_turn_ = 0;
};

}  // namespace tpoverlap::inline v0::mpi::detail
