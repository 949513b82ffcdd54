// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// An engine's own GEMM under an AllGather: here plain cuBLAS, in ten lines. Ranks are threads, one a GPU. Needs no CUDA
// compiler, as nothing is added.

#include <tpoverlap/cuda.hpp>
#include <tpoverlap/nccl.hpp>
#include <tpoverlap/overlap.hpp>

#include <cublas_v2.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

using namespace tpoverlap;

namespace {

// [own_gemm begin]
struct own_gemm {
  using input_type = float;
  using output_type = float;
  cublasHandle_t handle;

  // Row-major c = a · b is, to the column-major cuBLAS, cᵀ = bᵀ · aᵀ.
  void operator()(cu::stream_ref in, matrix_view<float const> a, matrix_view<float const> b,
                  matrix_view<float> c, float beta) const {
    if (c.size() == 0) return;
    float const one = 1;
    cublasSetStream(handle, in.handle());
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<int>(c.columns), static_cast<int>(c.rows),
                static_cast<int>(a.columns), &one, b.data, static_cast<int>(b.row_stride), a.data,
                static_cast<int>(a.row_stride), &beta, c.data, static_cast<int>(c.row_stride));
  }
};
// [own_gemm end]

constexpr std::int64_t rows = 1000;
constexpr std::int64_t inner = 512;
constexpr std::int64_t columns = 768;

/// Device memory of one rank.
class device_floats {
 public:
  explicit device_floats(std::int64_t count) : bytes_{static_cast<std::size_t>(count) * sizeof(float)} {
    cu::detail::check(cudaMalloc(&data_, bytes_), "cudaMalloc");
  }
  device_floats(device_floats const&) = delete;
  device_floats& operator=(device_floats const&) = delete;
  ~device_floats() { (void)cudaFree(data_); }

  void put(std::vector<float> const& from) {
    cu::detail::check(cudaMemcpy(data_, from.data(), bytes_, cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  [[nodiscard]] std::vector<float> get() const {
    std::vector<float> to(bytes_ / sizeof(float));
    cu::detail::check(cudaMemcpy(to.data(), data_, bytes_, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return to;
  }
  [[nodiscard]] float* data() const { return static_cast<float*>(data_); }

 private:
  std::size_t bytes_;
  void* data_ = nullptr;
};

// Small integers, so that every sum is exact and the comparison needs no tolerance.
float x_at(std::int64_t row, std::int64_t column) { return static_cast<float>((row * 3 + column) % 5 - 2); }
float w_at(std::int64_t row, std::int64_t column) { return static_cast<float>((row + column * 2) % 3 - 1); }

template <class At>
std::vector<float> filled(row_range those, std::int64_t width, At at) {
  std::vector<float> made;
  for (std::int64_t i = those.first; i < those.end(); ++i)
    for (std::int64_t j = 0; j < width; ++j) made.push_back(at(i, j));
  return made;
}

/// Returns how many elements of the product are wrong.
template <int P>
int multiply(cu::nccl_communicator& comm) {
  cu::device_guard const on{comm.device()};
  cu::stream stream;
  own_gemm gemm{};
  if (cublasCreate(&gemm.handle) != CUBLAS_STATUS_SUCCESS)
    raise(usage_error{"cuBLAS does not start", comm.rank()});

  row_range const own = even_part(rows, P, comm.rank());
  device_floats x{own.count * inner};
  device_floats w{inner * columns};
  device_floats y{rows * columns};
  x.put(filled(own, inner, x_at));
  w.put(filled({0, inner}, columns, w_at));

  using overlapped =
      overlap<producer_before_consumer<ring{.chunks = 2}>, world<P>, cu::nccl_communicator, own_gemm>;
  gemm_shape const shape{.rows = rows, .inner = inner, .columns = columns};
  std::size_t const needed = overlapped::workspace_bytes(shape);
  device_floats workspace{static_cast<std::int64_t>(needed / sizeof(float) + 1)};
  int wrong = 0;
  {
    overlapped up{comm, gemm, shape, {reinterpret_cast<std::byte*>(workspace.data()), needed}};
    up(stream, {x.data(), own.count, inner}, {w.data(), inner, columns}, {y.data(), rows, columns});
    comm.wait(stream);
  }
  std::vector<float> const product = y.get();
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      float right = 0;
      for (std::int64_t k = 0; k < inner; ++k) right += x_at(i, k) * w_at(k, j);
      if (product[static_cast<std::size_t>(i * columns + j)] != right) ++wrong;
    }
  }
  cublasDestroy(gemm.handle);
  return wrong;
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("SKIPPED: no GPU on this machine");
    return 77;
  }
  int const ranks = devices >= 8 ? 8 : devices >= 4 ? 4 : devices >= 2 ? 2 : 1;
  ncclUniqueId const id = cu::make_nccl_id();
  std::vector<int> wrong(static_cast<std::size_t>(ranks), -1);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          cu::nccl_communicator comm{cu::nccl_start{id, {ranks, rank, rank}}};
          wrong[static_cast<std::size_t>(rank)] =
              dispatch_world<1, 2, 4, 8>(ranks, [&](auto w) { return multiply<decltype(w)::size>(comm); });
        } catch (std::exception const& failure) {
          std::fprintf(stderr, "%s\n", failure.what());
        }
      });
    }
  }
  for (int rank = 0; rank < ranks; ++rank) {
    if (wrong[static_cast<std::size_t>(rank)] == 0) continue;
    std::printf("rank %d: %d wrong elements\n", rank, wrong[static_cast<std::size_t>(rank)]);
    return EXIT_FAILURE;
  }
  std::printf("all %d ranks have the exact product\n", ranks);
}
