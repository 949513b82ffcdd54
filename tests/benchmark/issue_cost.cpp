// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What a call costs the thread that makes it, beside the same operations written by hand for the same streams.
//! With --check, the exit status is 1 if a schedule costs more than 1.05 times as much.
//!
//! All streams stand at a gate while calls are issued, so that no worker runs and no queue drains. The hand-written
//! code makes the same records, waits, exchanges, additions and GEMM calls; this is counted and compared.

#include <tpoverlap/host.hpp>
#include <tpoverlap/tpoverlap.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace {

using namespace tpoverlap;

constexpr int ranks = 4;
constexpr int chunks = 2;
constexpr int calls_in_batch = 16;  // what the default queues hold at a closed gate
constexpr double most = 1.05;
constexpr gemm_shape shape{.rows = 64, .inner = 16, .columns = 16};

/// Issues what any GEMM has to: one task that knows its operands.
struct empty_gemm {
  using input_type = float;
  using output_type = float;

  void operator()(host::stream& in, matrix_view<float const> a, matrix_view<float const> b,
                  matrix_view<float> const& c, float beta) const {
    in.enqueue([a = a.data, b = b.data, c = c.data, rows = c.rows, beta] {
      asm volatile("" : : "r"(a), "r"(b), "r"(c), "r"(rows), "m"(beta));
    });
  }
};

// --- By hand --------------------------------------------------------------------------------------------------

/// How often each kind of operation is issued by one call.
struct tally {
  int records = 0;
  int waits = 0;
  int exchanges = 0;
  int messages = 0;
  int collectives = 0;
  int additions = 0;
  friend bool operator==(tally const&, tally const&) = default;
};

tally tally_of(program_view const& p) {
  tally counted;
  for (int i = 0; i < p.operation_count; ++i) {
    operation const& op = p.operations[i];
    counted.waits += op.waits;
    if (op.event >= 0) ++counted.records;
    if (op.kind == operation_kind::exchange) {
      ++counted.exchanges;
      counted.messages += op.accesses;
    }
    if (op.kind == operation_kind::reduce) ++counted.additions;
    if (is_collective(op.kind)) ++counted.collectives;
  }
  return counted;
}

/// Where hand-written code issues to: the streams, or a tally.
struct streams_port {
  host::communicator& comm;

  void record(host::event& mark, host::stream& in) { mark.record(in); }
  void wait(host::stream& in, host::event const& mark) { mark.wait(in); }
  void exchange(int lane, std::span<message const> messages) { comm.exchange(lane, messages, {"exchange"}); }
  void all_gather(int lane, void const* own, std::span<piece const> shards) {
    comm.all_gather(lane, own, shards, element::float32, {"all_gather"});
  }
  void add(host::stream& in, float* to, float const* a, float const* b, std::int64_t count) {
    host::backend::add(in, to, a, b, count);
  }
  void gemm(host::stream& in, matrix_view<float const> a, matrix_view<float const> b,
            matrix_view<float> const& c) {
    empty_gemm{}(in, a, b, c, 0);
  }
};

struct tally_port {
  tally counted;

  void record(host::event&, host::stream&) { ++counted.records; }
  void wait(host::stream&, host::event const&) { ++counted.waits; }
  void exchange(int, std::span<message const> messages) {
    ++counted.exchanges;
    counted.messages += static_cast<int>(messages.size());
  }
  void all_gather(int, void const*, std::span<piece const>) { ++counted.collectives; }
  void add(host::stream&, float*, float const*, float const*, std::int64_t) { ++counted.additions; }
  void gemm(host::stream&, matrix_view<float const>, matrix_view<float const>, matrix_view<float> const&) {}
};

/// What hand-written code keeps between calls.
struct by_hand {
  explicit by_hand(host::communicator& communicator)
      : comm{communicator},
        rank{comm.rank()},
        landing(static_cast<std::size_t>(shape.rows * shape.inner)),
        partial(static_cast<std::size_t>(shape.rows * shape.columns)),
        bucket(static_cast<std::size_t>(shape.rows * shape.columns)) {}

  static message send(int peer, float const* data, std::int64_t count) {
    return {message::direction::send, peer, const_cast<float*>(data),
            static_cast<std::size_t>(count) * sizeof(float)};
  }
  static message receive(int peer, float* data, std::int64_t count) {
    return {message::direction::receive, peer, data, static_cast<std::size_t>(count) * sizeof(float)};
  }

