// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What moves data between ranks. Only `exchange` is required; each collective is a capability of its own, and an
//! algorithm asks for what it uses.
#pragma once

#include <tpoverlap/concepts/backend.hpp>
#include <tpoverlap/core/element.hpp>
#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/message.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tpoverlap::inline v0 {

/// A group of ranks 0..P-1 with communication lanes. `lane(i)`, i >= 1, is a stream of the backend that belongs to
/// the communicator; the first call for an `i` may create it, later ones return the same stream. All ranks issue
/// the same operations to the same lanes in the same order.
///
/// **Ordering** every call below (except those named blocking) returns at once and runs in the order of its lane.
/// The spans are read before the call returns; the memory they point to belongs to the communicator until the
/// operation is done.
/// **Errors** a call that cannot be issued throws; one that fails later fails its lane, and everything that waits
/// for the lane.
template <class Communicator>
concept communicator = backend<typename Communicator::backend> &&
    requires(Communicator& comm, Communicator const& fixed, int lane, std::span<message const> messages,
             call_site where) {
  { fixed.rank() } -> std::convertible_to<int>;
  { fixed.size() } -> std::convertible_to<int>;
  { comm.lane(lane) } -> std::same_as<typename Communicator::backend::stream&>;
  comm.exchange(lane, messages, where);
};

/// `all_gather(lane, own, shards, type, where)`: `shards[r]` receives rank r's `own`. `own` may be `shards[rank].data`.
template <class Communicator>
concept has_all_gather = requires(Communicator& comm, int lane, void const* own,
                                  std::span<piece const> shards, element type, call_site where) {
  comm.all_gather(lane, own, shards, type, where);
};

/// `reduce_scatter(lane, partials, result, type, where)`: `result` receives the sum over ranks of their
/// `partials[rank]`, added in ring order: rank + 1, rank + 2, ..., and the rank's own last. `result` may be
/// `partials[rank].data`.
template <class Communicator>
concept has_reduce_scatter = requires(Communicator& comm, int lane, std::span<piece const> partials,
                                      void* result, element type, call_site where) {
  comm.reduce_scatter(lane, partials, result, type, where);
};

/// `all_reduce(lane, shards, type, where)`: in place, a reduce_scatter of `shards` followed by an all_gather.
template <class Communicator>
concept has_all_reduce = requires(Communicator& comm, int lane, std::span<piece const> shards, element type,
                                  call_site where) {
  comm.all_reduce(lane, shards, type, where);
};

/// `host_all_gather(mine, all)`: blocking, between host memories; `all` holds P times as many words as `mine`, in
/// rank order. Used once, when an object is built, to compare what the ranks believe.
template <class Communicator>
concept has_host_all_gather = requires(Communicator& comm, std::span<std::uint64_t const> mine,
                                       std::span<std::uint64_t> all) {
  comm.host_all_gather(mine, all);
};

/// `abort(reason)`: every rank's pending and later operations on this communicator end with an error.
template <class Communicator>
concept has_abort = requires(Communicator& comm, char const* reason) {
  comm.abort(reason);
};

/// `wait(stream)`: blocks until all that was issued to `stream` is done, or throws what went wrong, on time.
template <class Communicator>
concept has_bounded_wait = requires(Communicator& comm, typename Communicator::backend::stream& stream) {
  comm.wait(stream);
};

/// `drain()`: blocks until the lanes are done with all that was issued to them, within the time limit; never throws.
template <class Communicator>
concept has_drain = requires(Communicator& comm) {
  comm.drain();
};

/// `register_buffer(data, bytes)` and `deregister_buffer(data)`: tells the transport about memory it will move.
template <class Communicator>
concept has_registration = requires(Communicator& comm, void* data, std::size_t bytes) {
  comm.register_buffer(data, bytes);
  comm.deregister_buffer(data);
};

/// `check_memory(name, data)`: throws a `usage_error` if the rank cannot work on the memory at `data`, such as host memory
/// where a device is needed. `name` is what the error calls it. Asked before anything is launched, for operands that
/// have changed since the last call.
template <class Communicator>
concept has_memory_check = requires(Communicator const& comm, void const* data) {
  comm.check_memory("x", data);
};

}  // namespace tpoverlap::inline v0
