// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What all overlap objects share: the schedule bound to a communicator, a workspace and a size.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/overlap/checks.hpp>
#include <tpoverlap/overlap/issuer.hpp>
#include <tpoverlap/overlap/requirements.hpp>
#include <tpoverlap/overlap/shape.hpp>
#include <tpoverlap/overlap/workspace.hpp>
#include <tpoverlap/schedule/program_hash.hpp>
#include <tpoverlap/schedule/schedule.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace tpoverlap::inline v0::detail {

/// Elements in one row of the buffers of each role.
struct row_widths {
  std::int64_t input = 0;
  std::int64_t output = 0;
};

template <class Policy, class World, class Communicator, class Types, class Recorder>
class overlap_base {
 public:
  using schedule_type = schedule<Policy, World::size>;
  using backend = typename Communicator::backend;
  using stream = typename backend::stream;

  static constexpr program_view program = schedule_type::program;
  static constexpr int ranks = World::size;
  static constexpr critical_path path = schedule_type::path;
  static constexpr bool hides_nothing = schedule_type::hides_nothing;

  static_assert(communicator_requirements<Communicator, schedule_type>::met);
  static_assert(sizeof(Types) > 0);  // says what the functor lacks
  static_assert(std::is_same_v<Recorder, no_recorder> || recorder_for<Recorder, stream>,
                "tpoverlap[E037]: a recorder has attach, begin and mark for the streams of this backend; add "
                "what is missing, or pass a trace::recorder<backend>");

  overlap_base(overlap_base const&) = delete;
  overlap_base& operator=(overlap_base const&) = delete;

 protected:
  using issuer_type = issuer<schedule_type, Communicator, Types, Recorder>;

  /// `agreed` are the numbers that must be the same on all ranks, with their names.
  overlap_base(Communicator& comm, extent size, row_widths widths, std::span<std::byte> workspace,
               Recorder* recorder, char const* name, std::span<std::int64_t const> agreed,
               std::span<char const* const> agreed_names)
      : size_{size}, workspace_{workspace}, issuer_{checked(comm), size.largest_shard, recorder, name} {
    prove_if_large();
    check_sizes(agreed, agreed_names);
    agree(agreed, agreed_names);
    set_row_sizes(memory_, widths);
    std::size_t const needed = place_workspace(program, size_, nullptr, memory_);
    if (workspace.size() < needed) {
      bounded_text<240> what;
      what << "the workspace has " << workspace.size() << " bytes, but this schedule needs " << needed
           << "; allocate workspace_bytes(shape)";
      raise(usage_error{what.view(), comm.rank()});
    }
    if (needed > 0 && reinterpret_cast<std::uintptr_t>(workspace.data()) % alignof(std::max_align_t) != 0) {
      raise(usage_error{"the workspace is not aligned for its elements; start it at a multiple of 16 bytes",
                        comm.rank()});
    }
    place_workspace(program, size_, workspace.data(), memory_);
    rows_.set_even(size.rows);
    if constexpr (has_registration<Communicator>) {
      if (needed > 0) comm.register_buffer(workspace.data(), needed);
    }
  }

  /// Lanes may still work on the caller's memory, above all when an exception is on its way out.
  ~overlap_base() {
    if constexpr (has_drain<Communicator>) communicator().drain();
    if constexpr (has_registration<Communicator>) {
      if (place_workspace(program, size_, nullptr, memory_) > 0)
        communicator().deregister_buffer(workspace_.data());
    }
  }

  /// Sizes that only this rank's GEMM depends on are no part of what ranks agree on, but sizes all the same.
  static void check_not_negative(Communicator const& comm, std::int64_t value, char const* name) {
    if (value >= 0) return;
    bounded_text<160> what;
    what << name << " is " << value << "; sizes are not negative";
    raise(usage_error{what.view(), comm.rank()});
  }

  static std::size_t bytes_for(extent size, row_widths widths) {
    buffer_memory memory[program.buffer_count]{};
    set_row_sizes(memory, widths);
    return place_workspace(program, size, nullptr, memory);
  }

  static extent sized(std::int64_t rows, std::int64_t largest_shard) {
    return {rows, largest_shard > 0 ? largest_shard : (rows + ranks - 1) / ranks};
  }

  [[nodiscard]] Communicator& communicator() const { return issuer_.communicator(); }
  [[nodiscard]] int rank() const { return communicator().rank(); }
  [[nodiscard]] row_range own_rows() const { return rows_.shard(rank()); }
  [[nodiscard]] memory_extent workspace_extent() const {
    return extent_of(workspace_.data(), workspace_.size());
  }

