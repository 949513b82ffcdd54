// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Walks a schedule and issues its operations to a backend and a communicator, in stream order, without allocating.
#pragma once

#include <tpoverlap/concepts/communicator.hpp>
#include <tpoverlap/core/element.hpp>
#include <tpoverlap/core/partition.hpp>
#include <tpoverlap/overlap/recording.hpp>
#include <tpoverlap/overlap/shard_geometry.hpp>
#include <tpoverlap/schedule/program.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace tpoverlap::inline v0 {

/// Where a buffer of a schedule lies in this call, and how large its rows are.
struct buffer_memory {
  std::byte* data = nullptr;
  std::size_t row_bytes = 0;
  std::int64_t row_elements = 0;
};

/// A run of rows that a functor works on in one piece: part of one shard, or all shards (`shard` is -1 then).
struct tile_run {
  int shard = -1;      ///< rank that owns the rows
  int chunk = 0;       ///< first chunk of the run
  row_range rows;      ///< in the gathered (or partial) matrix of all ranks
  bool first = false;  ///< whether nothing has been accumulated in this call yet
};

namespace detail {

template <class T>
struct type_tag {
  using type = T;
};

[[nodiscard]] constexpr int largest_access_count(program_view const& p) {
  int largest = 1;
  for (int i = 1; i + 1 < p.operation_count; ++i) {
    if (p.operations[i].accesses > largest) largest = p.operations[i].accesses;
  }
  return largest;
}

}  // namespace detail

/// Runs `Schedule` on one rank. `Types` names `input`, `output` and `reduction`, the element types of the buffers.
template <class Schedule, class Communicator, class Types, class Recorder>
class issuer {
 public:
  using backend = typename Communicator::backend;
  using stream = typename backend::stream;

  static constexpr program_view program = Schedule::program;
  static constexpr int ranks = Schedule::ranks;
  using geometry_type = shard_geometry<ranks, program.chunks>;

  /// `slot_rows` is the number of rows that one landing slot has room for.
  issuer(Communicator& comm, std::int64_t slot_rows, Recorder* recorder, char const* name)
      : comm_{comm}, slot_rows_{slot_rows}, recording_{recorder, program, comm.rank(), name} {
    cut_in_proportion(slot_rows, program.weights, program.chunks, slot_chunk_first_);
    for (int l = 1; l < program.lanes; ++l) lanes_[l] = &comm.lane(l);
  }
  issuer(issuer const&) = delete;
  issuer& operator=(issuer const&) = delete;

  [[nodiscard]] Communicator& communicator() const { return comm_; }

  /// Issues every operation but the join. `compute(stream, run, memory, role)` issues the functor on one run of rows,
  /// whose gathered (or partial) tile lies at `memory` with elements of `role`.
  template <class Compute>
  void issue(stream& caller, geometry_type const& rows, buffer_memory const* memory, Compute&& compute) {
    lanes_[0] = &caller;
    recording_.begin();
    first_run_ = true;
    if (rows.version() != resolved_for_) resolve(rows, memory);
    if constexpr (program.operation_count <= unrolled_up_to) {
      [&]<int... Index>(std::integer_sequence<int, Index...>) {
        (step(program.operations[Index], Index, rows, memory, compute), ...);
      }
      (std::make_integer_sequence<int, program.operation_count - 1>{});
    } else {
      for (int i = 0; i + 1 < program.operation_count; ++i)
        step(program.operations[i], i, rows, memory, compute);
    }
  }

  /// Lets the caller's stream wait for every lane: the schedule's last operation.
  void join(stream& caller) {
    constexpr int last = program.operation_count - 1;
    mark(caller, last, moment::reached);
    await(caller, program.operations[last]);
    mark(caller, last, moment::started);
    mark(caller, last, moment::ended);
  }

 private:
  /// Short schedules are issued by straight code; longer ones would cost more to compile than they save.
  static constexpr int unrolled_up_to = 40;