  template <class Port>
  void ring_gather(Port& port, host::stream& in, matrix_view<float const> x, matrix_view<float const> w,
                   matrix_view<float> y) {
    host::stream& side = comm.lane(1);
    std::int64_t const tile_rows = x.rows / chunks;
    std::int64_t const tile = tile_rows * x.columns;
    int const next = (rank + 1) % ranks;
    int const previous = (rank + ranks - 1) % ranks;
    float const* own = x.data;
    int shard = rank;
    port.record(started, in);
    port.wait(side, started);
    for (int step = 0; step < ranks; ++step) {
      int const coming = (shard + ranks - 1) % ranks;
      float* const there = landing.data() + coming * chunks * tile;
      for (int c = 0; c < chunks; ++c) {
        if (step + 1 < ranks) {
          message const hop[]{send(next, own + c * tile, tile), receive(previous, there + c * tile, tile)};
          port.exchange(1, hop);
          port.record(arrived[step][c], side);
        }
        if (step > 0) port.wait(in, arrived[step - 1][c]);
        port.gemm(in, {own + c * tile, tile_rows, x.columns}, w,
                  y.row_range((shard * chunks + c) * tile_rows, tile_rows));
      }
      own = there;
      shard = coming;
    }
  }

  template <class Port>
  void direct_gather(Port& port, host::stream& in, matrix_view<float const> x, matrix_view<float const> w,
                     matrix_view<float> y) {
    host::stream& side = comm.lane(1);
    std::int64_t const tile_rows = x.rows / chunks;
    std::int64_t const tile = tile_rows * x.columns;
    port.record(started, in);
    port.wait(side, started);
    for (int step = 0; step < ranks; ++step) {
      int const shard = (rank + step) % ranks;
      int const coming = (rank + step + 1) % ranks;
      int const taker = (rank + ranks - step - 1) % ranks;
      float const* const here = step == 0 ? x.data : landing.data() + shard * chunks * tile;
      float* const there = landing.data() + coming * chunks * tile;
      for (int c = 0; c < chunks; ++c) {
        if (step + 1 < ranks) {
          message const hop[]{send(taker, x.data + c * tile, tile), receive(coming, there + c * tile, tile)};
          port.exchange(1, hop);
          port.record(arrived[step][c], side);
        }
        if (step > 0) port.wait(in, arrived[step - 1][c]);
        port.gemm(in, {here + c * tile, tile_rows, x.columns}, w,
                  y.row_range((shard * chunks + c) * tile_rows, tile_rows));
      }
    }
  }

  template <class Port>
  void pipeline_gather(Port& port, host::stream& in, matrix_view<float const> x, matrix_view<float const> w,
                       matrix_view<float> y) {
    host::stream& side = comm.lane(1);
    std::int64_t const tile_rows = x.rows / chunks;
    std::int64_t const tile = tile_rows * x.columns;
    auto const gather = [&](int c) {
      piece pieces[ranks];
      for (int s = 0; s < ranks; ++s) pieces[s] = {landing.data() + (c * ranks + s) * tile, tile};
      port.all_gather(1, x.data + c * tile, pieces);
      port.record(arrived[0][c], side);
    };
    port.record(started, in);
    port.wait(side, started);
    gather(0);
    port.gemm(in, x, w, y.row_range(rank * x.rows, x.rows));
    for (int c = 0; c < chunks; ++c) {
      if (c + 1 < chunks) gather(c + 1);
      port.wait(in, arrived[0][c]);
      for (int step = 1; step < ranks; ++step) {
        int const s = (rank + step) % ranks;
        port.gemm(in, {landing.data() + (c * ranks + s) * tile, tile_rows, x.columns}, w,
                  y.row_range((s * chunks + c) * tile_rows, tile_rows));
      }
    }
  }

  template <class Port>
  void ring_reduction(Port& port, host::stream& in, matrix_view<float const> a, matrix_view<float const> w,
                      matrix_view<float> y) {
    host::stream& side = comm.lane(1);
    host::stream& adder = comm.lane(2);
    std::int64_t const tile_rows = a.rows / (ranks * chunks);
    std::int64_t const tile = tile_rows * y.columns;
    int const next = (rank + 1) % ranks;
    int const previous = (rank + ranks - 1) % ranks;
    for (int step = 0; step < ranks; ++step) {
      int const shard = (rank + ranks - step - 1) % ranks;
      for (int c = 0; c < chunks; ++c) {
        std::int64_t const place = (step * chunks + c) * tile;
        float* const mine = partial.data() + place;
        float* const sum = bucket.data() + place;
        if (step > 0) {
          std::int64_t const before = place - chunks * tile;
          port.wait(side, step == 1 ? made[0][c] : added[step - 1][c]);
          message const hop[]{send(next, (step == 1 ? partial.data() : bucket.data()) + before, tile),
                              receive(previous, sum, tile)};
          port.exchange(1, hop);
          port.record(arrived[step - 1][c], side);
        }
        port.gemm(in, a.row_range((shard * chunks + c) * tile_rows, tile_rows), w,
                  {mine, tile_rows, y.columns});
        port.record(made[step][c], in);
        if (step == 0) continue;
        port.wait(adder, made[step][c]);
        port.wait(adder, arrived[step - 1][c]);
        bool const last = step + 1 == ranks;
        port.add(adder, last ? y.data + c * tile : sum, sum, mine, tile);
        if (!last || c + 1 == chunks) port.record(added[step][c], adder);
      }
    }
    port.wait(in, added[ranks - 1][chunks - 1]);
  }

