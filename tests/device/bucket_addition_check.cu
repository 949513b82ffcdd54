// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The element-wise kernels on a real GPU against the same additions on the host, bit for bit: all types, also in place,
//! and sizes that fill no whole block.

#include <tpoverlap/cuda/bucket_addition.cuh>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <vector>

using namespace tpoverlap;

namespace {

int faults = 0;
int checked = 0;

template <class T>
class device_array_of {
 public:
  explicit device_array_of(std::vector<T> const& from) : count_{from.size()} {
    void* made = nullptr;
    cu::detail::check(cudaMalloc(&made, count_ * sizeof(T)), "cudaMalloc");
    data_ = static_cast<T*>(made);
    cu::detail::check(cudaMemcpy(data_, from.data(), count_ * sizeof(T), cudaMemcpyHostToDevice),
                      "cudaMemcpy");
  }
  device_array_of(device_array_of const&) = delete;
  device_array_of& operator=(device_array_of const&) = delete;
  ~device_array_of() { (void)cudaFree(data_); }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::vector<T> get() const {
    std::vector<T> to(count_);
    cu::detail::check(cudaMemcpy(to.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return to;
  }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

// Fractions of all sizes, of both signs, whose sums are rounded in every type.
template <class T>
std::vector<T> values(std::size_t count, unsigned seed) {
  std::vector<T> made;
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    double const fraction = static_cast<double>(seed >> 8) / (1 << 23) - 1;
    double const scaled = std::ldexp(fraction, static_cast<int>(seed % 12) - 6);
    if constexpr (std::is_integral_v<T>) {
      made.push_back(static_cast<T>(scaled * 1000));
    } else {
      made.push_back(static_cast<T>(static_cast<float>(scaled)));
    }
  }
  return made;
}

template <class T>
void compare(char const* what, std::vector<T> const& got, std::vector<T> const& right) {
  ++checked;
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (std::memcmp(&got[i], &right[i], sizeof(T)) == 0) continue;
    std::printf("%s of %zu elements of type %s: element %zu is wrong\n", what, right.size(),
                name_of(element_of<T>), i);
    ++faults;
    return;
  }
}

template <class To, class A, class B, class Sum>
void check_add(cu::stream_ref in, std::size_t count) {
  std::vector<A> const a = values<A>(count, 1);
  std::vector<B> const b = values<B>(count, 2);
  std::vector<To> right;
  for (std::size_t i = 0; i < count; ++i)
    right.push_back(
        cu::detail::converted<To>(cu::detail::converted<Sum>(a[i]) + cu::detail::converted<Sum>(b[i])));
  auto const n = static_cast<std::int64_t>(count);
  device_array_of<A> const left{a};
  device_array_of<B> const other{b};
  device_array_of<To> const to{values<To>(count, 3)};
  cu::cub_kernels::add(in, {to.data(), element_of<To>}, {left.data(), element_of<A>},
                       {other.data(), element_of<B>}, n);
  cu::detail::check(cudaStreamSynchronize(in.handle()), "cudaStreamSynchronize");
  compare("a sum", to.get(), right);
  if constexpr (std::is_same_v<To, A>) {
    cu::cub_kernels::add(in, {left.data(), element_of<To>}, {left.data(), element_of<A>},
                         {other.data(), element_of<B>}, n);
    cu::detail::check(cudaStreamSynchronize(in.handle()), "cudaStreamSynchronize");
    compare("a sum in place", left.get(), right);
  }
}

template <class To, class From>
void check_convert(cu::stream_ref in, std::size_t count) {
  std::vector<From> const from = values<From>(count, 4);
  std::vector<To> right;
  for (From each : from) right.push_back(cu::detail::converted<To>(each));
  device_array_of<From> const source{from};
  device_array_of<To> const to{values<To>(count, 5)};
  cu::cub_kernels::convert(in, {to.data(), element_of<To>}, {source.data(), element_of<From>},
                           static_cast<std::int64_t>(count));
  cu::detail::check(cudaStreamSynchronize(in.handle()), "cudaStreamSynchronize");
  compare("a conversion", to.get(), right);
}

template <class Narrow, class Wide>
void check_pair(cu::stream_ref in, std::size_t count) {
  check_add<Narrow, Wide, Wide, Wide>(in, count);
  check_add<Narrow, Wide, Narrow, Wide>(in, count);
  check_add<Narrow, Narrow, Wide, Wide>(in, count);
  check_add<Wide, Narrow, Narrow, Wide>(in, count);
  check_add<Wide, Wide, Narrow, Wide>(in, count);
  check_add<Wide, Narrow, Wide, Wide>(in, count);
  check_convert<Narrow, Wide>(in, count);
  check_convert<Wide, Narrow>(in, count);
}

void check_all(cu::stream_ref in) {
  for (std::size_t const count : {std::size_t{1}, std::size_t{1000}, (std::size_t{1} << 18) + 3}) {
    check_add<float, float, float, float>(in, count);
    check_add<double, double, double, double>(in, count);
    check_add<__half, __half, __half, float>(in, count);
    check_add<__nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float>(in, count);
    check_add<std::int32_t, std::int32_t, std::int32_t, std::int32_t>(in, count);
    check_add<std::int64_t, std::int64_t, std::int64_t, std::int64_t>(in, count);
    check_pair<__nv_bfloat16, float>(in, count);
    check_pair<__half, float>(in, count);
    check_pair<float, double>(in, count);
    check_pair<__nv_bfloat16, double>(in, count);
    check_pair<__half, double>(in, count);
  }
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("SKIPPED: no GPU on this machine");
    return 77;
  }
  try {
    cu::stream stream;
    check_all(stream);
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return EXIT_FAILURE;
  }
  std::printf("%d comparisons, %d with faults\n", checked, faults);
  return faults == 0 && checked > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
