// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Exported: making, splitting, registering with, and ending NCCL communicators.
#include "nccl_comm.hpp"

#include "api_call.hpp"
#include "capture.hpp"
#include "memory.hpp"
#include "nccl_group.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace software_device {
namespace {

constexpr std::size_t granularity = std::size_t{64} << 10;  // of ncclMemAlloc

struct registry {
  std::mutex mutex;
  std::uint64_t next_id = 1;
  std::map<std::uint64_t, std::shared_ptr<clique>> forming;  // by unique id
  std::set<std::uint64_t> ids;
  std::set<ncclComm*> made;
  int version = 0;
};

registry& registered() {
  static auto& here = *new registry;
  return here;
}

std::atomic<int> host_waits{0};

constexpr char id_mark[] = "software device";

std::uint64_t number_of(ncclUniqueId const& id) {
  if (std::memcmp(id.internal, id_mark, sizeof id_mark) != 0) return 0;
  std::uint64_t number = 0;
  std::memcpy(&number, id.internal + sizeof id_mark, sizeof number);
  return number;
}

bool is_valid(ncclConfig_t const& config) {
  auto const unset = [](int value) { return value == NCCL_CONFIG_UNDEF_INT; };
  ncclConfig_t const fresh = NCCL_CONFIG_INITIALIZER;
  if (config.magic != fresh.magic || config.size != fresh.size || config.version != fresh.version)
    return false;
  if (!unset(config.blocking) && config.blocking != 0 && config.blocking != 1) return false;
  if (!unset(config.minCTAs) && config.minCTAs <= 0) return false;
  if (!unset(config.maxCTAs) && config.maxCTAs <= 0) return false;
  if (!unset(config.minCTAs) && !unset(config.maxCTAs) && config.minCTAs > config.maxCTAs) return false;
  return unset(config.CTAPolicy) || (config.CTAPolicy >= 0 && config.CTAPolicy <= NCCL_CTA_POLICY_ZERO);
}

ncclComm* add_member(std::shared_ptr<clique> const& group, int rank, ncclConfig_t const* config) {
  auto* const made = new ncclComm;
  made->group = group;
  made->rank = rank;
  made->device = this_thread().device;
  if (config != nullptr) made->config = *config;
  std::lock_guard lock{registered().mutex};
  registered().made.insert(made);
  return made;
}

/// Waits for the other ranks; they, too, learn when two ranks have one device.
ncclResult_t meet_members(ncclComm& comm) {
  host_wait const inside;
  auto& group = *comm.group;
  std::unique_lock lock{group.mutex};
  if (!await(comm, lock, [&] { return group.joined == group.size(); })) return ncclSystemError;
  std::set<int> devices;
  for (auto const* const each : group.members) devices.insert(each->device);
  comm.ready = true;
  return static_cast<int>(devices.size()) == group.size() ? ncclSuccess : ncclInvalidUsage;
}

ncclResult_t join(ncclComm_t* comm, int ranks, ncclUniqueId const& id, int rank, ncclConfig_t const* config) {
  if (comm == nullptr || ranks < 1 || rank < 0 || rank >= ranks) return ncclInvalidArgument;
  if (config != nullptr && !is_valid(*config)) return ncclInvalidArgument;
  auto const number = number_of(id);
  std::shared_ptr<clique> group;
  {
    std::lock_guard lock{registered().mutex};
    if (!registered().ids.contains(number)) return ncclInvalidArgument;
    auto& forming = registered().forming[number];
    if (!forming) forming = std::make_shared<clique>(ranks);
    group = forming;
  }
  auto* const made = add_member(group, rank, config);
  std::lock_guard lock{group->mutex};
  if (group->size() != ranks || group->members[static_cast<std::size_t>(rank)] != nullptr) {
    add_finding("a rank joins a communicator twice, or ranks disagree on its size");
    return ncclInvalidArgument;
  }
  group->members[static_cast<std::size_t>(rank)] = made;
  ++group->joined;
  group->changed.notify_all();
  count_resource();
  *comm = made;
  return ncclSuccess;
}

ncclResult_t init(ncclComm_t* comm, int ranks, ncclUniqueId const& id, int rank, ncclConfig_t const* config) {
  if (auto const refused = refuse_in_group_of_tasks(); refused != ncclSuccess) return refused;
  auto const result = join(comm, ranks, id, rank, config);
  if (result != ncclSuccess) return result;
  if (config != nullptr && config->blocking == 0) return ncclInProgress;
  return finish_now_or_at_group_end([comm] {
    auto const met = meet_members(**comm);
    if (met != ncclSuccess) *comm = nullptr;
    return met;
  });
}

/// All ranks of `comm` say a pair of numbers and learn what the others said. Blocking, in order of calls.
template <class Use>
ncclResult_t meet_on_host(ncclComm& comm, std::pair<int, int> mine, Use use) {
  host_wait const inside;
  auto& group = *comm.group;
  std::unique_lock lock{group.mutex};
  auto const number = comm.meetings++;
  auto& meeting = group.meetings[number];
  meeting.said.resize(group.members.size());
  meeting.said[static_cast<std::size_t>(comm.rank)] = mine;
  ++meeting.arrivals;
  group.changed.notify_all();
  if (!await(comm, lock, [&] { return meeting.arrivals == group.size(); })) return ncclSystemError;
  auto const result = use(meeting);
  if (++meeting.left == group.size()) group.meetings.erase(number);
  return result;
}

ncclResult_t split(ncclComm& parent, int color, int key, ncclComm_t* child, ncclConfig_t const* config) {
  ncclComm* made = nullptr;
  auto const result = meet_on_host(parent, {color, key}, [&](host_meeting& meeting) {
    *child = nullptr;
    if (color == NCCL_SPLIT_NOCOLOR) return ncclSuccess;
    std::vector<std::pair<int, int>> order;  // (key, rank) of my color
    for (int r = 0; r < parent.group->size(); ++r) {
      auto const& [theirs, position] = meeting.said[static_cast<std::size_t>(r)];
      if (theirs == color) order.emplace_back(position, r);
    }
    std::sort(order.begin(), order.end());
    auto const place = std::find(order.begin(), order.end(), std::pair{key, parent.rank}) - order.begin();
    auto& group = meeting.made[color];
    if (!group) group = std::make_shared<clique>(static_cast<int>(order.size()));
    made = add_member(group, static_cast<int>(place), config != nullptr ? config : &parent.config);
    made->device = parent.device;
    return ncclSuccess;
  });
  if (result != ncclSuccess || made == nullptr) return result;
  {
    auto& group = *made->group;
    std::lock_guard lock{group.mutex};
    group.members[static_cast<std::size_t>(made->rank)] = made;
    ++group.joined;
    group.changed.notify_all();
  }
  count_resource();
  auto const met = meet_members(*made);
  if (met == ncclSuccess) *child = made;
  return met;
}

/// Waits until what was issued has run, or cannot run any more.
void await_operations(ncclComm& comm) {
  host_wait const inside;
  std::unique_lock lock{comm.group->mutex};
  (void)await(comm, lock,
              [&] { return comm.done == comm.issued || device_error(comm.device) != cudaSuccess; });
}

void end(ncclComm& comm) {
  std::lock_guard lock{comm.group->mutex};
  comm.ended = true;
}

}  // namespace

