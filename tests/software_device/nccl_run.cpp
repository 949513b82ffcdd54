// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What NCCL does on the device: messages that meet, collectives, and how they fail.
#include "memory.hpp"
#include "nccl_comm.hpp"
#include "numeric.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace software_device {
namespace {

struct communicator_fault {
  std::uint64_t remaining;
  ncclResult_t code;
};

struct fault_table {
  std::mutex mutex;
  std::vector<communicator_fault> by_device[most_devices];
  std::atomic<bool> armed{false};
};

fault_table& faults() {
  static auto& here = *new fault_table;
  return here;
}

/// Whether this operation is the one to fail, and how.
bool injected(int device, ncclResult_t& code) {
  if (!faults().armed) return false;
  std::lock_guard lock{faults().mutex};
  auto hit = false;
  for (auto& each : faults().by_device[device]) {
    if (each.remaining == 0 || --each.remaining > 0) continue;
    code = each.code;
    hit = true;
  }
  return hit;
}

void set_error(ncclComm& comm, ncclResult_t code) {
  auto none = ncclSuccess;
  comm.error.compare_exchange_strong(none, code);
}

/// Never comes back before the communicator is aborted.
void hang(ncclComm& comm, std::unique_lock<std::mutex>& lock) {
  (void)await(comm, lock, [] { return false; });
}

template <class T>
T combined(ncclRedOp_t operation, T a, T b) {
  auto const x = widened(a);
  auto const y = widened(b);
  switch (operation) {
    case ncclProd: return narrowed<T>(static_cast<wide<T>>(x * y));
    case ncclMax: return narrowed<T>(x < y ? y : x);
    case ncclMin: return narrowed<T>(y < x ? y : x);
    default: return narrowed<T>(static_cast<wide<T>>(x + y));
  }
}

/// `to[i]` from element `first + i` of every rank's source, added in ring order so that `owner` comes last. NCCL
/// promises no order; this is one that it uses.
void reduce_elements(collective_slot const& slot, int owner, std::size_t first, std::size_t count,
                     std::byte* to) {
  auto const& any = *slot.arrived.front();
  auto const ranks = slot.arrived.size();
  with_type(any.type, [&](auto value) {
    using element = decltype(value);
    for (std::size_t i = 0; i < count; ++i) {
      element sum{};
      for (std::size_t step = 1; step <= ranks; ++step) {
        auto const& part = *slot.arrived[(static_cast<std::size_t>(owner) + step) % ranks];
        element term;
        std::memcpy(&term, static_cast<std::byte const*>(alias_of(part.from)) + (first + i) * sizeof term,
                    sizeof term);
        sum = step == 1 ? term : combined(any.operation, sum, term);
      }
      if (any.operation == ncclAvg)
        sum = narrowed<element>(static_cast<wide<element>>(widened(sum) / static_cast<wide<element>>(ranks)));
      std::memcpy(to + i * sizeof sum, &sum, sizeof sum);
    }
  });
}

std::vector<std::byte> result_of(collective_slot const& slot, int rank) {
  auto const& mine = *slot.arrived[static_cast<std::size_t>(rank)];
  auto const ranks = slot.arrived.size();
  auto const bytes = mine.count * bytes_of(mine.type);
  auto const source = [&](std::size_t r) {
    return static_cast<std::byte const*>(alias_of(slot.arrived[r]->from));
  };
  std::vector<std::byte> result;
  switch (mine.kind) {
    case task_kind::all_gather:
      for (std::size_t r = 0; r < ranks; ++r) result.insert(result.end(), source(r), source(r) + bytes);
      break;
    case task_kind::broadcast: {
      auto const root = static_cast<std::size_t>(mine.peer);
      result.assign(source(root), source(root) + bytes);
      break;
    }
    case task_kind::reduce:
      if (rank != mine.peer) break;
      result.resize(bytes);
      reduce_elements(slot, rank, 0, mine.count, result.data());
      break;
    case task_kind::reduce_scatter:
      result.resize(bytes);
      reduce_elements(slot, rank, mine.count * static_cast<std::size_t>(rank), mine.count, result.data());
      break;
    default:  // all_reduce: each rank owns a part, as if it were scattered first
      result.resize(bytes);
      for (std::size_t r = 0; r < ranks; ++r) {
        auto const first = mine.count * r / ranks;
        auto const last = mine.count * (r + 1) / ranks;
        reduce_elements(slot, static_cast<int>(r), first, last - first,
                        result.data() + first * bytes_of(mine.type));
      }
  }
  return result;
}

bool alike(nccl_task const& a, nccl_task const& b) {
  auto const reduces =
      a.kind == task_kind::reduce || a.kind == task_kind::reduce_scatter || a.kind == task_kind::all_reduce;
  auto const rooted = a.kind == task_kind::reduce || a.kind == task_kind::broadcast;
  return a.kind == b.kind && a.count == b.count && a.type == b.type &&
         (!reduces || a.operation == b.operation) && (!rooted || a.peer == b.peer);
}

/// False when the communicator ended before the others came.
bool run_collective(ncclComm& comm, nccl_task const& task, std::unique_lock<std::mutex>& lock) {
  auto& group = *comm.group;
  auto const number = comm.collectives++;
  auto& slot = group.collectives[number];
  if (slot.arrived.empty()) slot.arrived.resize(group.members.size());
  auto& mine = slot.arrived[static_cast<std::size_t>(comm.rank)];
  mine = &task;
  if (++slot.arrivals == group.size()) {
    for (auto const* const each : slot.arrived)
      if (!alike(*each, *slot.arrived.front())) slot.mismatch = true;
    if (slot.mismatch) {
      add_finding(
          std::string{"ranks of a communicator call different collectives, or with different counts: "} +
          name_of(slot.arrived.front()->kind) + " meets " + name_of(task.kind));
      for (auto* const each : group.members) set_error(*each, ncclInvalidUsage);
    }
    group.changed.notify_all();
  }
  if (!await(comm, lock, [&] { return slot.arrivals == group.size() && !slot.mismatch; })) {
    if (slot.arrivals < group.size()) {
      --slot.arrivals;
      mine = nullptr;
    }
    return false;
  }
  lock.unlock();
  auto const result = result_of(slot, comm.rank);
  lock.lock();
  ++slot.computed;
  group.changed.notify_all();
  // Nobody's memory changes before everyone has read.
  if (!await(comm, lock, [&] { return slot.computed == group.size(); })) return false;
  if (!result.empty()) std::memcpy(alias_of(task.to), result.data(), result.size());
  if (++slot.left == group.size()) group.collectives.erase(number);
  return true;
}

void deliver(clique& group, int from, int to) {
  auto& way = group.channels[{from, to}];
  while (!way.sends.empty() && !way.receives.empty()) {
    auto const& send = way.sends.front();
    auto const& receive = way.receives.front();
    if (send.count != receive.count || send.type != receive.type) {
      if (send.owner->error == ncclSuccess)
        add_finding("rank " + std::to_string(from) + " sends " + std::to_string(send.count) +
                    " elements where rank " + std::to_string(to) + " receives " +
                    std::to_string(receive.count) + (send.type == receive.type ? "" : " of another type"));
      set_error(*send.owner, ncclInvalidUsage);
      set_error(*receive.owner, ncclInvalidUsage);
      return;
    }
    auto const bytes = send.count * bytes_of(send.type);
    if (bytes > 0) std::memmove(alias_of(receive.data), alias_of(send.data), bytes);
    *send.delivered = *receive.delivered = true;
    way.sends.pop_front();
    way.receives.pop_front();
  }
}

void withdraw(clique& group, ncclComm const& comm) {
  for (auto& [ends, way] : group.channels) {
    std::erase_if(way.sends, [&](auto const& each) { return each.owner == &comm; });
    std::erase_if(way.receives, [&](auto const& each) { return each.owner == &comm; });
  }
}

}  // namespace