  template <class Port>
  void bulk_gather(Port& port, host::stream& in, matrix_view<float const> source, matrix_view<float> target,
                   matrix_view<float const> a, matrix_view<float const> b, matrix_view<float> c) {
    host::stream& side = comm.lane(3);
    std::int64_t const shard = source.size();
    port.record(started, in);
    port.wait(side, started);
    piece pieces[ranks];
    for (int s = 0; s < ranks; ++s) pieces[s] = {target.data + s * shard, shard};
    port.all_gather(3, source.data, pieces);
    port.record(arrived[0][0], side);
    port.gemm(in, a, b, c);
    port.wait(in, arrived[0][0]);
  }

  host::communicator& comm;
  int rank;
  std::vector<float> landing;
  std::vector<float> partial;
  std::vector<float> bucket;
  host::event started;
  host::event arrived[ranks][chunks];
  host::event made[ranks][chunks];
  host::event added[ranks][chunks];
};

// --- Measurement ----------------------------------------------------------------------------------------------

/// Holds up streams until it is opened.
class gate {
 public:
  void close(host::stream& in) {
    ++closed_;
    in.enqueue([this] {
      ++arrived_;
      arrived_.notify_all();
      open_.wait(false);
      ++left_;
      left_.notify_all();
    });
  }

  void await_streams() {
    for (int now = arrived_; now != closed_; now = arrived_) arrived_.wait(now);
  }

  void open() {
    open_ = true;
    open_.notify_all();
    for (int now = left_; now != closed_; now = left_) left_.wait(now);
    open_ = false;
    closed_ = arrived_ = left_ = 0;
  }

 private:
  int closed_ = 0;
  std::atomic<int> arrived_{0};
  std::atomic<int> left_{0};
  std::atomic<bool> open_{false};
};

