// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// An MLP on all GPUs: one process a GPU where a launcher started this program (torchrun, mpirun, srun), otherwise one
// thread a GPU. Runs the pass without overlap and with it, replayed from CUDA graphs; compares results and times.

#include "launch.hpp"
#include "mlp.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

using namespace tpoverlap;

namespace {

using number = __nv_bfloat16;

// The same on every rank, for any part of a matrix; between -1 and 1, so that both layers keep their size.
std::vector<number> numbers(std::int64_t rows, std::int64_t columns, std::uint64_t seed,
                            std::int64_t first_row, std::int64_t first_column, double scale) {
  std::vector<number> made;
  made.reserve(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = first_row; i < first_row + rows; ++i) {
    for (std::int64_t j = first_column; j < first_column + columns; ++j) {
      std::uint64_t bits = seed + static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U +
                           static_cast<std::uint64_t>(j) * 0xbf58476d1ce4e5b9U;
      bits = (bits ^ (bits >> 31)) * 0x94d049bb133111ebU;
      made.emplace_back(static_cast<float>(scale * (static_cast<double>(bits >> 40) / (1 << 23) - 1)));
    }
  }
  return made;
}

template <class Pass>
double milliseconds_per_pass(cu::nccl_communicator& comm, cu::stream& in, Pass pass, int passes) {
  for (int i = 0; i < 3; ++i) pass();  // the first sets up, the second captures
  comm.wait(in);
  auto const begin = std::chrono::steady_clock::now();
  for (int i = 0; i < passes; ++i) pass();
  comm.wait(in);
  std::chrono::duration<double, std::milli> const took = std::chrono::steady_clock::now() - begin;
  return took.count() / passes;
}

/// The largest difference, in units of the largest element. NaN is no small difference.
double distance(std::vector<number> const& a, std::vector<number> const& b) {
  double largest = 0;
  double apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    double const left = static_cast<double>(static_cast<float>(a[i]));
    double const right = static_cast<double>(static_cast<float>(b[i]));
    if (!std::isfinite(left) || !std::isfinite(right)) return HUGE_VAL;
    largest = std::fmax(largest, std::fabs(left));
    apart = std::fmax(apart, std::fabs(left - right));
  }
  return largest == 0 ? HUGE_VAL : apart / largest;
}

template <int P>
bool run(cu::nccl_communicator& comm, mlp_sizes const& sizes) {
  cu::device_guard const on{comm.device()};
  cu::stream stream;
  using gemm = cu::cublaslt_gemm<number>;
  // cuBLASLt leaves the multiprocessors to NCCL that NCCL may use.
  auto const budget = cu::resource_budget::split(comm.device(), comm.options().budget.communication_ctas);
  device_array<std::byte> scratch{static_cast<std::int64_t>(gemm::suggested_workspace_bytes)};
  gemm const multiply{comm.device(), scratch.bytes(), {.budget = budget}};

  row_range const own = even_part(sizes.tokens, P, comm.rank());
  row_range const columns = even_part(4 * sizes.hidden, P, comm.rank());
  device_array<number> x{own.count * sizes.hidden};
  device_array<number> y{own.count * sizes.hidden};
  x.put(numbers(own.count, sizes.hidden, 1, own.first, 0, 1));
  double const keep = 1 / std::sqrt(static_cast<double>(sizes.hidden));
  auto const w1 = numbers(sizes.hidden, columns.count, 2, 0, columns.first, keep);
  auto const w2 = numbers(columns.count, sizes.hidden, 3, columns.first, 0, keep);
  matrix_view<number const> const input{x.data(), own.count, sizes.hidden};
  matrix_view<number> const output{y.data(), own.count, sizes.hidden};

  auto const measure = [&](auto& model, double& milliseconds) {
    model.set_weights(w1, w2);
    cu::captured replayed{model, comm};
    milliseconds = milliseconds_per_pass(
        comm, stream, [&] { replayed(stream, input, output); }, sizes.passes);
    return y.get();
  };
  constexpr reduction in_float{.reduce_in = reduction_type::float32};
  double apart_ms = 0;
  double together_ms = 0;
  std::vector<number> expected;
  std::vector<number> got;
  {
    mlp<producer_before_consumer<blocking{}>, consumer_before_reduction<blocking{}, in_float>, P> plain{
        comm, multiply, sizes, columns.count};
    expected = measure(plain, apart_ms);
  }
  {
    mlp<producer_before_consumer<ring{.chunks = 2}>, consumer_before_reduction<ring{.chunks = 2}, in_float>,
        P>
        overlapped{comm, multiply, sizes, columns.count};
    got = measure(overlapped, together_ms);
  }
  // Both add in float32 and round to bfloat16 twice, once a layer, but not in the same order: two roundings apart.
  double const difference = distance(expected, got);
  bool const right = difference <= 4.0 / 256;
  if (comm.rank() == 0 || !right) {
    std::printf("rank %d of %d: %.3f ms a pass without overlap, %.3f ms with; largest difference %.5f%s\n",
                comm.rank(), P, apart_ms, together_ms, difference, right ? "" : ", which is WRONG");
  }
  return right;
}

bool run_rank(cu::nccl_start const& start, mlp_sizes const& sizes) {
  cu::nccl_communicator comm{start, {.budget = {.communication_ctas = 16}}};
  return dispatch_world<1, 2, 4, 8>(comm.size(), [&](auto w) { return run<decltype(w)::size>(comm, sizes); });
}

bool run_threads(mlp_sizes const& sizes, int devices) {
  int const ranks = devices >= 8 ? 8 : devices >= 4 ? 4 : devices >= 2 ? 2 : 1;
  ncclUniqueId const id = cu::make_nccl_id();
  std::vector<char> right(static_cast<std::size_t>(ranks), 0);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          right[static_cast<std::size_t>(rank)] = run_rank({id, {ranks, rank, rank}}, sizes);
        } catch (std::exception const& failure) {
          std::fprintf(stderr, "%s\n", failure.what());
        }
      });
    }
  }
  for (char each : right)
    if (each == 0) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  mlp_sizes sizes;
  std::filesystem::path id_file;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--tokens") == 0) {
      sizes.tokens = std::atoll(argv[i + 1]);
    } else if (std::strcmp(argv[i], "--hidden") == 0) {
      sizes.hidden = std::atoll(argv[i + 1]);
    } else if (std::strcmp(argv[i], "--passes") == 0) {
      sizes.passes = std::atoi(argv[i + 1]);
    } else if (std::strcmp(argv[i], "--id-file") == 0) {
      id_file = argv[i + 1];
    } else {
      argc = 0;
    }
  }
  if (argc % 2 == 0 || sizes.tokens < 1 || sizes.hidden < 1 || sizes.passes < 1) {
    std::fprintf(stderr, "usage: cuda_mlp [--tokens N] [--hidden N] [--passes N] [--id-file FILE]\n"
                         "With one process a GPU, --id-file names a new file that all of them can reach.\n");
    return EXIT_FAILURE;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("SKIPPED: no GPU on this machine");
    return 77;
  }
  try {
    auto const seat = seat_from_environment();
    if (!seat) return run_threads(sizes, devices) ? EXIT_SUCCESS : EXIT_FAILURE;
    if (id_file.empty())
      raise(usage_error{"a launcher started several processes; give them --id-file", seat->rank});
    bool const right = run_rank({id_through_file(id_file, seat->rank), *seat}, sizes);
    if (seat->rank == 0) std::filesystem::remove(id_file);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return EXIT_FAILURE;
  }
}