char const* name_of(task_kind kind) {
  constexpr std::array names{"ncclSend",      "ncclRecv",      "ncclAllGather", "ncclReduceScatter",
                             "ncclAllReduce", "ncclBroadcast", "ncclReduce"};
  return names[static_cast<std::size_t>(kind)];
}

void fail_communicator(int device, std::uint64_t kth, ncclResult_t code) {
  std::lock_guard lock{faults().mutex};
  faults().by_device[device].push_back({kth, code});
  faults().armed = true;
}

void forget_communicator_faults();
void forget_communicator_faults() {
  std::lock_guard lock{faults().mutex};
  for (auto& each : faults().by_device) each.clear();
  faults().armed = false;
}

void run_tasks(ncclComm& comm, std::uint64_t ticket, std::vector<nccl_task> const& tasks) {
  auto& group = *comm.group;
  std::unique_lock lock{group.mutex};
  if (!await(comm, lock, [&] { return comm.done == ticket; })) return;
  ++comm.running;
  if (auto code = ncclSuccess; injected(comm.device, code)) {
    if (code != ncclSuccess) set_error(comm, code);
    hang(comm, lock);
  }
  std::unique_ptr<bool[]> delivered{new bool[tasks.size()]{}};
  for (std::size_t i = 0; i < tasks.size() && !comm.aborted; ++i) {
    auto const& task = tasks[i];
    if (!task.point_to_point()) continue;
    auto const sends = task.kind == task_kind::send;
    auto const from = sends ? comm.rank : task.peer;
    auto const to = sends ? task.peer : comm.rank;
    auto& way = group.channels[{from, to}];
    (sends ? way.sends : way.receives)
        .push_back(
            {&comm, sends ? const_cast<void*>(task.from) : task.to, task.count, task.type, &delivered[i]});
    deliver(group, from, to);
  }
  group.changed.notify_all();
  auto going = !comm.aborted;
  for (auto const& task : tasks)
    if (going && !task.point_to_point()) going = run_collective(comm, task, lock);
  if (going)
    going = await(comm, lock, [&] {
      for (std::size_t i = 0; i < tasks.size(); ++i)
        if (tasks[i].point_to_point() && !delivered[i]) return false;
      return true;
    });
  if (!going) withdraw(group, comm);
  ++comm.done;
  --comm.running;
  lock.unlock();
  group.changed.notify_all();
}

}  // namespace software_device
