// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Plays a schedule on a model of a machine: how long it would take, for any number of ranks, also while compiling.
#pragma once

#include <tpoverlap/core/partition.hpp>
#include <tpoverlap/schedule/program.hpp>
#include <tpoverlap/schedule/scratch.hpp>

#include <cstdint>

namespace tpoverlap::inline v0 {

/// What work costs on one rank of a machine. All ranks are alike.
///
/// **Units** seconds, bytes, floating-point operations (a multiply-add counts as two).
struct machine_model {
  double flops_per_second = 0;  ///< of the GEMM, on pieces large enough
  double half_speed_rows = 0;   ///< rows of a piece (of the dimension that is cut) that reach half of that
  double link_bytes_per_second = 0;    ///< of a rank's link, each way
  double latency_seconds = 0;          ///< of a message, whatever its size
  double links = 1;                    ///< peers that a rank sends to at full speed at the same time
  double memory_bytes_per_second = 0;  ///< of additions and copies; 0: they cost nothing
  double launch_seconds =
      0;  ///< that each operation, and each piece of a GEMM, occupies its lane beside its work
  double issue_seconds = 0;  ///< that the host needs to issue an operation; they are issued one by one

  friend constexpr bool operator==(machine_model const&, machine_model const&) = default;
};

/// What a schedule works on. The bytes of a row depend on a buffer's element role: input, output, reduction.
struct schedule_work {
  std::int64_t rows = 0;          ///< of the dimension that is cut, all ranks together; split evenly
  double flops_per_row = 0;       ///< of the GEMM on one such row
  double row_bytes[3]{};          ///< by element_role
  double product_flops = 0;       ///< of a GEMM that is not cut (side work)
  std::int64_t product_rows = 0;  ///< and its rows

  friend constexpr bool operator==(schedule_work const&, schedule_work const&) = default;
};

/// A predicted call, from its start in the caller's stream to its end there.
struct predicted_time {
  double seconds = 0;
  double gemm_seconds = 0;  ///< that the compute lane is busy with GEMMs
  double link_seconds = 0;  ///< that communication lanes are busy, added up

  /// What the call takes beyond its GEMMs.
  [[nodiscard]] constexpr double exposed() const { return seconds - gemm_seconds; }
  friend constexpr bool operator==(predicted_time const&, predicted_time const&) = default;
};

namespace detail {

/// Prices the operations of one program.
class operation_prices {
 public:
  constexpr operation_prices(program_view const& program, schedule_work const& work,
                             machine_model const& machine)
      : p_{program}, work_{work}, machine_{machine}, first_(program.chunks + 1) {
    std::int64_t const largest = even_part(work.rows, program.group.ranks, 0).count;
    cut_in_proportion(largest, program.weights, program.chunks, &first_[0]);
  }

  [[nodiscard]] constexpr double seconds(operation const& op) const {
    if (op.kind == operation_kind::fork || op.kind == operation_kind::join) return 0;
    if (op.kind == operation_kind::gemm) return gemm(op);
    if (op.kind == operation_kind::exchange) return machine_.launch_seconds + exchange(op);
    if (is_collective(op.kind)) return machine_.launch_seconds + collective(op);
    return machine_.launch_seconds + in_memory(op);
  }

 private:
  /// Rows of `count` chunks of the largest shard, of which every rank's lane meets one.
  [[nodiscard]] constexpr std::int64_t rows_of(int chunk, int count) const {
    return first_[chunk + count] - first_[chunk];
  }

  [[nodiscard]] constexpr double bytes(tile_range const& r) const {
    double const row = work_.row_bytes[static_cast<int>(p_.buffers[r.buffer].element)];
    return row * static_cast<double>(r.slots * rows_of(r.chunk, r.chunks));
  }

