// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Communicators of the software device: a clique of ranks that meet in memory.
//!
//! Messages are rendezvous: a send is over when it was received. NCCL promises no buffering, so this is the strictest
//! behaviour that it may show. Peers do not learn that a rank has aborted; NCCL tells them at best late.
#pragma once

#include "stream.hpp"

#include <nccl.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace software_device {

enum class task_kind { send, receive, all_gather, reduce_scatter, all_reduce, broadcast, reduce };

/// One call of an NCCL communication function.
struct nccl_task {
  task_kind kind;
  void const* from;
  void* to;
  std::size_t count;
  ncclDataType_t type;
  ncclRedOp_t operation;
  int peer;  // or root

  [[nodiscard]] bool point_to_point() const { return kind == task_kind::send || kind == task_kind::receive; }
};

char const* name_of(task_kind kind);

/// A posted half of a message.
struct half_message {
  ncclComm* owner;
  void* data;
  std::size_t count;
  ncclDataType_t type;
  bool* delivered;
};

struct channel {
  std::deque<half_message> sends;
  std::deque<half_message> receives;
};

/// One collective, which all ranks come to.
struct collective_slot {
  std::vector<nccl_task const*> arrived;
  int arrivals = 0;
  int computed = 0;
  int left = 0;
  bool mismatch = false;
};

/// A blocking call of the host that all ranks make: split and window registration.
struct host_meeting {
  std::vector<std::pair<int, int>> said;
  int arrivals = 0;
  int left = 0;
  std::map<int, std::shared_ptr<struct clique>> made;  // by color
};

struct clique {
  explicit clique(int ranks) : members(static_cast<std::size_t>(ranks)) {}
  [[nodiscard]] int size() const { return static_cast<int>(members.size()); }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<ncclComm*> members;
  int joined = 0;
  std::map<std::pair<int, int>, channel> channels;       // (from, to)
  std::map<std::uint64_t, collective_slot> collectives;  // by number
  std::map<std::uint64_t, host_meeting> meetings;
};

}  // namespace software_device

struct ncclComm {
  std::shared_ptr<software_device::clique> group;
  int rank = 0;
  int device = 0;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  bool ready = false;  // guarded by the clique's mutex, as all below that is not atomic
  bool ended = false;  // aborted or destroyed
  bool finalized = false;
  std::atomic<bool> aborted{false};
  std::atomic<ncclResult_t> error{ncclSuccess};

  std::uint64_t issued = 0;  // operations: they run one after another, whatever their streams
  std::uint64_t done = 0;
  int running = 0;
  std::uint64_t collectives = 0;
  std::uint64_t meetings = 0;

  struct registered_range {
    std::uintptr_t begin;
    std::size_t bytes;
  };
  std::vector<std::unique_ptr<registered_range>> registered;
  std::atomic<std::uint64_t> unregistered{0};
};

namespace software_device {

/// Null and a finding if `comm` is no communicator, or not any more.
ncclComm* live(ncclComm_t comm);

/// Runs the tasks of one group on one communicator, in a stream's thread.
void run_tasks(ncclComm& comm, std::uint64_t ticket, std::vector<nccl_task> const& tasks);

/// While one lives, a host thread is inside a call that waits for other ranks. reset() lets them leave first.
class host_wait {
 public:
  host_wait();
  host_wait(host_wait const&) = delete;
  host_wait& operator=(host_wait const&) = delete;
  ~host_wait();
};

/// With the group's lock held: waits until `ready` holds; false if the communicator ended or the device is reset.
template <class Ready>
bool await(ncclComm& comm, std::unique_lock<std::mutex>& lock, Ready ready) {
  while (!ready()) {
    if (comm.aborted || ending()) return false;
    comm.group->changed.wait_for(lock, glance);
  }
  return true;
}

}  // namespace software_device
