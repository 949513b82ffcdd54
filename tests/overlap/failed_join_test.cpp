// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A token whose stream cannot be joined, as a CUDA stream after a failed capture: the failure is told, nothing is left
//! running, and the object works on.

#include "../support/catch.hpp"
#include "rank_outcomes.hpp"

#include <tpoverlap/tpoverlap.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

using namespace tpoverlap;
using namespace tpoverlap_test;

namespace {

constexpr int ranks = 2;

struct refusing_backend : host::backend {
  static inline thread_local bool refuses = false;
  static void wait(host::stream& in, host::event const& mark) {
    if (refuses) raise(usage_error{"this stream cannot wait"});
    host::backend::wait(in, mark);
  }
};

class draining_communicator {
 public:
  using backend = refusing_backend;
  explicit draining_communicator(host::communicator& transport) : transport_{&transport} {}

  [[nodiscard]] int rank() const { return transport_->rank(); }
  [[nodiscard]] int size() const { return transport_->size(); }
  host::stream& lane(int index) { return transport_->lane(index); }
  void exchange(int lane, std::span<message const> messages, call_site where) {
    transport_->exchange(lane, messages, where);
  }
  void all_gather(int lane, void const* own, std::span<piece const> shards, element type, call_site where) {
    transport_->all_gather(lane, own, shards, type, where);
  }
  void drain() noexcept {
    ++drained;
    transport_->drain();
  }

  int drained = 0;

 private:
  host::communicator* transport_;
};

}  // namespace

TEST_CASE(
    "A join that fails throws and leaves the work with its token, which waits for the lanes when it goes") {
  host::run_ranks<ranks>([](host::communicator& transport) {
    draining_communicator comm{transport};
    overlap side{independent_side_work<all_gather{}>{},     world<ranks>{},        comm, tiles<float>{},
                 collective_shape{.rows = 4, .columns = 3}, std::span<std::byte>{}};
    std::vector<float> own(6, static_cast<float>(comm.rank()));
    std::vector<float> all(12, -1);
    matrix_view<float const> const source{own.data(), 2, 3};
    matrix_view<float> const target{all.data(), 4, 3};
    host::stream stream;
    {
      auto token = side.start(stream, source, target);
      refusing_backend::refuses = true;
      require(has(text_thrown<usage_error>([&] { token.join(stream); }), "cannot wait"),
              "the failure is not told");
      require(token.pending(), "the work is lost");
      require(
          has(text_thrown<usage_error>([&] { (void)side.start(stream, source, target); }), "still in flight"),
          "the object forgets its work");
    }
    require(comm.drained == 1, "nobody waits for the lanes");
    require(all == std::vector<float>{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, "the work is still running");
    refusing_backend::refuses = false;
    side.start(stream, source, target).join(stream);
    transport.wait(stream);
  });
}