  template <class Compute>
  [[gnu::always_inline]] void step(operation const& op, int i, geometry_type const& rows,
                                   buffer_memory const* memory, Compute& compute) {
    stream& in = *lanes_[op.lane];
    mark(in, i, moment::reached);
    await(in, op);
    mark(in, i, moment::started);
    switch (op.kind) {
      case operation_kind::fork:
      case operation_kind::join: break;
      case operation_kind::gemm: run_functor(in, op, rows, memory, compute); break;
      case operation_kind::exchange: exchange(i, op, memory); break;
      case operation_kind::reduce: reduce(in, op, memory); break;
      case operation_kind::copy: copy(in, op, rows, memory); break;
      default: collective(i, op, rows, memory); break;
    }
    mark(in, i, moment::ended);
    if (op.event >= 0) backend::record(events_[op.event], in);
  }

  void await(stream& in, operation const& op) {
    for (int w = op.first_wait; w < op.first_wait + op.waits; ++w) {
      backend::wait(in, events_[program.operations[program.waits[w]].event]);
    }
  }

  void mark(stream& in, int index, moment when) { recording_.mark(in, index, when); }

  [[nodiscard]] int owner(tile_range const& tiles, int slot) const {
    return program.group.apply(comm_.rank(), tiles.slots == 1 ? tiles.shard : slot);
  }

  /// An access to one slot as this rank sees it: what does not change until row counts do.
  struct resolved_access {
    std::size_t offset = 0;  // from the start of its buffer, in bytes
    row_range rows;          // of all ranks' rows
    int owner = 0;
    int peer = 0;
  };

  void resolve(geometry_type const& rows, buffer_memory const* memory) {
    for (int i = 1; i + 1 < program.operation_count; ++i) {
      operation const& op = program.operations[i];
      for (int a = op.first_access; a < op.first_access + op.accesses; ++a) {
        tile_access const& use = program.accesses[a];
        if (use.tiles.slots != 1) continue;  // located when it is used
        buffer_memory const& m = memory[use.tiles.buffer];
        row_range const within =
            rows.within_shard(owner(use.tiles, use.tiles.slot), use.tiles.chunk,
                              program.chunks_in(use.tiles.buffer) == 1 ? program.chunks : use.tiles.chunks);
        resolved_access& found = resolved_[a];
        found.owner = owner(use.tiles, use.tiles.slot);
        found.rows = {rows.shard(found.owner).first + within.first, within.count};
        found.offset = static_cast<std::size_t>(first_row(use.tiles, use.tiles.slot, use.tiles.chunk, rows)) *
                       m.row_bytes;
        found.peer = use.peer == no_peer ? no_peer : program.group.apply(comm_.rank(), use.peer);
      }
    }
    resolved_for_ = rows.version();
  }

  [[nodiscard]] std::byte* address(int a, buffer_memory const* memory) const {
    std::byte* const start = memory[program.accesses[a].tiles.buffer].data;
    return start == nullptr ? nullptr : start + resolved_[a].offset;
  }

  /// Memory of the rows of `count` chunks in one slot.
  struct located {
    std::byte* data;
    row_range rows;  // within the shard
    int owner;
  };

  [[nodiscard]] located locate(tile_range const& tiles, int slot, int chunk, int count,
                               geometry_type const& rows, buffer_memory const* memory) const {
    buffer_memory const& m = memory[tiles.buffer];
    int const shard = owner(tiles, slot);
    auto const row = static_cast<std::size_t>(first_row(tiles, slot, chunk, rows));
    return {m.data == nullptr ? nullptr : m.data + row * m.row_bytes, rows.within_shard(shard, chunk, count),
            shard};
  }

  /// The row of a buffer at which a tile begins.
  [[nodiscard]] std::int64_t first_row(tile_range const& tiles, int slot, int chunk,
                                       geometry_type const& rows) const {
    int const shard = owner(tiles, slot);
    switch (program.buffers[tiles.buffer].arrangement) {
      case layout::own: return rows.within_shard(shard, chunk).first;
      case layout::by_shard: return rows.shard(shard).first + rows.within_shard(shard, chunk).first;
      case layout::by_chunk: return rows.by_chunk(shard, chunk);
      // Chunks begin where those of the largest shard do: shards of different sizes follow each other in one slot,
      // and one's chunk must not lie on another's.
      case layout::by_slot: return slot * slot_rows_ + slot_chunk_first_[chunk];
      case layout::whole: return 0;
    }
    return 0;
  }

