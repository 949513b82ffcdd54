// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! One memory file, mapped twice: without any right for the host, and readable and writable for the device.
#include "memory.hpp"

#include "api_call.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <shared_mutex>

namespace software_device {
namespace {

constexpr std::size_t capacity = std::size_t{256} << 20;  // of one device
constexpr std::size_t page = 4096;
constexpr unsigned char poison = 0xff;  // a NaN in every floating-point type that has them

struct arena {
  std::byte* forbidden;
  std::byte* visible;
  int file;

  arena() {
    constexpr auto bytes = capacity * most_devices;
    file = memfd_create("software_device", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) std::abort();
    auto* const a = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
    auto* const b = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (a == MAP_FAILED || b == MAP_FAILED) std::abort();
    forbidden = static_cast<std::byte*>(a);
    visible = static_cast<std::byte*>(b);
  }
};

arena& memory() {
  static auto& here = *new arena;  // outlives every thread
  return here;
}

std::uintptr_t address(void const* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

struct allocation_table {
  std::shared_mutex mutex;
  std::map<std::uintptr_t, std::shared_ptr<allocation>> by_begin;
  bool peers[most_devices][most_devices] = {};
};

allocation_table& table() {
  static auto& here = *new allocation_table;
  return here;
}

struct finding_list {
  std::mutex mutex;
  std::vector<std::string> sentences;
};

finding_list& found() {
  static auto& here = *new finding_list;
  return here;
}

std::shared_ptr<allocation> make(std::uintptr_t begin, std::size_t bytes, int device, cudaMemoryType type) {
  auto made = std::make_shared<allocation>();
  made->begin = begin;
  made->bytes = bytes;
  made->device = device;
  made->type = type;
  return made;
}

bool in_arena(void const* pointer) {
  auto const offset = address(pointer) - address(memory().forbidden);
  return offset < capacity * most_devices;
}

std::uintptr_t rounded_up(std::uintptr_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

/// Ranges within one row grid are compared by columns; others row by row.
bool rows_meet(memory_access const& a, std::uintptr_t b_begin, std::size_t b_bytes) {
  auto const begin = address(a.data);
  if (a.rows <= 1) return begin < b_begin + b_bytes && b_begin < begin + a.bytes;
  auto const end = begin + (a.rows - 1) * a.pitch + a.bytes;
  if (b_begin >= end || b_begin + b_bytes <= begin) return false;
  // First row of a that ends after b begins.
  std::size_t row = 0;
  if (b_begin >= begin + a.bytes) row = (b_begin - begin - a.bytes) / a.pitch + 1;
  return row < a.rows && begin + row * a.pitch < b_begin + b_bytes;
}

}  // namespace

std::size_t capacity_of_a_device() { return capacity; }

std::size_t free_bytes(int device) {
  std::shared_lock lock{table().mutex};
  std::size_t used = 0;
  for (auto const& [begin, each] : table().by_begin)
    if (each->type == cudaMemoryTypeDevice && each->device == device) used += each->bytes;
  return capacity - used;
}

std::shared_ptr<allocation> allocate_device(int device, std::size_t bytes, std::size_t alignment) {
  auto const first = address(memory().forbidden) + capacity * static_cast<std::size_t>(device);
  auto const last = first + capacity;
  std::unique_lock lock{table().mutex};
  // First fit, with a page of nobody's memory between neighbours, so that an overrun is seen.
  auto begin = rounded_up(first, alignment);
  for (auto at = table().by_begin.lower_bound(first); at != table().by_begin.end() && at->first < last;
       ++at) {
    if (begin + bytes + page <= at->first) break;
    begin = rounded_up(at->first + at->second->bytes + page, alignment);
  }
  if (bytes > capacity || begin + bytes > last) return nullptr;
  auto made = make(begin, bytes, device, cudaMemoryTypeDevice);
  table().by_begin[begin] = made;
  std::memset(memory().visible + (begin - address(memory().forbidden)), poison, bytes);
  return made;
}

std::shared_ptr<allocation> allocate_pinned(int device, std::size_t bytes) {
  void* const data = std::aligned_alloc(page, rounded_up(bytes, page));
  if (data == nullptr) return nullptr;
  std::unique_lock lock{table().mutex};
  auto made = make(address(data), bytes, device, cudaMemoryTypeHost);
  table().by_begin[made->begin] = made;
  return made;
}

std::shared_ptr<allocation> register_pinned(int device, void* data, std::size_t bytes) {
  std::unique_lock lock{table().mutex};
  auto made = make(address(data), bytes, device, cudaMemoryTypeHost);
  made->registered = true;
  if (!table().by_begin.emplace(made->begin, made).second) return nullptr;
  return made;
}

bool release(void const* pointer) {
  std::unique_lock lock{table().mutex};
  auto const at = table().by_begin.find(address(pointer));
  if (at == table().by_begin.end()) return false;
  auto const& gone = *at->second;
  if (gone.type == cudaMemoryTypeDevice) {
    // Whole pages go back to the system. What shares a page with nobody's gap is poisoned at the next allocation.
    auto const from = rounded_up(gone.begin, page) - address(memory().forbidden);
    auto const to = (gone.begin + gone.bytes) / page * page - address(memory().forbidden);
    if (from < to)
      (void)fallocate(memory().file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from),
                      static_cast<off_t>(to - from));
  } else if (!gone.registered) {
    std::free(reinterpret_cast<void*>(gone.begin));
  }
  table().by_begin.erase(at);
  return true;
}

std::shared_ptr<allocation> find_allocation(void const* pointer) {
  std::shared_lock lock{table().mutex};
  auto at = table().by_begin.upper_bound(address(pointer));
  if (at == table().by_begin.begin()) return nullptr;
  --at;
  auto const& owner = at->second;
  return address(pointer) - owner->begin < owner->bytes ? owner : nullptr;
}

bool is_device_memory(void const* pointer) {
  auto const owner = find_allocation(pointer);
  return owner && owner->type == cudaMemoryTypeDevice;
}

bool inside_one_allocation(void const* pointer, std::size_t bytes) {
  if (bytes == 0) return true;
  auto const owner = find_allocation(pointer);
  if (!owner) return !in_arena(pointer);
  return address(pointer) + bytes <= owner->begin + owner->bytes;
}

void allow_peer_access(int device, int peer, bool allowed) {
  std::unique_lock lock{table().mutex};
  table().peers[device][peer] = allowed;
}

bool peer_access_allowed(int device, int peer) {
  std::shared_lock lock{table().mutex};
  return device == peer || table().peers[device][peer];
}

void* alias_of(void const* pointer) {
  if (!in_arena(pointer)) return const_cast<void*>(pointer);
  return memory().visible + (address(pointer) - address(memory().forbidden));
}

void* on_device(void const* pointer) { return alias_of(pointer); }

bool have_common_byte(memory_access const& a, memory_access const& b) {
  if (a.bytes == 0 || b.bytes == 0 || a.rows == 0 || b.rows == 0) return false;
  auto const& fewer = a.rows <= b.rows ? a : b;
  auto const& other = a.rows <= b.rows ? b : a;
  for (std::size_t row = 0; row < fewer.rows; ++row)
    if (rows_meet(other, address(fewer.data) + row * fewer.pitch, fewer.bytes)) return true;
  return false;
}

cudaError_t note_accesses(int device, std::span<memory_access const> accesses, std::size_t stream,
                          vector_clock const& clock, char const* operation) {
  for (auto const& each : accesses) {
    if (each.bytes == 0 || each.rows == 0) continue;
    auto const extent = (each.rows - 1) * each.pitch + each.bytes;
    auto const owner = find_allocation(each.data);
    if (!owner) {
      add_finding(std::string{operation} + " touches memory that is not allocated on any device");
      return cudaErrorIllegalAddress;
    }
    if (address(each.data) + extent > owner->begin + owner->bytes) {
      add_finding(std::string{operation} + " runs over the end of an allocation");
      return cudaErrorIllegalAddress;
    }
    if (device != any_device && owner->type == cudaMemoryTypeDevice && !owner->shareable &&
        !peer_access_allowed(device, owner->device)) {
      add_finding(std::string{operation} + " touches another device's memory without peer access");
      return cudaErrorIllegalAddress;
    }
    std::lock_guard lock{owner->mutex};
    for (auto const& before : owner->past) {
      if (!each.writes && !before.what.writes) continue;
      if (before.stream == stream || before.moment <= clock.at(before.stream)) continue;
      if (!have_common_byte(before.what, each)) continue;
      add_finding(std::string{operation} + (each.writes ? " writes" : " reads") + " memory that " +
                  before.operation + (before.what.writes ? " writes" : " reads") +
                  ", and nothing orders the two operations");
    }
    // What races with an access that is ordered before this one, on the same bytes, races with this one, too. Only
    // a reader may race with a writer of before and not with a reader of now.
    auto const covered = [&](past_access const& before) {
      if (!each.writes && before.what.writes) return false;
      if (before.stream != stream && before.moment > clock.at(before.stream)) return false;
      return before.what.data == each.data && before.what.bytes == each.bytes &&
             before.what.rows == each.rows && before.what.pitch == each.pitch;
    };
    std::erase_if(owner->past, covered);
    owner->past.push_back({each, stream, clock.at(stream), operation});
  }
  return cudaSuccess;
}

void add_finding(std::string sentence) {
  std::lock_guard lock{found().mutex};
  found().sentences.push_back(std::move(sentence));
}

std::vector<std::string> findings() {
  std::lock_guard lock{found().mutex};
  return found().sentences;
}

void forget_all_memory() {
  for (;;) {
    std::uintptr_t begin = 0;
    {
      std::shared_lock lock{table().mutex};
      if (table().by_begin.empty()) break;
      begin = table().by_begin.begin()->first;
    }
    release(reinterpret_cast<void*>(begin));
  }
  {
    std::unique_lock lock{table().mutex};
    for (auto& row : table().peers)
      for (auto& each : row) each = false;
  }
  std::lock_guard lock{found().mutex};
  found().sentences.clear();
}

}  // namespace software_device