host_wait::host_wait() { ++host_waits; }
host_wait::~host_wait() { --host_waits; }

ncclComm* live(ncclComm_t comm) {
  std::unique_lock lock{registered().mutex};
  if (!registered().made.contains(comm)) {
    lock.unlock();
    add_finding("a communicator is used that does not exist");
    return nullptr;
  }
  lock.unlock();
  std::lock_guard own{comm->group->mutex};
  if (!comm->ended) return comm;
  add_finding("a communicator is used after its end");
  return nullptr;
}

void report_nccl_version(int version) {
  std::lock_guard lock{registered().mutex};
  registered().version = version;
}

ncclConfig_t configuration(ncclComm_t comm) { return comm->config; }

std::uint64_t unregistered_buffers(ncclComm_t comm) { return comm->unregistered; }

void forget_communicator_faults();
void forget_all_communicators();
void forget_all_communicators() {
  forget_communicator_faults();
  while (host_waits > 0) std::this_thread::sleep_for(glance);
  std::lock_guard lock{registered().mutex};
  for (auto* const each : registered().made) delete each;
  registered().made.clear();
  registered().forming.clear();
  registered().ids.clear();
  registered().version = 0;
}

}  // namespace software_device

using namespace software_device;

ncclResult_t ncclGetVersion(int* version) {
  return call<"ncclGetVersion">([&] {
    if (version == nullptr) return ncclInvalidArgument;
    std::lock_guard lock{registered().mutex};
    *version = registered().version != 0 ? registered().version : NCCL_VERSION_CODE;
    return ncclSuccess;
  });
}