double median(std::vector<double>& values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct options {
  int batches = 1000;
  bool check = false;
};

/// Issues batches of `calls` (generated and by hand) in turn; returns the median nanoseconds of one call of each.
class bench {
 public:
  bench(host::communicator& comm, options chosen) : comm_{comm}, chosen_{chosen} {}

  /// Returns whether the target is met.
  bool compare(char const* name, program_view const& program, tally const& by_hand_tally,
               std::function<void()> const& generated, std::function<void()> const& hand_written) {
    if (!(tally_of(program) == by_hand_tally)) {
      std::fprintf(stderr, "%s: the hand-written code does not issue the same operations\n", name);
      std::exit(2);
    }
    std::vector<double> times[2];
    std::function<void()> const* const variants[] = {&generated, &hand_written};
    for (int batch = -10; batch < chosen_.batches; ++batch) {
      for (int i = 0; i < 2; ++i) {
        int const which = (i + batch) & 1;
        double const nanoseconds = batch_of(*variants[which]);
        if (batch >= 0) times[which].push_back(nanoseconds / calls_in_batch);
      }
    }
    if (comm_.rank() != 0) return true;
    double const call = median(times[0]);
    double const hand = median(times[1]);
    bool const met = call <= most * hand;
    std::printf("%-14s %10.0f %10.0f %8.3f  %s\n", name, call, hand, call / hand, met ? "" : "above target");
    std::fflush(stdout);
    return met;
  }

  host::stream& stream() { return stream_; }

 private:
  void barrier() {
    std::uint64_t const word[1]{};
    std::uint64_t all[ranks];
    comm_.host_all_gather(word, all);
  }

  /// Rank 0 issues alone behind its gate and is timed; then the others issue theirs, and all run.
  double batch_of(std::function<void()> const& call) {
    using clock = std::chrono::steady_clock;
    double nanoseconds = 0;
    barrier();
    if (comm_.rank() == 0) {
      for (int lane = 1; lane <= 3; ++lane) gate_.close(comm_.lane(lane));
      gate_.close(stream_);
      gate_.await_streams();
      auto const began = clock::now();
      for (int i = 0; i < calls_in_batch; ++i) call();
      nanoseconds = std::chrono::duration<double, std::nano>(clock::now() - began).count();
      gate_.open();
      barrier();
    } else {
      barrier();
      for (int i = 0; i < calls_in_batch; ++i) call();
    }
    comm_.wait(stream_);
    return nanoseconds;
  }

  host::communicator& comm_;
  options chosen_;
  host::stream stream_;
  gate gate_;
};

bool measure(host::communicator& comm, options chosen) {
  bench compared{comm, chosen};
  host::stream& stream = compared.stream();
  by_hand hand{comm};
  std::vector<float> rows(static_cast<std::size_t>(shape.rows * shape.inner));
  std::vector<float> weights(static_cast<std::size_t>(shape.inner * shape.columns));
  std::vector<float> result(static_cast<std::size_t>(shape.rows * shape.columns));
  std::vector<float> gathered(rows.size());
  matrix_view<float const> const all{rows.data(), shape.rows, shape.inner};          // (M, K)
  matrix_view<float const> const own{rows.data(), shape.rows / ranks, shape.inner};  // (M/P, K)
  matrix_view<float const> const w{weights.data(), shape.inner, shape.columns};      // (K, N)
  matrix_view<float> const y{result.data(), shape.rows, shape.columns};              // (M, N)
  matrix_view<float> const own_y{result.data(), shape.rows / ranks, shape.columns};  // (M/P, N)
  matrix_view<float> const target_rows{gathered.data(), shape.rows, shape.inner};    // (M, K)
  streams_port port{comm};
  bool met = true;

  auto const gather = [&](char const* name, auto policy, auto write_by_hand) {
    using object = overlap<decltype(policy), world<ranks>, host::communicator, empty_gemm>;
    std::vector<std::byte> workspace(object::workspace_bytes(shape));
    object call{comm, empty_gemm{}, shape, workspace};
    tally_port counting;
    write_by_hand(counting);
    met = compared.compare(
              name, object::program, counting.counted, [&] { call(stream, own, w, y); },
              [&] { write_by_hand(port); }) &&
          met;
  };
  gather("ring ag", producer_before_consumer<ring{.chunks = chunks}>{},
         [&](auto& to) { hand.ring_gather(to, stream, own, w, y); });
  gather("direct ag", producer_before_consumer<direct{.chunks = chunks}>{},
         [&](auto& to) { hand.direct_gather(to, stream, own, w, y); });
  gather("pipeline ag", producer_before_consumer<pipeline{.chunks = chunks}>{},
         [&](auto& to) { hand.pipeline_gather(to, stream, own, w, y); });

  {
    using object = overlap<consumer_before_reduction<ring{.chunks = chunks}>, world<ranks>,
                           host::communicator, empty_gemm>;
    std::vector<std::byte> workspace(object::workspace_bytes(shape));
    object call{comm, empty_gemm{}, shape, workspace};
    tally_port counting;
    hand.ring_reduction(counting, stream, all, w, own_y);
    met = compared.compare(
              "ring rs", object::program, counting.counted, [&] { call(stream, all, w, own_y); },
              [&] { hand.ring_reduction(port, stream, all, w, own_y); }) &&
          met;
  }
  {
    using object = overlap<independent_side_work<all_gather{}>, world<ranks>, host::communicator, empty_gemm>;
    object call{comm, empty_gemm{}, {.rows = shape.rows, .columns = shape.inner}};
    tally_port counting;
    hand.bulk_gather(counting, stream, own, target_rows, all, w, y);
    met =
        compared.compare(
            "bulk ag", object::program, counting.counted, [&] { call(stream, own, target_rows, all, w, y); },
            [&] { hand.bulk_gather(port, stream, own, target_rows, all, w, y); }) &&
        met;
  }
  return met;
}

}  // namespace

int main(int argc, char** argv) {
  options chosen;
  for (int i = 1; i < argc; ++i) {
    std::string_view const name = argv[i];
    if (name == "--check") {
      chosen.check = true;
    } else if (name == "--batches" && i + 1 < argc) {
      chosen.batches = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr, "usage: %s [--check] [--batches N]\n", argv[0]);
      return 2;
    }
  }
  std::printf(
      "Issuing one call, %d ranks, %d chunks: ns on the calling thread, medians of %d batches of %d calls\n"
      "%-14s %10s %10s %8s\n",
      ranks, chunks, chosen.batches, calls_in_batch, "schedule", "overlap", "by hand", "ratio");
  std::atomic<bool> met{true};
  host::run_ranks<ranks>([&](host::communicator& comm) {
    if (!measure(comm, chosen)) met = false;
  });
  return chosen.check && !met ? 1 : 0;
}
