// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A communicator between processes: messages and collectives over MPI, on lanes that are threads of this process.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tpoverlap/concepts/communicator.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/host/backend.hpp>
#include <tpoverlap/host/detail/guarded.hpp>
#include <tpoverlap/host/detail/operand_checks.hpp>
#include <tpoverlap/host/detail/sum_pieces.hpp>
#include <tpoverlap/mpi/communicator_options.hpp>
#include <tpoverlap/mpi/detail/duplicate.hpp>
#include <tpoverlap/mpi/detail/lane_transport.hpp>
#include <tpoverlap/mpi/detail/notice_board.hpp>
#include <tpoverlap/mpi/error.hpp>

namespace tpoverlap::inline v0::mpi {

/// Two-sided messages and collectives between the processes of an MPI communicator, on the host backend.
///
/// **Ordering** a send is complete for its lane when MPI has the data; all transfers of one exchange progress together.
/// Results are those of `host::communicator`, bit for bit: a reduction adds `((p[r+1] + p[r+2]) + ...) + p[r]`.
/// Messages of any size. Use a communicator from one thread of its rank; MPI itself is called from its lanes.
/// **Errors** sizes or schedules that differ end in a `communication_error`, an operation in which nothing moves for
/// `time_limit` in a `timeout_error`, what MPI reports in an `mpi_error`. Each aborts the communicator: every other
/// rank's operations end with an `aborted_error`, and new ones are refused with it. By the time that `wait` or a
/// refused call throws, the lanes have let go of the caller's memory.
class communicator {
 public:
  using backend = host::backend;
  using stream = host::stream;

  /// Collective over `group`, which may be any intracommunicator, and which is duplicated: nothing sent here meets
  /// what the program itself sends. Destroy the communicator before MPI_Finalize.
  ///
  /// **Errors** `usage_error` if MPI is not running or was started below MPI_THREAD_MULTIPLE, if `group` is none, if an
  /// option cannot be, or if ranks pass different ones; `timeout_error` if a rank of the group does not come.
  explicit communicator(MPI_Comm group, communicator_options const& options = {})
      : options_{checked(group, options)},
        rank_{asked(MPI_Comm_rank, "MPI_Comm_rank", group)},
        size_{asked(MPI_Comm_size, "MPI_Comm_size", group)},
        board_{duplicate(group), rank_, size_} {
    transports_[0] = transport(group);
    compare_options();
    for (int i = 1; i <= options_.lanes; ++i) transports_[index_of(i)] = transport(group);
  }

  communicator(communicator const&) = delete;
  communicator& operator=(communicator const&) = delete;

  /// Finishes the lanes first, within the time limit of what was issued to them. Collective, unless aborted: waits for
  /// the other ranks to do the same, within the time limit. Where an exception passes, aborts instead.
  ~communicator() {
    int finalized = 0;
    bool const over = MPI_Finalized(&finalized) != MPI_SUCCESS || finalized != 0;
    if (!over && std::uncaught_exceptions() > exceptions_)
      board_.abort("an exception ends this rank's use of the communicator; look at what that rank reports");
    for (auto& each : lanes_) each.reset();
    over ? board_.abandon() : board_.leave(options_.time_limit);
  }

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] communicator_options const& options() const noexcept { return options_; }
  /// What a tuner keeps choices for. Which network it is, only the program knows: see `tuning::tag`.
  [[nodiscard]] std::string identity() const {
    char version[MPI_MAX_LIBRARY_VERSION_STRING]{};
    int length = 0;
    detail::check(MPI_Get_library_version(version, &length), "MPI_Get_library_version", rank_);
    std::string text{version};
    return "mpi, " + text.substr(0, text.find_first_of(",\n"));
  }
  [[nodiscard]] bool aborted() noexcept { return board_.look(); }

  /// Lane 1..`communicator_options::lanes`, a stream made at its first use.
  stream& lane(int index) {
    if (index < 1 || index > options_.lanes) {
      bounded_text<160> text;
      text << "there is no lane " << index << "; lanes are 1 to " << options_.lanes
           << ", as communicator_options::lanes says";
      raise(usage_error{text.view(), rank_});
    }
    auto& made = lanes_[index_of(index)];
    if (!made) {
      bounded_text<32> name;
      name << "rank " << rank_ << " lane " << index;
      made = std::make_unique<stream>(host::stream_options{
          .priority = options_.priority, .queue_bytes = options_.lane_queue_bytes, .name = name.view()});
    }
    return *made;
  }

  void exchange(int lane, std::span<message const> messages, call_site where = {}) {
    begin(where, "exchange");
    checks(where).messages(messages);
    issue(
        lane, messages.size(),
        [&](std::size_t index) {
          detail::flow made{.half = messages[index], .operation = where.index};
          for (std::size_t i = 0; i < index; ++i)
            if (messages[i].peer == made.half.peer && messages[i].way == made.half.way)
              made.after = static_cast<int>(i);
          return made;
        },
        [where](detail::lane_transport& through, std::span<detail::flow> flows) {
          through.run(flows, where, no_sum);
        });
  }

