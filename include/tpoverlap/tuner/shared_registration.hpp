// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Several overlap objects on one workspace, which is registered with the communicator once.
#pragma once

#include <tpoverlap/concepts/communicator.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace tpoverlap::inline v0::detail {

/// A communicator without its registration: what it registers is none of these objects' business.
template <class Communicator>
class without_registration {
 public:
  using backend = typename Communicator::backend;

  explicit without_registration(Communicator& whole) : whole_{&whole} {}

  [[nodiscard]] int rank() const { return whole_->rank(); }
  [[nodiscard]] int size() const { return whole_->size(); }
  typename backend::stream& lane(int index) { return whole_->lane(index); }
  void exchange(int lane, std::span<message const> messages, call_site where) {
    whole_->exchange(lane, messages, where);
  }
  void all_gather(int lane, void const* own, std::span<piece const> shards, element type,
                  call_site where) requires has_all_gather<Communicator> {
    whole_->all_gather(lane, own, shards, type, where);
  }
  void reduce_scatter(int lane, std::span<piece const> partials, void* result, element type,
                      call_site where) requires has_reduce_scatter<Communicator> {
    whole_->reduce_scatter(lane, partials, result, type, where);
  }
  void all_reduce(int lane, std::span<piece const> shards, element type,
                  call_site where) requires has_all_reduce<Communicator> {
    whole_->all_reduce(lane, shards, type, where);
  }
  void host_all_gather(std::span<std::uint64_t const> mine,
                       std::span<std::uint64_t> all) requires has_host_all_gather<Communicator> {
    whole_->host_all_gather(mine, all);
  }
  void abort(char const* reason) requires has_abort<Communicator> { whole_->abort(reason); }
  void wait(typename backend::stream& stream) requires has_bounded_wait<Communicator> {
    whole_->wait(stream);
  }
  void drain() requires has_drain<Communicator> { whole_->drain(); }

 private:
  Communicator* whole_;
};

/// Hands a communicator to several objects on one workspace, and registers that for all of them where that is needed.
template <class Communicator>
class workspace_sharing {
  static constexpr bool registers = has_registration<Communicator>;

 public:
  using lent = std::conditional_t<registers, without_registration<Communicator>, Communicator>;

  explicit workspace_sharing(Communicator& comm) : comm_{comm}, lent_{comm} {}
  workspace_sharing(workspace_sharing const&) = delete;
  workspace_sharing& operator=(workspace_sharing const&) = delete;

  ~workspace_sharing() {
    if constexpr (registers) {
      if (data_ != nullptr) comm_.deregister_buffer(data_);
    }
  }

  void share(std::byte* data, std::size_t bytes) {
    if constexpr (registers) {
      if (bytes == 0) return;
      comm_.register_buffer(data, bytes);
      data_ = data;
    }
  }

  [[nodiscard]] Communicator& whole() const { return comm_; }
  [[nodiscard]] lent& communicator() {
    if constexpr (registers) {
      return lent_;
    } else {
      return comm_;
    }
  }

 private:
  Communicator& comm_;
  std::conditional_t<registers, without_registration<Communicator>, Communicator&> lent_;
  std::byte* data_ = nullptr;
};

}  // namespace tpoverlap::inline v0::detail
