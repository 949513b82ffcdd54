// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A call allocates nothing with a recorder attached, whether or not there is room for it.

#include "../support/catch.hpp"
#include "traced_run.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> allocations{0};  // of all threads

void* counted(std::size_t bytes, std::size_t alignment) noexcept {
  ++allocations;
  return std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
}

void* counted_or_throw(std::size_t bytes, std::size_t alignment) {
  if (auto* const memory = counted(bytes, alignment)) return memory;
  throw std::bad_alloc{};
}

constexpr std::size_t usual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

struct instant_gemm : sleeping_gemm {
  void operator()(tpoverlap::host::stream&, tpoverlap::matrix_view<float const>,
                  tpoverlap::matrix_view<float const>, tpoverlap::matrix_view<float>, float) const {}
};

// Waits for every rank without an allocation.
void meet(std::atomic<int>& arrived, int target) {
  ++arrived;
  arrived.notify_all();
  for (int now = arrived; now < target; now = arrived) arrived.wait(now);
}

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

using namespace tpoverlap;

namespace {

// Allocations of `calls` calls on two ranks, with room for `kept`, after a first one that is not counted.
template <class Policy>
std::uint64_t allocations_of(int calls, int kept) {
  std::atomic<int> arrived{0};
  std::uint64_t during = 0;
  host::run_ranks<2>([&](host::communicator& comm) {
    operands data{2};
    using recorder = trace::recorder<host::backend>;
    using overlapped = overlap<Policy, world<2>, host::communicator, instant_gemm, recorder>;
    auto const shape = operands::shape(Policy{}, data.rows);
    std::vector<std::byte> workspace(overlapped::workspace_bytes(shape));
    recorder record{{.calls = kept}};
    host::stream stream;
    overlapped work{Policy{}, world<2>{}, comm, instant_gemm{}, shape, workspace, record};
    auto const call = [&] {
      data.call(Policy{}, work, stream);
      comm.wait(stream);
    };
    call();
    meet(arrived, 2);
    auto const before = allocations.load();
    for (int i = 0; i < calls; ++i) call();
    meet(arrived, 4);
    if (comm.rank() == 0) during = allocations.load() - before;
    meet(arrived, 6);
  });
  return during;
}

}  // namespace

TEST_CASE("the counter counts", "[allocation]") {
  auto const before = allocations.load();
  ::operator delete(::operator new(10));
  CHECK(allocations == before + 1);
}

TEMPLATE_TEST_CASE("recording allocates nothing on the call path", "[allocation]",
                   producer_before_consumer<ring{.chunks = 2}>, consumer_before_reduction<pipeline{}>,
                   independent_side_work<all_reduce{}>) {
  CHECK(allocations_of<TestType>(20, 30) == 0);
  CHECK(allocations_of<TestType>(20, 5) == 0);
}