  /// Calls `f` for the longest runs of rows that lie together.
  template <class F>
  void for_each_run(int a, geometry_type const& rows, buffer_memory const* memory, F f) {
    tile_range const& tiles = program.accesses[a].tiles;
    if (tiles.slots == 1 && tiles.chunks == 1) {
      return f(tile_run{resolved_[a].owner, tiles.chunk, resolved_[a].rows}, address(a, memory));
    }
    layout const arrangement = program.buffers[tiles.buffer].arrangement;
    if (arrangement == layout::by_shard && tiles.slots == ranks && tiles.chunks == program.chunks) {
      return f(tile_run{-1, 0, {0, rows.total()}}, memory[tiles.buffer].data);
    }
    bool const apart = arrangement == layout::by_chunk || arrangement == layout::by_slot;
    int const together = apart ? 1 : tiles.chunks;
    for (int c = tiles.chunk; c < tiles.chunk + tiles.chunks; c += together) {
      for (int s = tiles.slot; s < tiles.slot + tiles.slots; ++s) {
        located const at = locate(tiles, s, c, together, rows, memory);
        std::int64_t const first = rows.shard(at.owner).first + at.rows.first;
        f(tile_run{at.owner, c, {first, at.rows.count}}, at.data);
      }
    }
  }

  template <class Compute>
  void run_functor(stream& in, operation const& op, geometry_type const& rows, buffer_memory const* memory,
                   Compute& compute) {
    tile_access const* const uses = program.accesses + op.first_access;
    int tiles = 0;
    bool accumulates = false;
    for (int a = 0; a < op.accesses; ++a) {
      if (uses[a].mode == access_mode::read) tiles = a;
      if (uses[a].mode == access_mode::accumulate) accumulates = true;
    }
    buffer const& worked_on = program.buffers[uses[tiles].tiles.buffer];
    if (worked_on.arrangement == layout::whole) {
      return compute(in, tile_run{-1, 0, {0, rows.total()}, true}, memory[uses[tiles].tiles.buffer].data,
                     worked_on.element);
    }
    bool const one_result = op.accesses == 2 && result_is_whole(uses);
    if (one_result && !accumulates) first_run_ = true;
    for_each_run(op.first_access + tiles, rows, memory, [&](tile_run run, std::byte* at) {
      run.first = one_result ? first_run_ : !accumulates;
      // An empty run still starts an accumulation: somebody has to clear the result.
      if (run.rows.count == 0 && !(one_result && run.first)) return;
      first_run_ = false;
      compute(in, run, at, worked_on.element);
    });
  }

  static bool result_is_whole(tile_access const* uses) {
    return program.buffers[uses[0].tiles.buffer].arrangement == layout::whole ||
           program.buffers[uses[1].tiles.buffer].arrangement == layout::whole;
  }

  void exchange(int index, operation const& op, buffer_memory const* memory) {
    message messages[detail::largest_access_count(program)];
    call_site where{"exchange", index};
    for (int a = 0; a < op.accesses; ++a) {
      tile_access const& use = program.accesses[op.first_access + a];
      resolved_access const& half = resolved_[op.first_access + a];
      bool const receives = use.mode == access_mode::write;
      messages[a] = {receives ? message::direction::receive : message::direction::send, half.peer,
                     address(op.first_access + a, memory),
                     static_cast<std::size_t>(half.rows.count) * memory[use.tiles.buffer].row_bytes};
      if (receives || where.shard < 0) {
        where.shard = half.owner;
        where.chunk = use.tiles.chunk;
      }
    }
    comm_.exchange(op.lane, std::span<message const>{messages, static_cast<std::size_t>(op.accesses)}, where);
  }

  void collective(int index, operation const& op, geometry_type const& rows, buffer_memory const* memory) {
    tile_access const* const uses = program.accesses + op.first_access;
    // Which access spans all shards cannot be told from its size: one rank's shard is all shards.
    bool const read_first = uses[0].mode == access_mode::read;
    int const wide = op.accesses == 2 && read_first == (op.kind == operation_kind::all_gather) ? 1 : 0;
    tile_range const& shards = uses[wide].tiles;
    piece pieces[ranks];
    for (int s = 0; s < ranks; ++s) {
      located const at = locate(shards, s, shards.chunk, shards.chunks, rows, memory);
      pieces[at.owner] = {at.data, at.rows.count * memory[shards.buffer].row_elements};
    }
    call_site const where{name_of(op.kind), index, -1, shards.chunk};
    with_type(program.buffers[shards.buffer].element, [&](auto tag) {
      constexpr element type = element_of<typename decltype(tag)::type>;
      std::span<piece const> const all{pieces};
      if (op.kind == operation_kind::all_gather) {
        if constexpr (has_all_gather<Communicator>) {
          comm_.all_gather(op.lane, address(op.first_access + 1 - wide, memory), all, type, where);
        }
      } else if (op.kind == operation_kind::reduce_scatter) {
        if constexpr (has_reduce_scatter<Communicator>) {
          comm_.reduce_scatter(op.lane, all, address(op.first_access + 1 - wide, memory), type, where);
        }
      } else if constexpr (has_all_reduce<Communicator>) {
        comm_.all_reduce(op.lane, all, type, where);
      }
    });
  }

