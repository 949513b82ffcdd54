// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A communicator of either kind behind one type, so that each policy is compiled once, and without MPI.
#pragma once

#include <tpoverlap/concepts/communicator.hpp>
#include <tpoverlap/host/backend.hpp>

#include <cstdint>
#include <span>

namespace tpoverlap_test {

using namespace tpoverlap;

class any_communicator {
 public:
  using backend = host::backend;

  virtual ~any_communicator() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  virtual host::stream& lane(int index) = 0;
  virtual void exchange(int lane, std::span<message const> messages, call_site where) = 0;
  virtual void all_gather(int lane, void const* own, std::span<piece const> shards, element type,
                          call_site where) = 0;
  virtual void reduce_scatter(int lane, std::span<piece const> partials, void* result, element type,
                              call_site where) = 0;
  virtual void all_reduce(int lane, std::span<piece const> shards, element type, call_site where) = 0;
  virtual void host_all_gather(std::span<std::uint64_t const> mine, std::span<std::uint64_t> all) = 0;
  virtual void wait(host::stream& in) = 0;
  virtual void drain() noexcept = 0;
};

template <class Communicator>
class wrapped final : public any_communicator {
 public:
  explicit wrapped(Communicator& comm) : comm_{&comm} {}

  [[nodiscard]] int rank() const override { return comm_->rank(); }
  [[nodiscard]] int size() const override { return comm_->size(); }
  host::stream& lane(int index) override { return comm_->lane(index); }
  void exchange(int lane, std::span<message const> messages, call_site where) override {
    comm_->exchange(lane, messages, where);
  }
  void all_gather(int lane, void const* own, std::span<piece const> shards, element type,
                  call_site where) override {
    comm_->all_gather(lane, own, shards, type, where);
  }
  void reduce_scatter(int lane, std::span<piece const> partials, void* result, element type,
                      call_site where) override {
    comm_->reduce_scatter(lane, partials, result, type, where);
  }
  void all_reduce(int lane, std::span<piece const> shards, element type, call_site where) override {
    comm_->all_reduce(lane, shards, type, where);
  }
  void host_all_gather(std::span<std::uint64_t const> mine, std::span<std::uint64_t> all) override {
    comm_->host_all_gather(mine, all);
  }
  void wait(host::stream& in) override { comm_->wait(in); }
  void drain() noexcept override { comm_->drain(); }

 private:
  Communicator* comm_;
};

static_assert(communicator<any_communicator> && has_all_gather<any_communicator> &&
              has_reduce_scatter<any_communicator> && has_all_reduce<any_communicator> &&
              has_host_all_gather<any_communicator> && has_bounded_wait<any_communicator> &&
              has_drain<any_communicator>);

}  // namespace tpoverlap_test
