// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Exported: NCCL's groups and communication functions.
#include "nccl_group.hpp"

#include "api_call.hpp"
#include "memory.hpp"
#include "nccl_comm.hpp"
#include "numeric.hpp"

#include <algorithm>
#include <utility>

using namespace software_device;

namespace {

struct issued_task {
  ncclComm* comm;
  CUstream_st* stream;
  nccl_task task;
};

/// The group that the thread has open.
struct group_state {
  int depth = 0;
  ncclResult_t error = ncclSuccess;
  std::vector<issued_task> tasks;
  std::vector<std::function<ncclResult_t()>> inits;
};

group_state& group_here() {
  thread_local group_state state;
  return state;
}

std::vector<memory_access> accesses_of(ncclComm const& comm, nccl_task const& task) {
  auto const bytes = task.count * bytes_of(task.type);
  auto const all = bytes * static_cast<std::size_t>(comm.group->size());
  memory_access const reads{task.from, bytes, false};
  memory_access const writes{task.to, bytes, true};
  switch (task.kind) {
    case task_kind::send: return {reads};
    case task_kind::receive: return {writes};
    case task_kind::all_gather: return {reads, {task.to, all, true}};
    case task_kind::reduce_scatter: return {{task.from, all, false}, writes};
    case task_kind::broadcast:
      if (comm.rank != task.peer) return {writes};
      return {reads, writes};
    case task_kind::reduce:
      if (comm.rank != task.peer) return {reads};
      return {reads, writes};
    default: return {reads, writes};
  }
}

void note_registration(ncclComm& comm, std::vector<memory_access> const& accesses) {
  std::lock_guard lock{comm.group->mutex};
  for (auto const& each : accesses) {
    auto const begin = reinterpret_cast<std::uintptr_t>(each.data);
    auto const known = std::any_of(comm.registered.begin(), comm.registered.end(), [&](auto const& range) {
      return begin >= range->begin && begin + each.bytes <= range->begin + range->bytes;
    });
    if (!known) ++comm.unregistered;
  }
}

/// Within a group nothing orders one task before another.
void check_tasks_apart(ncclComm const& comm, std::vector<nccl_task> const& tasks) {
  for (std::size_t i = 0; i < tasks.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      for (auto const& a : accesses_of(comm, tasks[i]))
        for (auto const& b : accesses_of(comm, tasks[j]))
          if ((a.writes || b.writes) && have_common_byte(a, b))
            add_finding(std::string{"in one group, "} + name_of(tasks[j].kind) + " and " +
                        name_of(tasks[i].kind) + " touch the same memory");
}

/// All tasks of one communicator become one operation.
ncclResult_t issue(ncclComm& comm, std::vector<issued_task> const& mine) {
  std::vector<nccl_task> tasks;
  std::vector<CUstream_st*> streams;
  std::vector<memory_access> accesses;
  auto to_self = 0;
  for (auto const& each : mine) {
    if (each.stream->device != comm.device) return ncclUnhandledCudaError;
    if (std::find(streams.begin(), streams.end(), each.stream) == streams.end())
      streams.push_back(each.stream);
    auto const touched = accesses_of(comm, each.task);
    accesses.insert(accesses.end(), touched.begin(), touched.end());
    tasks.push_back(each.task);
    if (each.task.point_to_point() && each.task.peer == comm.rank)
      to_self += each.task.kind == task_kind::send ? 1 : -1;
  }
  if (to_self != 0) return ncclInvalidUsage;
  check_tasks_apart(comm, tasks);
  note_registration(comm, accesses);
  auto const name =
      tasks.size() == 1 ? std::string{name_of(tasks.front().kind)} : std::string{"an NCCL group"};
  auto prepare = [&comm, tasks = std::make_shared<std::vector<nccl_task> const>(std::move(tasks))] {
    std::lock_guard lock{comm.group->mutex};
    return run_function{
        [&comm, tasks, ticket = comm.issued++](run_context&) { run_tasks(comm, ticket, *tasks); }};
  };
  auto const error =
      submit_joined(streams, {.name = name, .accesses = std::move(accesses), .prepare = std::move(prepare)});
  return error == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t close_group() {
  auto& here = group_here();
  auto const tasks = std::exchange(here.tasks, {});
  auto const inits = std::exchange(here.inits, {});
  if (auto const error = std::exchange(here.error, ncclSuccess); error != ncclSuccess) return error;
  if (!tasks.empty() && !inits.empty()) return ncclInvalidUsage;
  auto result = ncclSuccess;
  for (auto const& each : inits)
    if (auto const outcome = each(); result == ncclSuccess) result = outcome;
  std::vector<ncclComm*> order;
  for (auto const& each : tasks)
    if (std::find(order.begin(), order.end(), each.comm) == order.end()) order.push_back(each.comm);
  for (auto* const comm : order) {
    std::vector<issued_task> mine;
    for (auto const& each : tasks)
      if (each.comm == comm) mine.push_back(each);
    if (result == ncclSuccess) result = issue(*comm, mine);
  }
  return result;
}

ncclResult_t checked(ncclComm_t handle, nccl_task const& task, cudaStream_t stream, issued_task& made) {
  auto* const comm = live(handle);
  if (comm == nullptr) return ncclInvalidArgument;
  {
    std::lock_guard lock{comm->group->mutex};
    if (!comm->ready || comm->finalized) return ncclInvalidArgument;
  }
  if (bytes_of(task.type) == 0) return ncclInvalidArgument;
  if (task.operation < ncclSum || task.operation >= ncclNumOps) return ncclInvalidArgument;
  if (task.peer < 0 || task.peer >= comm->group->size()) return ncclInvalidArgument;
  if (auto const error = device_error(comm->device); error != cudaSuccess) return ncclUnhandledCudaError;
  auto const before = std::exchange(this_thread().device, comm->device);
  auto* const found = stream_of(stream);
  this_thread().device = before;
  if (found == nullptr) return ncclUnhandledCudaError;
  made = {comm, found, task};
  return ncclSuccess;
}

ncclResult_t communicate(ncclComm_t comm, nccl_task const& task, cudaStream_t stream) {
  auto& here = group_here();
  issued_task made{};
  if (auto const error = checked(comm, task, stream, made); error != ncclSuccess) {
    if (here.depth > 0 && here.error == ncclSuccess) here.error = error;
    return error;
  }
  if (!task.point_to_point() && task.count == 0) return ncclSuccess;
  here.tasks.push_back(made);
  return here.depth > 0 ? ncclSuccess : close_group();
}

}  // namespace

namespace software_device {

ncclResult_t refuse_in_group_of_tasks() {
  return group_here().depth > 0 && !group_here().tasks.empty() ? ncclInvalidUsage : ncclSuccess;
}

ncclResult_t finish_now_or_at_group_end(std::function<ncclResult_t()> finish) {
  if (group_here().depth == 0) return finish();
  group_here().inits.push_back(std::move(finish));
  return ncclSuccess;
}

}  // namespace software_device

ncclResult_t ncclGroupStart() {
  return call<"ncclGroupStart">([] {
    ++group_here().depth;
    return ncclSuccess;
  });
}

ncclResult_t ncclGroupEnd() {
  auto& here = group_here();
  auto closed = false;
  auto const result = call<"ncclGroupEnd">([&] {
    closed = true;
    if (here.depth == 0) return ncclInvalidUsage;
    return --here.depth == 0 ? close_group() : ncclSuccess;
  });
  // An injected failure launches nothing, but the group is over as after a real one.
  if (!closed && here.depth > 0) {
    --here.depth;
    here.tasks.clear();
    here.inits.clear();
  }
  return result;
}

ncclResult_t ncclSend(void const* from, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return call<"ncclSend">([&] {
    return communicate(comm, {task_kind::send, from, nullptr, count, type, ncclSum, peer}, stream);
  });
}

ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return call<"ncclRecv">([&] {
    return communicate(comm, {task_kind::receive, nullptr, to, count, type, ncclSum, peer}, stream);
  });
}

ncclResult_t ncclAllGather(void const* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return call<"ncclAllGather">([&] {
    return communicate(comm, {task_kind::all_gather, from, to, count, type, ncclSum, 0}, stream);
  });
}

ncclResult_t ncclReduceScatter(void const* from, void* to, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
  return call<"ncclReduceScatter">([&] {
    return communicate(comm, {task_kind::reduce_scatter, from, to, count, type, operation, 0}, stream);
  });
}

ncclResult_t ncclAllReduce(void const* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
  return call<"ncclAllReduce">([&] {
    return communicate(comm, {task_kind::all_reduce, from, to, count, type, operation, 0}, stream);
  });
}

ncclResult_t ncclBroadcast(void const* from, void* to, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return call<"ncclBroadcast">([&] {
    return communicate(comm, {task_kind::broadcast, from, to, count, type, ncclSum, root}, stream);
  });
}

ncclResult_t ncclReduce(void const* from, void* to, std::size_t count, ncclDataType_t type,
                        ncclRedOp_t operation, int root, ncclComm_t comm, cudaStream_t stream) {
  return call<"ncclReduce">([&] {
    return communicate(comm, {task_kind::reduce, from, to, count, type, operation, root}, stream);
  });
}
