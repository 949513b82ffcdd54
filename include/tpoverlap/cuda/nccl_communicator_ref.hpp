// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A communicator over an ncclComm_t that somebody else owns.
#pragma once

#include <tpoverlap/concepts/communicator.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/cuda/backend.hpp>
#include <tpoverlap/cuda/detail/device_words.hpp>
#include <tpoverlap/cuda/detail/nccl_core.hpp>
#include <tpoverlap/cuda/detail/nccl_pieces.hpp>
#include <tpoverlap/cuda/detail/nccl_registry.hpp>
#include <tpoverlap/cuda/nccl_options.hpp>

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace tpoverlap::inline v0::cu {

/// Two-sided messages and collectives of NCCL, in lanes of its own.
///
/// **Ordering** NCCL runs the operations of one communicator in the order of issue, whatever their lanes. An exchange is
/// one group, so that all its messages progress together. A call returns when its work is queued; the first one to a
/// peer also connects to it, within the time limit. Use a communicator from its rank's thread only.
/// **Accuracy** NCCL adds in an order of its own, which depends on its algorithm, the topology and the size, not on
/// timing: the same call gives the same bits on the same machines. 16-bit types are added in their own precision;
/// rings and `direct` add in float32 and in the order that their policy says.
/// **Errors** `usage_error` before anything is issued. What fails later is thrown by `wait`: `nccl_error`,
/// `timeout_error`, `cuda_error`. Each aborts this rank's communicator: it is ended by ncclCommAbort, its owner must not
/// destroy it again, and later calls are refused with `aborted_error`.
class nccl_communicator_ref {
 public:
  using backend = cu::backend;

  explicit nccl_communicator_ref(ncclComm_t comm, nccl_options const& options = {}) : core_{comm, options} {}
  nccl_communicator_ref(nccl_communicator_ref const&) = delete;
  nccl_communicator_ref& operator=(nccl_communicator_ref const&) = delete;

  /// Finishes the lanes first, within the time limit.
  ~nccl_communicator_ref() { core_.drain(); }

  [[nodiscard]] int rank() const noexcept { return core_.rank(); }
  [[nodiscard]] int size() const noexcept { return core_.size(); }
  [[nodiscard]] int device() const noexcept { return core_.device(); }
  [[nodiscard]] nccl_options const& options() const noexcept { return core_.options(); }
  [[nodiscard]] bool aborted() const noexcept { return core_.aborted(); }
  [[nodiscard]] ncclComm_t handle() const noexcept { return core_.handle(); }  ///< null after an abort

  /// Lane 1..7, a stream of high priority made at its first use.
  stream_ref& lane(int index) { return core_.lane(index); }

  void exchange(int lane, std::span<message const> messages, call_site where = {}) {
    bool empty = true;
    begin(where, "exchange");
    for (auto const& each : messages) {
      if (each.peer < 0 || each.peer >= size()) raise(usage_error{"no such peer", rank(), where, each.peer});
      check_moved(each.data, each.bytes, where);
      empty = empty && each.bytes == 0;
    }
    if (empty) return;
    group(lane, where, [&](ncclComm_t comm, cudaStream_t in, auto const& call) {
      for (auto const& each : messages) {
        if (each.bytes == 0) continue;
        if (each.way == message::direction::send) {
          call(ncclSend(each.data, each.bytes, ncclInt8, each.peer, comm, in), "ncclSend");
        } else {
          call(ncclRecv(each.data, each.bytes, ncclInt8, each.peer, comm, in), "ncclRecv");
        }
      }
    });
  }

  /// One ncclAllGather where shards have one size and lie side by side, otherwise one group with a broadcast a shard.
  void all_gather(int lane, void const* own, std::span<piece const> shards, element type,
                  call_site where = {}) {
    begin(where, "all_gather");
    check_pieces(shards, type, where);
    piece const mine = shards[index_of(rank())];
    check_moved(own, bytes_of(mine, type), where);
    if (detail::total_elements(shards) == 0) return;
    ncclDataType_t const as = detail::nccl_type_of(type);
    if (detail::of_one_size(shards) && detail::lie_together(shards, type)) {
      return single(lane, where, "ncclAllGather", [&](ncclComm_t comm, cudaStream_t in) {
        return ncclAllGather(own, shards[0].data, count_of(mine), as, comm, in);
      });
    }
    group(lane, where, [&](ncclComm_t comm, cudaStream_t in, auto const& call) {
      for (int r = 0; r < size(); ++r) {
        piece const& each = shards[index_of(r)];
        if (each.elements == 0) continue;
        call(ncclBroadcast(r == rank() ? own : each.data, each.data, count_of(each), as, r, comm, in),
             "ncclBroadcast");
      }
    });
  }

  /// One ncclReduceScatter where shards have one size and lie side by side, otherwise one group with a reduction a
  /// shard. **Units** any type but fp8.
  void reduce_scatter(int lane, std::span<piece const> partials, void* result, element type,
                      call_site where = {}) {
    begin(where, "reduce_scatter");
    check_pieces(partials, type, where);
    check_sum(type, where);
    piece const mine = partials[index_of(rank())];
    check_moved(result, bytes_of(mine, type), where);
    if (detail::total_elements(partials) == 0) return;
    ncclDataType_t const as = detail::nccl_type_of(type);
    if (detail::of_one_size(partials) && detail::lie_together(partials, type)) {
      return single(lane, where, "ncclReduceScatter", [&](ncclComm_t comm, cudaStream_t in) {
        return ncclReduceScatter(partials[0].data, result, count_of(mine), as, ncclSum, comm, in);
      });
    }
    group(lane, where, [&](ncclComm_t comm, cudaStream_t in, auto const& call) {
      for (int r = 0; r < size(); ++r) {
        piece const& each = partials[index_of(r)];
        if (each.elements == 0) continue;
        void* const to = r == rank() ? result : nullptr;
        call(ncclReduce(each.data, to, count_of(each), as, ncclSum, r, comm, in), "ncclReduce");
      }
    });
  }

  /// In place; one ncclAllReduce where the shards lie side by side, otherwise one group. **Units** any type but fp8.
  void all_reduce(int lane, std::span<piece const> shards, element type, call_site where = {}) {
    begin(where, "all_reduce");
    check_pieces(shards, type, where);
    check_sum(type, where);
    std::int64_t const total = detail::total_elements(shards);
    if (total == 0) return;
    ncclDataType_t const as = detail::nccl_type_of(type);
    if (detail::lie_together(shards, type)) {
      void* const all = detail::first_data(shards);
      return single(lane, where, "ncclAllReduce", [&](ncclComm_t comm, cudaStream_t in) {
        return ncclAllReduce(all, all, static_cast<std::size_t>(total), as, ncclSum, comm, in);
      });
    }
    group(lane, where, [&](ncclComm_t comm, cudaStream_t in, auto const& call) {
      for (auto const& each : shards) {
        if (each.elements == 0) continue;
        call(ncclAllReduce(each.data, each.data, count_of(each), as, ncclSum, comm, in), "ncclAllReduce");
      }
    });
  }

  /// Blocking. Numbers of words that differ between ranks end in a `communication_error` on all of them, and the
  /// communicator stays usable. The first call allocates a little device memory, for good.
  void host_all_gather(std::span<std::uint64_t const> mine, std::span<std::uint64_t> all) {
    call_site const where{.operation = "host_all_gather"};
    core_.refuse_after_abort(where);
    auto const ranks = index_of(size());
    if (all.size() != mine.size() * ranks)
      raise(usage_error{"host_all_gather needs room for the words of every rank", rank(), where});
    std::uint64_t const count = mine.size();
    std::uint64_t const* const counts = gather_words({&count, 1}, where);
    for (std::size_t r = 0; r < ranks; ++r) {
      if (counts[r] == counts[0]) continue;
      bounded_text<160> what;
      what << "rank 0 passes " << counts[0] << " words and rank " << r << " passes " << counts[r]
           << "; the ranks were built differently";
      raise(communication_error{what.view(), rank(), where, static_cast<int>(r)});
    }
    for (std::size_t done = 0; done < mine.size();) {
      std::size_t const left = mine.size() - done;
      std::size_t const now = left < detail::device_words::most ? left : detail::device_words::most;
      std::uint64_t const* const got = gather_words(mine.subspan(done, now), where);
      for (std::size_t r = 0; r < ranks; ++r)
        for (std::size_t i = 0; i < now; ++i) all[r * mine.size() + done + i] = got[r * now + i];
      done += now;
    }
  }

  /// Ends this rank's pending and later operations. Other ranks notice by NCCL's errors or by their time limits.
  void abort(char const* reason) { core_.end(reason); }

  /// Throws the `aborted_error` of an aborted communicator.
  void refuse_after_abort(call_site where = {}) const { core_.refuse_after_abort(where); }

  /// Blocks until all that was issued to `in` is done, or throws what went wrong. Polls the stream and NCCL's
  /// asynchronous error; never waits for longer than the time limit.
  void wait(stream_ref in) { core_.await(in, {.operation = "wait"}); }

  /// Waits until the lanes are idle and throws nothing. Lanes that do not become idle within the time limit are ended by
  /// an abort, so that memory that was handed to an operation may be freed after this in any case.
  void drain() noexcept { core_.drain(); }

  /// Tells NCCL about memory that it will move, as `nccl_options::registration` says; symmetric registration is
  /// collective. Deregister the memory before it is freed.
  void register_buffer(void* data, std::size_t bytes) { registry_.add(core_, data, bytes); }
  void deregister_buffer(void* data) noexcept { registry_.remove(core_, data); }

  /// Refuses memory that the device of this rank cannot work on; `name` is for the error.
  void check_memory(char const* name, void const* data) const {
    cudaPointerAttributes found{};
    detail::check(cudaPointerGetAttributes(&found, data), "cudaPointerGetAttributes", rank());
    if (found.type == cudaMemoryTypeManaged) return;
    if (found.type == cudaMemoryTypeDevice && found.device == device()) return;
    bounded_text<240> what;
    what << name << " lies in ";
    if (found.type == cudaMemoryTypeDevice) {
      what << "memory of device " << found.device << ", but this rank works on device " << device()
           << "; allocate it there";
    } else {
      what << "host memory; copy it to memory of device " << device() << " first";
    }
    raise(usage_error{what.view(), rank()});
  }

 private:
  static std::size_t index_of(int rank) noexcept { return static_cast<std::size_t>(rank); }
  static std::size_t count_of(piece const& part) noexcept { return static_cast<std::size_t>(part.elements); }
  static std::size_t bytes_of(piece const& part, element type) noexcept {
    return count_of(part) * size_of(type);
  }

  void begin(call_site& where, char const* operation) const {
    if (where.operation[0] == '\0') where.operation = operation;
    core_.refuse_after_abort(where);
  }

  void check_moved(void const* data, std::size_t bytes, call_site where) const {
    if (data == nullptr && bytes > 0)
      raise(usage_error{"a message that is not empty needs memory", rank(), where});
    if (options().require_registered) registry_.require(core_, data, bytes, where);
  }

  void check_pieces(std::span<piece const> pieces, element type, call_site where) const {
    if (pieces.size() != index_of(size()))
      raise(usage_error{"a collective needs one piece a rank", rank(), where});
    for (auto const& each : pieces) {
      if (each.elements < 0) raise(usage_error{"a piece has a negative size", rank(), where});
      check_moved(each.data, bytes_of(each, type), where);
    }
  }

  void check_sum(element type, call_site where) const {
    if (!is_float8(type)) return;
    raise(usage_error{"NCCL is not asked to add fp8, which would lose most bits; reduce in float32 "
                      "(reduction_type::float32), or let the GEMM write a 16-bit type",
                      rank(), where});
  }

  /// A collective of one call.
  template <class Call>
  void single(int index, call_site where, char const* name, Call call) {
    stream_ref const in = lane(index);
    core_.note(index, where);
    device_guard const on{device()};
    core_.settle(core_.blocking([&] { return call(core_.handle(), in.handle()); }), name, where);
  }

  /// Several calls as one group, which has to be closed whatever happens.
  template <class Fill>
  void group(int index, call_site where, Fill fill) {
    stream_ref const in = lane(index);
    core_.note(index, where);
    device_guard const on{device()};
    core_.settle(ncclGroupStart(), "ncclGroupStart", where);
    ncclResult_t failed = ncclSuccess;
    char const* failed_call = "";
    fill(core_.handle(), in.handle(), [&](ncclResult_t code, char const* name) {
      if (failed != ncclSuccess || code == ncclSuccess || code == ncclInProgress) return;
      failed = code;
      failed_call = name;
    });
    ncclResult_t const ended = core_.blocking([] { return ncclGroupEnd(); });
    if (failed != ncclSuccess) core_.fail(failed, failed_call, where);
    core_.settle(ended, "ncclGroupEnd", where);
  }

  /// Every rank's words, in rank order, until the next call.
  std::uint64_t const* gather_words(std::span<std::uint64_t const> mine, call_site where) {
    auto const ranks = index_of(size());
    if (!words_) words_ = std::make_unique<detail::device_words>(device(), ranks);
    stream_ref const in = lane(1);
    words_->put(mine, index_of(rank()), in);
    std::uint64_t* const all = words_->data();
    single(1, where, "ncclAllGather", [&](ncclComm_t comm, cudaStream_t on) {
      return ncclAllGather(all + index_of(rank()) * mine.size(), all, mine.size(), ncclUint64, comm, on);
    });
    core_.await(in, where);  // a copy to pageable memory would wait without a bound
    words_->fetch(mine.size() * ranks, in);
    core_.await(in, where);
    return words_->host();
  }

  detail::nccl_core core_;
  detail::nccl_registry registry_;
  std::unique_ptr<detail::device_words> words_;
};

static_assert(tpoverlap::communicator<nccl_communicator_ref>);
static_assert(has_all_gather<nccl_communicator_ref> && has_reduce_scatter<nccl_communicator_ref> &&
              has_all_reduce<nccl_communicator_ref>);
static_assert(has_host_all_gather<nccl_communicator_ref> && has_abort<nccl_communicator_ref> &&
              has_bounded_wait<nccl_communicator_ref> && has_drain<nccl_communicator_ref> &&
              has_registration<nccl_communicator_ref> && has_memory_check<nccl_communicator_ref>);

}  // namespace tpoverlap::inline v0::cu