char const* ncclGetErrorString(ncclResult_t code) {
  return plain_call<"ncclGetErrorString">([&] {
    switch (code) {
      case ncclSuccess: return "no error";
      case ncclUnhandledCudaError: return "unhandled cuda error";
      case ncclSystemError: return "unhandled system error";
      case ncclInternalError: return "internal error";
      case ncclInvalidArgument: return "invalid argument";
      case ncclInvalidUsage: return "invalid usage";
      case ncclRemoteError: return "remote process exited or there was a network error";
      case ncclInProgress: return "NCCL operation in progress";
      default: return "unknown result code";
    }
  });
}

char const* ncclGetLastError(ncclComm_t) {
  return plain_call<"ncclGetLastError">([] { return "software device: see findings()"; });
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  return call<"ncclGetUniqueId">([&] {
    if (id == nullptr) return ncclInvalidArgument;
    std::lock_guard lock{registered().mutex};
    auto const number = registered().next_id++;
    registered().ids.insert(number);
    *id = {};
    std::memcpy(id->internal, id_mark, sizeof id_mark);
    std::memcpy(id->internal + sizeof id_mark, &number, sizeof number);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  return call<"ncclCommInitRank">([&] { return init(comm, ranks, id, rank, nullptr); });
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  return call<"ncclCommInitRankConfig">([&] { return init(comm, ranks, id, rank, config); });
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, int const* devices) {
  return call<"ncclCommInitAll">([&] {
    if (comms == nullptr || count < 1) return ncclInvalidArgument;
    ncclUniqueId id;
    auto const before = this_thread().device;
    auto result = ncclGetUniqueId(&id);
    for (int r = 0; r < count && result == ncclSuccess; ++r) {
      this_thread().device = devices != nullptr ? devices[r] : r;
      result = join(&comms[r], count, id, r, nullptr);
    }
    this_thread().device = before;
    for (int r = 0; r < count && result == ncclSuccess; ++r) result = meet_members(*comms[r]);
    return result;
  });
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* child, ncclConfig_t* config) {
  return call<"ncclCommSplit">([&] {
    if (child == nullptr || (color < 0 && color != NCCL_SPLIT_NOCOLOR)) return ncclInvalidArgument;
    if (config != nullptr && !is_valid(*config)) return ncclInvalidArgument;
    if (auto const refused = refuse_in_group_of_tasks(); refused != ncclSuccess) return refused;
    auto* const parent = live(comm);
    return parent != nullptr ? split(*parent, color, key, child, config) : ncclInvalidArgument;
  });
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return call<"ncclCommFinalize">([&] {
    auto* const which = live(comm);
    if (which == nullptr) return ncclInvalidArgument;
    await_operations(*which);
    std::lock_guard lock{which->group->mutex};
    if (which->finalized) return ncclInvalidUsage;
    which->finalized = true;
    return ncclSuccess;
  });
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return call<"ncclCommDestroy">([&] {
    if (comm == nullptr) return ncclSuccess;
    auto* const which = live(comm);
    if (which == nullptr) return ncclInvalidArgument;
    await_operations(*which);
    end(*which);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return call<"ncclCommAbort">([&] {
    if (comm == nullptr) return ncclSuccess;
    auto* const which = live(comm);
    if (which == nullptr) return ncclInvalidArgument;
    which->aborted = true;
    which->group->changed.notify_all();
    end(*which);
    host_wait const inside;
    std::unique_lock lock{which->group->mutex};
    while (which->running > 0 && !ending()) which->group->changed.wait_for(lock, glance);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  return call<"ncclCommGetAsyncError">([&] {
    if (error == nullptr) return ncclInvalidArgument;
    auto* const which = live(comm);
    if (which == nullptr) return ncclInvalidArgument;
    *error = which->error;
    if (*error == ncclSuccess && which->config.blocking == 0) {
      std::unique_lock lock{which->group->mutex};
      if (which->group->joined < which->group->size()) {
        *error = ncclInProgress;
      } else if (!which->ready) {
        lock.unlock();
        *error = meet_members(*which);
      }
    }
    return ncclSuccess;
  });
}

ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
  return call<"ncclCommCount">([&] {
    auto const* const which = live(comm);
    if (which == nullptr || count == nullptr) return ncclInvalidArgument;
    *count = which->group->size();
    return ncclSuccess;
  });
}

ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device) {
  return call<"ncclCommCuDevice">([&] {
    auto const* const which = live(comm);
    if (which == nullptr || device == nullptr) return ncclInvalidArgument;
    *device = which->device;
    return ncclSuccess;
  });
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  return call<"ncclCommUserRank">([&] {
    auto const* const which = live(comm);
    if (which == nullptr || rank == nullptr) return ncclInvalidArgument;
    *rank = which->rank;
    return ncclSuccess;
  });
}

// --- Memory ---------------------------------------------------------------------------------------------------

ncclResult_t ncclMemAlloc(void** pointer, std::size_t bytes) {
  return call<"ncclMemAlloc">([&] {
    if (pointer == nullptr || bytes == 0) return ncclInvalidArgument;
    if (refuse_unsafe_call() != cudaSuccess) return ncclUnhandledCudaError;
    auto const whole = (bytes + granularity - 1) / granularity * granularity;
    auto const made = allocate_device(this_thread().device, whole, granularity);
    if (!made) return ncclUnhandledCudaError;
    made->shareable = true;
    count_resource();
    *pointer = reinterpret_cast<void*>(made->begin);
    return ncclSuccess;
  });
}

ncclResult_t ncclMemFree(void* pointer) {
  return call<"ncclMemFree">([&] {
    if (pointer == nullptr) return ncclSuccess;
    auto const owner = find_allocation(pointer);
    if (!owner || !owner->shareable || owner->begin != reinterpret_cast<std::uintptr_t>(pointer))
      return ncclInvalidArgument;
    if (refuse_unsafe_call() != cudaSuccess) return ncclUnhandledCudaError;
    wait_idle(owner->device);
    return release(pointer) ? ncclSuccess : ncclInvalidArgument;
  });
}

namespace {

void* add_range(ncclComm& comm, void const* data, std::size_t bytes) {
  std::lock_guard lock{comm.group->mutex};
  auto made = std::make_unique<ncclComm::registered_range>();
  *made = {reinterpret_cast<std::uintptr_t>(data), bytes};
  comm.registered.push_back(std::move(made));
  return comm.registered.back().get();
}

ncclResult_t remove_range(ncclComm& comm, void const* handle) {
  std::lock_guard lock{comm.group->mutex};
  auto const removed = std::erase_if(comm.registered, [&](auto const& each) { return each.get() == handle; });
  return removed > 0 ? ncclSuccess : ncclInvalidArgument;
}

}  // namespace

ncclResult_t ncclCommRegister(ncclComm_t comm, void* data, std::size_t bytes, void** handle) {
  return call<"ncclCommRegister">([&] {
    auto* const which = live(comm);
    if (which == nullptr || handle == nullptr || bytes == 0) return ncclInvalidArgument;
    if (!is_device_memory(data) || !inside_one_allocation(data, bytes)) return ncclInvalidArgument;
    *handle = add_range(*which, data, bytes);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommDeregister(ncclComm_t comm, void* handle) {
  return call<"ncclCommDeregister">([&] {
    auto* const which = live(comm);
    return which != nullptr ? remove_range(*which, handle) : ncclInvalidArgument;
  });
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* data, std::size_t bytes, ncclWindow_t* window,
                                    int flags) {
  return call<"ncclCommWindowRegister">([&] {
    auto* const which = live(comm);
    if (which == nullptr || window == nullptr || bytes == 0) return ncclInvalidArgument;
    if ((flags & ~NCCL_WIN_COLL_SYMMETRIC) != 0) return ncclInvalidArgument;
    auto const owner = find_allocation(data);
    auto const aligned = reinterpret_cast<std::uintptr_t>(data) % NCCL_WIN_REQUIRED_ALIGNMENT == 0;
    if (!owner || !owner->shareable || !aligned || !inside_one_allocation(data, bytes))
      return ncclInvalidArgument;
    auto const met = meet_on_host(*which, {static_cast<int>(bytes), flags}, [&](host_meeting const& meeting) {
      auto const same = std::all_of(meeting.said.begin(), meeting.said.end(),
                                    [&](auto const& each) { return each == meeting.said.front(); });
      return same ? ncclSuccess : ncclInvalidUsage;
    });
    if (met == ncclSuccess) *window = static_cast<ncclWindow_t>(add_range(*which, data, bytes));
    return met;
  });
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window) {
  return call<"ncclCommWindowDeregister">([&] {
    auto* const which = live(comm);
    return which != nullptr ? remove_range(*which, window) : ncclInvalidArgument;
  });
}
