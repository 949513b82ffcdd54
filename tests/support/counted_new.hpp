// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Replaces operator new by one that counts. Include it in one source file of an executable.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> allocations{0};                         // of all threads
[[maybe_unused]] thread_local std::uint64_t allocations_here = 0;  // of this one
// Where it is set and true, an allocation is not the business of the code under test.
bool (*allocation_is_foreign)() noexcept = nullptr;

void* counted(std::size_t bytes, std::size_t alignment) noexcept {
  if (allocation_is_foreign == nullptr || !allocation_is_foreign()) {
    ++allocations;
    ++allocations_here;
  }
  return std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
}

void* counted_or_throw(std::size_t bytes, std::size_t alignment) {
  if (auto* const memory = counted(bytes, alignment)) return memory;
  throw std::bad_alloc{};
}

constexpr std::size_t usual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

// Not inlined, or compilers see free() meet memory of operator new and warn. The other forms end in these.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return counted_or_throw(bytes, usual); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
  return counted(bytes, usual);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted_or_throw(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return counted_or_throw(bytes, usual); }
[[gnu::noinline]] void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return counted_or_throw(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::nothrow_t const&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
