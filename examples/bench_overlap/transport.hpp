// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A communicator whose kind is chosen at run time, so that every strategy is compiled once for threads and for MPI.
#pragma once

#include <tpoverlap/concepts/communicator.hpp>
#include <tpoverlap/host/backend.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {

using stream = tpoverlap::host::stream;

/// The collectives that come with a transport's library: what a program without tpoverlap would call. Blocking, on the
/// calling thread. Every rank's part is equally large.
class library_collectives {
 public:
  library_collectives() = default;
  library_collectives(library_collectives const&) = delete;
  library_collectives& operator=(library_collectives const&) = delete;
  virtual ~library_collectives() = default;

  virtual void all_gather(float const* own, float* all, std::int64_t own_elements) = 0;
  virtual void reduce_scatter(float const* all, float* own, std::int64_t own_elements) = 0;
  virtual void all_reduce(float* shared, std::int64_t elements) = 0;
};

/// What a table has to say about where it was measured.
struct surroundings {
  std::string transport;           ///< "Open MPI v4.1.4", or what stands in its place
  std::vector<std::string> hosts;  ///< of each rank
  bool emulated = false;
};

/// Models `tpoverlap::communicator` with all its capabilities.
class transport {
 public:
  using backend = tpoverlap::host::backend;

  transport() = default;
  transport(transport const&) = delete;
  transport& operator=(transport const&) = delete;
  virtual ~transport() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  virtual stream& lane(int index) = 0;
  virtual void exchange(int lane, std::span<tpoverlap::message const> messages,
                        tpoverlap::call_site where) = 0;
  virtual void all_gather(int lane, void const* own, std::span<tpoverlap::piece const> shards,
                          tpoverlap::element type, tpoverlap::call_site where) = 0;
  virtual void reduce_scatter(int lane, std::span<tpoverlap::piece const> partials, void* result,
                              tpoverlap::element type, tpoverlap::call_site where) = 0;
  virtual void all_reduce(int lane, std::span<tpoverlap::piece const> shards, tpoverlap::element type,
                          tpoverlap::call_site where) = 0;
  virtual void host_all_gather(std::span<std::uint64_t const> mine, std::span<std::uint64_t> all) = 0;
  virtual void abort(char const* reason) = 0;
  virtual void wait(stream& in) = 0;
  virtual void drain() noexcept = 0;

  // What only a benchmark asks for.

  /// All ranks leave it as close together as the transport allows.
  virtual void barrier() = 0;
  /// Whether all ranks are threads of this process, and read one clock.
  [[nodiscard]] virtual bool in_one_process() const = 0;
  /// Null if the transport has no library of its own.
  virtual library_collectives* library() { return nullptr; }
  [[nodiscard]] virtual surroundings const& where() const = 0;
};

static_assert(tpoverlap::communicator<transport>);

/// Passes on what a communicator has; the rest is up to whoever derives from it.
template <class Communicator>
class transport_over : public transport {
 public:
  transport_over(Communicator& comm, surroundings where) : comm_{comm}, where_{std::move(where)} {}

  [[nodiscard]] int rank() const override { return comm_.rank(); }
  [[nodiscard]] int size() const override { return comm_.size(); }
  stream& lane(int index) override { return comm_.lane(index); }
  void exchange(int lane, std::span<tpoverlap::message const> messages, tpoverlap::call_site at) override {
    comm_.exchange(lane, messages, at);
  }
  void all_gather(int lane, void const* own, std::span<tpoverlap::piece const> shards,
                  tpoverlap::element type, tpoverlap::call_site at) override {
    comm_.all_gather(lane, own, shards, type, at);
  }
  void reduce_scatter(int lane, std::span<tpoverlap::piece const> partials, void* result,
                      tpoverlap::element type, tpoverlap::call_site at) override {
    comm_.reduce_scatter(lane, partials, result, type, at);
  }
  void all_reduce(int lane, std::span<tpoverlap::piece const> shards, tpoverlap::element type,
                  tpoverlap::call_site at) override {
    comm_.all_reduce(lane, shards, type, at);
  }
  void host_all_gather(std::span<std::uint64_t const> mine, std::span<std::uint64_t> all) override {
    comm_.host_all_gather(mine, all);
  }
  void abort(char const* reason) override { comm_.abort(reason); }
  void wait(stream& in) override { comm_.wait(in); }
  void drain() noexcept override { comm_.drain(); }
  [[nodiscard]] surroundings const& where() const override { return where_; }

 protected:
  Communicator& comm_;

 private:
  surroundings where_;
};

}  // namespace bench