  /// Takes the row counts of a call, within what the object was built for.
  void set_rows(std::span<std::int64_t const> counts) {
    if (in_flight_) {
      raise(usage_error{"this object's side work is still in flight; join its token before the next call",
                        rank()});
    }
    if (counts.empty()) {
      if (std::int64_t const largest = (size_.rows + ranks - 1) / ranks; largest > size_.largest_shard) {
        bounded_text<280> what;
        what << "an even split of " << size_.rows << " rows has shards of " << largest
             << " rows, but this object was built for 0 to " << size_.largest_shard
             << "; build it with a larger `largest_shard`, or pass call_options::shard_rows";
        raise(usage_error{what.view(), rank()});
      }
      return rows_.set_even(size_.rows);
    }
    if (counts.size() != static_cast<std::size_t>(ranks)) {
      bounded_text<200> what;
      what << "call_options::shard_rows has " << counts.size() << " entries for " << ranks
           << " ranks; give one row count for each rank";
      raise(usage_error{what.view(), rank()});
    }
    std::int64_t total = 0;
    for (int s = 0; s < ranks; ++s) {
      std::int64_t const count = counts[static_cast<std::size_t>(s)];
      if (count < 0 || count > size_.largest_shard) {
        bounded_text<240> what;
        what << "rank " << s << "'s shard has " << count << " rows, but this object was built for 0 to "
             << size_.largest_shard << "; build it with a larger `largest_shard`";
        raise(usage_error{what.view(), rank()});
      }
      total += count;
    }
    if (total > size_.rows) {
      bounded_text<240> what;
      what << "the shards have " << total << " rows together, but this object was built for " << size_.rows
           << "; build it for the largest call";
      raise(usage_error{what.view(), rank()});
    }
    rows_.set(counts.template first<static_cast<std::size_t>(ranks)>());
  }

  template <class T>
  void bind(int buffer_index, matrix_view<T> const& view) {
    memory_[buffer_index].data = reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(view.data));
  }

  template <class Compute>
  void issue(stream& caller, Compute&& compute) {
    issuer_.issue(caller, rows_, memory_, compute);
  }

  void join(stream& caller) { issuer_.join(caller); }

  shard_geometry<ranks, program.chunks> rows_{program.weights};
  buffer_memory memory_[program.buffer_count]{};
  bool in_flight_ = false;

 private:
  static Communicator& checked(Communicator& comm) {
    if (comm.size() != ranks) {
      bounded_text<240> what;
      what << "the communicator has " << comm.size() << " ranks, but this object was built for world<"
           << ranks << ">; use world<" << comm.size() << ">, or dispatch_world for a size known at run time";
      raise(usage_error{what.view(), comm.rank()});
    }
    return comm;
  }

  static void set_row_sizes(buffer_memory* memory, row_widths const& widths) {
    constexpr std::size_t element_bytes[3] = {sizeof(typename Types::input), sizeof(typename Types::output),
                                              sizeof(typename Types::reduction)};
    for (int b = 0; b < program.buffer_count; ++b) {
      element_role const role = program.buffers[b].element;
      memory[b].row_elements = role == element_role::input ? widths.input : widths.output;
      memory[b].row_bytes =
          static_cast<std::size_t>(memory[b].row_elements) * element_bytes[static_cast<std::size_t>(role)];
    }
  }

  void prove_if_large() const {
    if constexpr (!schedule_type::proven_at_compile_time) {
      if (violation const found = verify(program); !found.verified()) {
        bounded_text<240> what;
        what << "the schedule breaks the rule '" << name_of(found.broken) << "' at operations " << found.first
             << " and " << found.second << ", buffer " << found.buffer << " slot " << found.slot << " chunk "
             << found.chunk << "; explain_schedule prints it in words";
        raise(schedule_error{what.view(), rank()});
      }
    }
  }

  void check_sizes(std::span<std::int64_t const> values, std::span<char const* const> names) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] >= 0) continue;
      bounded_text<160> what;
      what << names[i] << " is " << values[i] << "; sizes are not negative";
      raise(usage_error{what.view(), rank()});
    }
  }

  /// Compares what the ranks were built with. Every rank sees every rank's numbers, so all throw alike.
  void agree(std::span<std::int64_t const> values, std::span<char const* const> names) {
    if constexpr (has_host_all_gather<Communicator>) {
      constexpr std::size_t most = 16;
      std::uint64_t mine[most]{};
      std::uint64_t all[most * ranks]{};
      std::size_t const count = values.size() + 1;
      mine[0] = hash_of(program);
      for (int b = 0; b < program.buffer_count; ++b) {
        // A program says that sums have a type of their own, but not which.
        if (program.buffers[b].element == element_role::reduction)
          mine[0] += static_cast<std::uint64_t>(element_of<typename Types::reduction>);
      }
      for (std::size_t i = 1; i < count; ++i) mine[i] = static_cast<std::uint64_t>(values[i - 1]);
      communicator().host_all_gather(std::span<std::uint64_t const>{mine, count},
                                     std::span{all, count * ranks});
      for (int r = 1; r < ranks; ++r) {
        for (std::size_t i = 0; i < count; ++i) {
          std::uint64_t const other = all[static_cast<std::size_t>(r) * count + i];
          if (other == all[i]) continue;
          bounded_text<280> what;
          if (i == 0) {
            what << "rank " << r
                 << " runs another policy than rank 0; build the object with the same policy, world "
                 << "and options on every rank";
          } else {
            what << "rank 0 was built with " << names[i - 1] << " = " << static_cast<std::int64_t>(all[i])
                 << ", rank " << r << " with " << static_cast<std::int64_t>(other)
                 << "; pass the same shape on every rank";
          }
          raise(usage_error{what.view(), rank(), {}, rank() == r ? 0 : r});
        }
      }
    }
  }

  extent size_;
  std::span<std::byte> workspace_;
  issuer_type issuer_;
};

}  // namespace tpoverlap::inline v0::detail