  /// Receives from rank + 1, rank + 2, ... while it sends to rank - 1, rank - 2, ...
  void all_gather(int lane, void const* own, std::span<piece const> shards, element type,
                  call_site where = {}) {
    begin(where, "all_gather");
    checks(where).pieces(shards);
    auto const mine = shards[index_of(rank_)];
    if (mine.elements > 0) checks(where).memory(own);
    auto const bytes = bytes_of(mine, type);
    issue(
        lane, 2 * (index_of(size_) - 1),
        [&](std::size_t index) {
          auto const step = static_cast<int>(index / 2) + 1;
          if (index % 2 == 0) return send_flow(before(step), own, bytes, where);
          auto const& shard = shards[index_of(after(step))];
          return receive_flow(after(step), shard.data, bytes_of(shard, type), where);
        },
        [own, to = mine.data, bytes, where](detail::lane_transport& through, std::span<detail::flow> flows) {
          if (bytes > 0 && to != own) std::memcpy(to, own, bytes);
          through.run(flows, where, no_sum);
        });
  }

  /// **Units** `type` is float64, float32, int32 or int64.
  void reduce_scatter(int lane, std::span<piece const> partials, void* result, element type,
                      call_site where = {}) {
    begin(where, "reduce_scatter");
    checks(where).pieces(partials);
    checks(where).summable(type);
    auto const mine = partials[index_of(rank_)];
    if (mine.elements > 0) checks(where).memory(result);
    auto const bytes = bytes_of(mine, type);
    issue(
        lane, 2 * (index_of(size_) - 1),
        [&](std::size_t index) {
          auto const step = static_cast<int>(index / 2) + 1;
          auto const& partial = partials[index_of(before(step))];
          if (index % 2 == 0) return send_flow(before(step), partial.data, bytes_of(partial, type), where);
          auto made = receive_flow(after(step), nullptr, bytes, where);
          made.summand = step - 1;
          return made;
        },
        [own = static_cast<std::byte const*>(mine.data), to = static_cast<std::byte*>(result), bytes, type,
         where](detail::lane_transport& through, std::span<detail::flow> flows) {
          if (flows.empty() && bytes > 0 && to != own) std::memcpy(to, own, bytes);
          auto const summands = static_cast<int>(flows.size() / 2);
          through.run(flows, where, [&](std::size_t first, std::size_t count, auto source) {
            host::detail::sum_pieces(summands, source, own + first, to + first,
                                     static_cast<std::int64_t>(count / size_of(type)), type);
          });
        });
  }

  /// In place: `reduce_scatter`, then `all_gather`.
  void all_reduce(int lane, std::span<piece const> shards, element type, call_site where = {}) {
    begin(where, "all_reduce");
    checks(where).pieces(shards);
    auto* const own = shards[index_of(rank_)].data;
    reduce_scatter(lane, shards, own, type, where);
    all_gather(lane, own, shards, type, where);
  }

  /// Blocking. Sizes that differ end in a `communication_error` on all ranks, and the communicator stays usable.
  void host_all_gather(std::span<std::uint64_t const> mine, std::span<std::uint64_t> all) {
    constexpr call_site where{.operation = "host_all_gather"};
    refuse_after_abort(where);
    if (all.size() != mine.size() * index_of(size_))
      raise(usage_error{"host_all_gather needs room for the words of every rank", rank_, where});
    std::uint64_t const words = mine.size();
    std::vector<std::uint64_t> sizes(index_of(size_));
    gather_words({&words, 1}, sizes, where);
    for (int r = 0; r < size_; ++r) {
      if (sizes[index_of(r)] == sizes[0]) continue;
      bounded_text<160> text;
      text << "rank 0 passes " << sizes[0] << " words and rank " << r << " passes " << sizes[index_of(r)]
           << "; the ranks were built differently";
      raise(communication_error{text.view(), rank_, where, r});
    }
    gather_words(mine, all, where);
  }

  /// Ends every rank's pending and later operations.
  void abort(char const* reason) { board_.abort(text_view{reason}); }

  /// Waits until all that was issued to `stream` is done, then throws what went wrong, if anything did. After an abort,
  /// here or elsewhere, it waits no longer than `time_limit` for tasks of the caller's own.
  void wait(stream& in) {
    constexpr std::chrono::milliseconds glance{20};  // at whether a rank has given up
    auto const failure = host::detail::guarded([&] {
      while (!board_.look())
        if (in.synchronize_until(detail::clock::now() + glance)) return;
      (void)in.synchronize_until(detail::clock::now() + options_.time_limit);
    });
    if (failure) {
      if (board_.aborted()) drain();
      std::rethrow_exception(failure);
    }
    refuse_after_abort({.operation = "wait"});
  }

