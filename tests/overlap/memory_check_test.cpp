// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What overlap objects ask of a communicator and a backend beforehand: whether memory is within reach, and that events
//! be made ready. Backends of devices need both; here one on the host keeps a list.

#include "../support/catch.hpp"
#include "rank_outcomes.hpp"

#include <tpoverlap/tpoverlap.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

using namespace tpoverlap;
using namespace tpoverlap_test;

namespace {

constexpr int ranks = 2;
using gemm = host::reference_gemm<float>;

struct listing_backend : host::backend {
  static inline thread_local int prepared = 0;
  static void prepare(host::event&, host::stream&) { ++prepared; }
};

// Has every collective, and refuses memory that is on its list.
class listing_communicator {
 public:
  using backend = listing_backend;

  explicit listing_communicator(host::communicator& transport) : transport_{&transport} {}

  [[nodiscard]] int rank() const { return transport_->rank(); }
  [[nodiscard]] int size() const { return transport_->size(); }
  host::stream& lane(int index) { return transport_->lane(index); }
  void exchange(int lane, std::span<message const> messages, call_site where) {
    transport_->exchange(lane, messages, where);
  }
  void all_gather(int lane, void const* own, std::span<piece const> shards, element type, call_site where) {
    transport_->all_gather(lane, own, shards, type, where);
  }
  void all_reduce(int lane, std::span<piece const> shards, element type, call_site where) {
    transport_->all_reduce(lane, shards, type, where);
  }
  void check_memory(char const* name, void const* data) const {
    if (std::find(refused.begin(), refused.end(), data) == refused.end()) return;
    raise(usage_error{(std::string{"out of reach: "} + name).c_str(), rank()});
  }

  std::vector<void const*> refused;

 private:
  host::communicator* transport_;
};

// Each operand is refused once, by name and on all ranks, and the same call works when it is not.
template <class Call>
void refuse_each(listing_communicator& comm, std::vector<std::pair<char const*, void const*>> const& operands,
                 Call call) {
  for (auto const& [name, data] : operands) {
    comm.refused = {data};
    require(text_thrown<usage_error>(call) ==
                "tpoverlap: rank " + std::to_string(comm.rank()) + ": out of reach: " + name,
            std::string{name} + " is not checked");
    comm.refused.clear();
  }
  require(text_thrown<std::exception>(call).empty(), "the right call does not work");
}

struct memory {
  explicit memory(std::size_t elements) : of(elements) {}
  matrix_view<float> view(std::int64_t rows, std::int64_t columns) { return {of.data(), rows, columns}; }
  std::vector<float> of;
};

}  // namespace

TEST_CASE("Operands that a rank cannot reach are refused by name, before anything is launched") {
  host::run_ranks<ranks>([](host::communicator& transport) {
    listing_communicator comm{transport};
    memory x{2 * 3}, w{3 * 5}, y{4 * 5}, all{4 * 3}, a{4 * 3}, own{2 * 5}, source{2 * 5}, target{4 * 5},
        c{4 * 5};
    std::vector<std::byte> workspace(1 << 12);
    host::stream stream;

    {
      overlap up{producer_before_consumer<ring{}, gather{.keep_gathered = true}>{},
                 world<ranks>{},
                 comm,
                 gemm{},
                 gemm_shape{.rows = 4, .inner = 3, .columns = 5},
                 workspace};
      refuse_each(comm,
                  {{"x", x.of.data()},
                   {"the other operand", w.of.data()},
                   {"y", y.of.data()},
                   {"gathered", all.of.data()}},
                  [&] {
                    up(stream, x.view(2, 3), w.view(3, 5), y.view(4, 5), all.view(4, 3));
                    transport.wait(stream);
                  });
    }
    {
      overlap down{consumer_before_reduction<ring{}>{},
                   world<ranks>{},
                   comm,
                   gemm{},
                   gemm_shape{.rows = 4, .inner = 3, .columns = 5},
                   workspace};
      refuse_each(comm, {{"a", a.of.data()}, {"w", w.of.data()}, {"y", own.of.data()}}, [&] {
        down(stream, a.view(4, 3), w.view(3, 5), own.view(2, 5));
        transport.wait(stream);
      });
    }
    {
      overlap side{independent_side_work<all_gather{}>{},     world<ranks>{},        comm, gemm{},
                   collective_shape{.rows = 4, .columns = 5}, std::span<std::byte>{}};
      refuse_each(comm,
                  {{"source", source.of.data()},
                   {"target", target.of.data()},
                   {"a", a.of.data()},
                   {"b", w.of.data()},
                   {"c", c.of.data()}},
                  [&] {
                    side(stream, source.view(2, 5), target.view(4, 5), a.view(4, 3), w.view(3, 5),
                         c.view(4, 5));
                    transport.wait(stream);
                  });
    }
    {
      overlap sum{independent_side_work<all_reduce{}>{},     world<ranks>{},        comm, gemm{},
                  collective_shape{.rows = 4, .columns = 5}, std::span<std::byte>{}};
      refuse_each(comm, {{"the shared matrix", target.of.data()}}, [&] {
        sum(stream, target.view(4, 5), a.view(4, 3), w.view(3, 5), c.view(4, 5));
        transport.wait(stream);
      });
    }

    comm.refused = {workspace.data()};
    using object = overlap<producer_before_consumer<ring{}>, world<ranks>, listing_communicator, gemm>;
    auto const told = text_thrown<usage_error>([&] {
      object{comm, gemm{}, {.rows = 4, .inner = 3, .columns = 5}, workspace};
    });
    require(has(told, "out of reach: the workspace"), told);
  });
}

TEST_CASE("Every event is prepared when an object is built, and none later") {
  host::run_ranks<ranks>([](host::communicator& transport) {
    listing_communicator comm{transport};
    memory x{2 * 3}, w{3 * 5}, y{4 * 5};
    std::vector<std::byte> workspace(1 << 12);
    host::stream stream;
    listing_backend::prepared = 0;
    using object = overlap<producer_before_consumer<ring{}>, world<ranks>, listing_communicator, gemm>;
    object up{comm, gemm{}, {.rows = 4, .inner = 3, .columns = 5}, workspace};
    require(object::program.events > 0 && listing_backend::prepared == object::program.events,
            "events are missing");
    up(stream, x.view(2, 3), w.view(3, 5), y.view(4, 5));
    transport.wait(stream);
    require(listing_backend::prepared == object::program.events, "a call prepares events");

    listing_backend::prepared = 0;
    using side_object =
        overlap<independent_side_work<all_gather{}>, world<ranks>, listing_communicator, gemm>;
    side_object side{comm, gemm{}, {.rows = 4, .columns = 5}};
    require(listing_backend::prepared == side_object::program.events + 1,
            "the event of the product is missing");
  });
}
