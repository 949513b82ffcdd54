// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Tells every rank that one has given up, and why.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <thread>

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/mpi/error.hpp>

namespace tpoverlap::inline v0::mpi::detail {

/// Notices travel on an MPI communicator of their own, which belongs to the board. A receive for one is posted all the
/// time; whoever waits for anything looks at it now and then.
class notice_board {
 public:
  notice_board(MPI_Comm own, int rank, int ranks) : comm_{own}, rank_{rank}, ranks_{ranks} {
    check(MPI_Irecv(incoming_.get(), capacity, MPI_CHAR, MPI_ANY_SOURCE, 0, comm_, &receive_), "MPI_Irecv",
          rank_);
  }

  notice_board(notice_board const&) = delete;
  notice_board& operator=(notice_board const&) = delete;

  /// Waits for all ranks to leave, so that nothing is sent to one that is gone: MPI would hand it to whatever gets the
  /// same context next. Where they do not come in time, or one has given up, the board is abandoned.
  void leave(std::chrono::milliseconds limit) noexcept {
    if (aborted()) return;
    MPI_Request all = MPI_REQUEST_NULL;
    if (MPI_Ibarrier(comm_, &all) != MPI_SUCCESS) return abandon();
    auto const deadline = std::chrono::steady_clock::now() + limit;
    for (std::chrono::microseconds pause{10};;) {
      int done = 0;
      if (MPI_Test(&all, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return abandon();
      if (done != 0 || look()) return;
      if (std::chrono::steady_clock::now() >= deadline) return abandon();
      std::this_thread::sleep_for(pause);
      if (pause.count() < 1000) pause *= 2;
    }
  }

  /// After `leave`.
  ~notice_board() {
    if (aborted()) {
      if (receive_ != MPI_REQUEST_NULL) (void)incoming_.release();  // another rank's notice may come yet
      return;
    }
    MPI_Cancel(&receive_);
    MPI_Wait(&receive_, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm_);
  }

  [[nodiscard]] bool aborted() const noexcept { return aborted_.load(); }

  /// As `aborted`, after a look at what has come. Also lets MPI work on whatever else is under way.
  bool look() {
    if (aborted()) return true;
    std::lock_guard lock{mutex_};
    if (aborted()) return true;
    int come = 0;
    MPI_Status status;
    if (int const code = MPI_Test(&receive_, &come, &status); code != MPI_SUCCESS) {
      keep(rank_, as_error(code, "MPI_Test", rank_).what());  // no notice can come any more
      return true;
    }
    if (come == 0) return false;
    int length = 0;
    MPI_Get_count(&status, MPI_CHAR, &length);
    keep(status.MPI_SOURCE, {incoming_.get(), static_cast<std::size_t>(length < 0 ? 0 : length)});
    return true;
  }

  /// Keeps the first reason, and sends it to everybody if it is this rank's.
  void abort(std::string_view reason) noexcept {
    std::lock_guard lock{mutex_};
    if (aborted()) return;
    constexpr std::string_view prefix = "tpoverlap: ";
    if (reason.starts_with(prefix)) reason.remove_prefix(prefix.size());
    keep(rank_, reason);
    // Nobody may be there to receive, so nobody waits for these; text and requests stay as long as the process.
    auto* const text = new (std::nothrow) bounded_text<capacity - 1>{text_view{reason}};
    auto* const requests = new (std::nothrow) MPI_Request[static_cast<std::size_t>(ranks_)];
    if (text == nullptr || requests == nullptr) return;
    int sent = 0;
    for (int peer = 0; peer < ranks_; ++peer) {
      if (peer == rank_) continue;
      if (MPI_Isend(text->c_str(), static_cast<int>(text->view().size), MPI_CHAR, peer, 0, comm_,
                    requests + sent) == MPI_SUCCESS)
        ++sent;
    }
    int done = 0;
    for (int attempt = 0; attempt < 100 && done == 0; ++attempt)
      MPI_Testall(sent, requests, &done, MPI_STATUSES_IGNORE);
  }

  /// Leaves everything to the end of the process: MPI has been finalized, or other ranks may still use what is theirs.
  void abandon() noexcept { aborted_.store(true); }

  [[noreturn]] void raise_aborted(call_site where = {}, int peer = -1) const {
    raise(aborted_error{reason_.view(), rank_, where, peer});
  }

 private:
  static constexpr int capacity = 400;

  void keep(int by, std::string_view reason) noexcept {
    reason_ << "aborted by rank " << by << ": " << reason;
    aborted_.store(true);
  }

  MPI_Comm comm_;
  int rank_;
  int ranks_;
  MPI_Request receive_ = MPI_REQUEST_NULL;
  std::unique_ptr<char[]> incoming_ = std::make_unique<char[]>(capacity);
  std::mutex mutex_;
  bounded_text<capacity + 32> reason_;  // written once, before `aborted_`
  std::atomic<bool> aborted_{false};
};

}  // namespace tpoverlap::inline v0::mpi::detail