  /// Waits until the lanes are idle, at most `time_limit` each, and throws nothing.
  void drain() noexcept {
    for (auto& each : lanes_) {
      auto const limit = detail::clock::now() + options_.time_limit;
      if (each) (void)host::detail::guarded([&] { (void)each->synchronize_until(limit); });
    }
  }

 private:
  static constexpr auto no_sum = [](std::size_t, std::size_t, auto) {};

  static std::size_t index_of(int rank) noexcept { return static_cast<std::size_t>(rank); }
  [[nodiscard]] int after(int step) const noexcept { return (rank_ + step) % size_; }
  [[nodiscard]] int before(int step) const noexcept { return (rank_ + size_ - step) % size_; }
  static std::size_t bytes_of(piece const& part, element type) noexcept {
    return static_cast<std::size_t>(part.elements) * size_of(type);
  }

  static detail::flow send_flow(int peer, void const* data, std::size_t bytes, call_site where) {
    return {.half = {message::direction::send, peer, const_cast<void*>(data), bytes},
            .operation = where.index};
  }
  static detail::flow receive_flow(int peer, void* data, std::size_t bytes, call_site where) {
    return {.half = {message::direction::receive, peer, data, bytes}, .operation = where.index};
  }

  static communicator_options const& checked(MPI_Comm group, communicator_options const& options) {
    detail::require_running_mpi();
    detail::require_intracommunicator(group);
    detail::require_possible(options);
    return options;
  }

  static int asked(int (*question)(MPI_Comm, int*), char const* call, MPI_Comm group) {
    int answer = 0;
    detail::check(question(group, &answer), call);
    return answer;
  }

  MPI_Comm duplicate(MPI_Comm group) const { return detail::duplicate(group, rank_, options_.time_limit); }

  std::unique_ptr<detail::lane_transport> transport(MPI_Comm group) {
    return std::make_unique<detail::lane_transport>(duplicate(group), board_, options_, rank_, size_);
  }

  void compare_options() {
    std::uint64_t const mine[]{options_.segment_bytes, static_cast<std::uint64_t>(options_.lanes)};
    constexpr char const* names[]{"segment_bytes", "lanes"};
    std::vector<std::uint64_t> all(2 * index_of(size_));
    gather_words(mine, all, {.operation = "communicator"});
    for (int r = 1; r < size_; ++r) {
      for (std::size_t i = 0; i < 2; ++i) {
        if (all[2 * index_of(r) + i] == all[i]) continue;
        bounded_text<200> text;
        text << "communicator_options::" << names[i] << " is " << all[i] << " on rank 0 and "
             << all[2 * index_of(r) + i] << " on rank " << r << "; pass the same options on every rank";
        raise(usage_error{text.view(), rank_, {}, r});
      }
    }
  }

  void gather_words(std::span<std::uint64_t const> mine, std::span<std::uint64_t> all, call_site where) {
    auto const bytes = mine.size() * sizeof(std::uint64_t);
    std::vector<detail::flow> flows;
    flows.reserve(2 * index_of(size_));
    for (int step = 1; step < size_; ++step) {
      flows.push_back(send_flow(before(step), mine.data(), bytes, where));
      flows.push_back(
          receive_flow(after(step), all.data() + index_of(after(step)) * mine.size(), bytes, where));
    }
    if (bytes > 0) std::memcpy(all.data() + index_of(rank_) * mine.size(), mine.data(), bytes);
    transports_[0]->run(flows, where, no_sum);
  }

  void refuse_after_abort(call_site where) {
    if (!board_.look()) return;
    drain();  // the caller is about to lose the memory of what it issued before
    board_.raise_aborted(where);
  }

  [[nodiscard]] host::detail::operand_checks checks(call_site where) const { return {rank_, size_, where}; }

  void begin(call_site& where, char const* operation) {
    if (where.operation[0] == '\0') where.operation = operation;
    refuse_after_abort(where);
  }

  template <class Fill, class Task>
  void issue(int index, std::size_t count, Fill fill, Task task) {
    lane(index).enqueue_filled<detail::flow>(
        count, fill, [through = transports_[index_of(index)].get(), task](std::span<detail::flow> flows) {
          task(*through, flows);
        });
  }

  communicator_options options_;
  int exceptions_ = std::uncaught_exceptions();
  int rank_;
  int size_;
  detail::notice_board board_;
  std::array<std::unique_ptr<detail::lane_transport>, 8> transports_;  // of lane 0: host_all_gather
  std::array<std::unique_ptr<stream>, 8> lanes_;
};

static_assert(tpoverlap::communicator<communicator>);
static_assert(has_all_gather<communicator> && has_reduce_scatter<communicator> &&
              has_all_reduce<communicator>);
static_assert(has_host_all_gather<communicator> && has_abort<communicator> &&
              has_bounded_wait<communicator> && has_drain<communicator>);

}  // namespace tpoverlap::inline v0::mpi