  static constexpr double over(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

  /// A piece of `rows` rows runs at rows / (rows + half_speed_rows) of the full rate.
  [[nodiscard]] constexpr double piece(std::int64_t rows, double flops_per_row) const {
    if (rows == 0) return 0;
    return machine_.launch_seconds +
           over((static_cast<double>(rows) + machine_.half_speed_rows) * flops_per_row,
                machine_.flops_per_second);
  }

  [[nodiscard]] constexpr double gemm(operation const& op) const {
    for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
      tile_range const& r = p_.accesses[a].tiles;
      if (p_.buffers[r.buffer].arrangement == layout::whole) continue;
      // Rows that lie together are one piece, as the issuer runs them.
      if (r.slots == p_.group.ranks && r.chunks == p_.chunks) return piece(work_.rows, work_.flops_per_row);
      return r.slots * piece(rows_of(r.chunk, r.chunks), work_.flops_per_row);
    }
    if (work_.product_rows == 0) return machine_.launch_seconds;
    return piece(work_.product_rows, work_.product_flops / static_cast<double>(work_.product_rows));
  }

  /// Every link to a peer carries what goes to that peer; together they carry no more than `links` of them would.
  [[nodiscard]] constexpr double exchange(operation const& op) const {
    double all = 0;
    double busiest = 0;
    for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
      if (p_.accesses[a].mode != access_mode::read) continue;
      all += bytes(p_.accesses[a].tiles);
      double to_peer = 0;
      for (int b = op.first_access; b < op.first_access + op.accesses; ++b) {
        if (p_.accesses[b].mode == access_mode::read && p_.accesses[b].peer == p_.accesses[a].peer) {
          to_peer += bytes(p_.accesses[b].tiles);
        }
      }
      if (to_peer > busiest) busiest = to_peer;
    }
    double const shared = over(all, machine_.links);
    return machine_.latency_seconds +
           over(shared > busiest ? shared : busiest, machine_.link_bytes_per_second);
  }

  /// As a ring would: every rank sends one shard's tiles to its neighbour P - 1 times, twice for an AllReduce.
  [[nodiscard]] constexpr double collective(operation const& op) const {
    tile_range shard = p_.accesses[op.first_access].tiles;
    shard.slots = 1;
    int const hops = (p_.group.ranks - 1) * (op.kind == operation_kind::all_reduce ? 2 : 1);
    return hops * (machine_.latency_seconds + over(bytes(shard), machine_.link_bytes_per_second));
  }

  [[nodiscard]] constexpr double in_memory(operation const& op) const {
    double moved = 0;
    for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
      bool const twice = p_.accesses[a].mode == access_mode::accumulate;
      moved += bytes(p_.accesses[a].tiles) * (twice ? 2 : 1);
    }
    return over(moved, machine_.memory_bytes_per_second);
  }

  program_view p_;
  schedule_work const& work_;
  machine_model const& machine_;
  scratch<std::int64_t> first_;  // row of the largest shard at which each chunk begins
};

}  // namespace detail

/// Plays `program`: an operation starts when its lane is free, its waits are over and the host has issued it. `visit(i,
/// start, end)` is called for every operation, in issue order, in seconds from the start of the call.
///
/// All ranks run one list on machines that are alike, so that a message's two ends come at the same time and one rank
/// stands for all. Lanes do not slow each other down.
template <class Visit>
constexpr predicted_time play(program_view const& program, schedule_work const& work,
                              machine_model const& machine, Visit visit) {
  detail::operation_prices const prices{program, work, machine};
  predicted_time result;
  scratch<double> end(program.operation_count);
  scratch<double> lane_free(program.lanes);
  double issued = 0;
  for (int i = 0; i < program.operation_count; ++i) {
    operation const& op = program.operations[i];
    if (op.kind != operation_kind::fork && op.kind != operation_kind::join) issued += machine.issue_seconds;
    double start = lane_free[op.lane] > issued ? lane_free[op.lane] : issued;
    for (int w = op.first_wait; w < op.first_wait + op.waits; ++w) {
      if (end[program.waits[w]] > start) start = end[program.waits[w]];
    }
    double const cost = prices.seconds(op);
    end[i] = start + cost;
    lane_free[op.lane] = end[i];
    if (op.kind == operation_kind::gemm) result.gemm_seconds += cost;
    if (op.kind == operation_kind::exchange || is_collective(op.kind)) result.link_seconds += cost;
    if (end[i] > result.seconds) result.seconds = end[i];
    visit(i, start, end[i]);
  }
  return result;
}

/// How long a call of `program` takes on `machine`.
[[nodiscard]] constexpr predicted_time predict(program_view const& program, schedule_work const& work,
                                               machine_model const& machine) {
  return play(program, work, machine, [](int, double, double) {});
}

}  // namespace tpoverlap::inline v0