  /// to = a + b, where an accumulating `to` is its own first operand.
  void reduce(stream& in, operation const& op, buffer_memory const* memory) {
    int const first = op.first_access;
    int operands[3];
    int count = 0;
    int to = first;
    for (int a = first; a < first + op.accesses; ++a) {
      if (program.accesses[a].mode != access_mode::read) to = a;
      if (program.accesses[a].mode != access_mode::write) operands[count++] = a;
    }
    std::int64_t const elements =
        resolved_[to].rows.count * memory[program.accesses[to].tiles.buffer].row_elements;
    if (elements == 0) return;
    with_type(role(to), [&](auto to_tag) {
      with_type(role(operands[0]), [&](auto left_tag) {
        with_type(role(operands[1]), [&](auto right_tag) {
          backend::add(in, as<typename decltype(to_tag)::type>(address(to, memory)),
                       as<typename decltype(left_tag)::type const>(address(operands[0], memory)),
                       as<typename decltype(right_tag)::type const>(address(operands[1], memory)), elements);
        });
      });
    });
  }

  void copy(stream& in, operation const& op, geometry_type const& rows, buffer_memory const* memory) {
    tile_access const* const uses = program.accesses + op.first_access;
    int const written = uses[0].mode == access_mode::write ? 0 : 1;
    tile_range const& to = uses[written].tiles;
    tile_range const& from = uses[1 - written].tiles;
    with_type(role(op.first_access + written), [&](auto to_tag) {
      with_type(role(op.first_access + 1 - written), [&](auto from_tag) {
        using target = typename decltype(to_tag)::type;
        using source = typename decltype(from_tag)::type;
        for (int s = 0; s < to.slots; ++s) {
          for (int c = 0; c < to.chunks; ++c) {
            located const there = locate(to, to.slot + s, to.chunk + c, 1, rows, memory);
            located const here = locate(from, from.slot + s, from.chunk + c, 1, rows, memory);
            std::int64_t const elements = there.rows.count * memory[to.buffer].row_elements;
            if (elements > 0 && there.data != here.data) {
              backend::copy(in, as<target>(there.data), as<source const>(here.data), elements);
            }
          }
        }
      });
    });
  }

  static element_role role(int a) { return program.buffers[program.accesses[a].tiles.buffer].element; }

  template <class T>
  static T* as(std::byte* data) {
    return reinterpret_cast<T*>(data);
  }

  /// Calls `f` with the element type of `role`; types that are the same are compiled once.
  template <class F>
  static void with_type(element_role role, F f) {
    using in = typename Types::input;
    using out = typename Types::output;
    using sum = typename Types::reduction;
    if constexpr (std::is_same_v<in, out> && std::is_same_v<out, sum>) {
      f(detail::type_tag<out>{});
    } else {
      switch (role) {
        case element_role::input: f(detail::type_tag<in>{}); break;
        case element_role::output: f(detail::type_tag<out>{}); break;
        case element_role::reduction: f(detail::type_tag<sum>{}); break;
      }
    }
  }

  Communicator& comm_;
  stream* lanes_[program.lanes]{};
  typename backend::event events_[program.events > 0 ? program.events : 1];
  std::int64_t slot_rows_;
  std::int64_t slot_chunk_first_[program.chunks + 1];  ///< of a shard that fills a slot
  std::uint64_t resolved_for_ = 0;
  resolved_access resolved_[program.access_count];
  [[no_unique_address]] recording<Recorder> recording_;
  bool first_run_ = true;
};

}  // namespace tpoverlap::inline v0
