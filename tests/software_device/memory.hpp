// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Device and pinned memory: who owns which bytes, where the device sees them, and who touched them last.
#pragma once

#include "control.hpp"
#include "vector_clock.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace software_device {

/// An access of the past, as long as a later one could still race with it.
struct past_access {
  memory_access what;
  std::size_t stream;    // clock index
  std::uint64_t moment;  // of that stream
  std::string operation;
};

struct allocation {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  int device = 0;
  cudaMemoryType type = cudaMemoryTypeUnregistered;
  bool shareable = false;   // ncclMemAlloc: every device may touch it
  bool registered = false;  // cudaHostRegister: not ours to free

  std::mutex mutex;
  std::vector<past_access> past;
};

/// Device memory is handed out at addresses that nobody may touch. The device's threads see the same pages elsewhere.
std::shared_ptr<allocation> allocate_device(int device, std::size_t bytes, std::size_t alignment);
std::shared_ptr<allocation> allocate_pinned(int device, std::size_t bytes);
std::shared_ptr<allocation> register_pinned(int device, void* data, std::size_t bytes);
/// The allocation that begins at `pointer` is forgotten; false if none does.
bool release(void const* pointer);
/// The allocation that `pointer` lies in, or null.
std::shared_ptr<allocation> find_allocation(void const* pointer);

/// Whether [pointer, pointer + bytes) is inside one allocation, or in memory that CUDA does not know.
bool inside_one_allocation(void const* pointer, std::size_t bytes);
bool is_device_memory(void const* pointer);

void allow_peer_access(int device, int peer, bool allowed);
bool peer_access_allowed(int device, int peer);

/// Where the device's threads see `pointer`.
void* alias_of(void const* pointer);
/// Bytes of `device` that are not allocated.
std::size_t free_bytes(int device);
std::size_t capacity_of_a_device();

inline constexpr int any_device = -1;

/// Notes the accesses of one operation and adds a finding for each that nothing orders. cudaErrorIllegalAddress if
/// `device` may not touch the memory.
cudaError_t note_accesses(int device, std::span<memory_access const> accesses, std::size_t stream,
                          vector_clock const& clock, char const* operation);

/// Whether two accesses have a byte in common.
bool have_common_byte(memory_access const& a, memory_access const& b);

void forget_all_memory();

void add_finding(std::string sentence);

}  // namespace software_device
