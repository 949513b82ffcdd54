// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Tuned objects of every dependency class and call form: each candidate gives the same result as another.

#include "../overlap/quick_compile.hpp"

#include "../overlap/rank_outcomes.hpp"
#include "../support/catch.hpp"
#include "scratch_folder.hpp"
#include "slow_gemm.hpp"

#include <tpoverlap/tuner.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

using namespace tpoverlap;
using namespace tpoverlap_test;
using namespace std::chrono_literals;

namespace {

constexpr int ranks = 2;
using gemm = host::reference_gemm<float>;
tuning once(int start = 0) { return {.rounds = 1, .sample = 0us, .start = start}; }

double cell(std::uint64_t seed, std::int64_t i, std::int64_t j) {
  return value(filling::integers, seed, i, j);
}
double product(std::uint64_t a, std::uint64_t b, std::int64_t inner, std::int64_t i, std::int64_t j) {
  double sum = 0;
  for (std::int64_t k = 0; k < inner; ++k) sum += cell(a, i, k) * cell(b, k, j);
  return sum;
}

// Every candidate in turn, as the one that an object starts with.
template <class Candidates, class F>
void with_each(F f) {
  for (int start = 0; start < Candidates::count; ++start) {
    host::run_ranks<ranks>([&](host::communicator& comm) { f(comm, once(start)); });
  }
}

}  // namespace

// [tuned_reduction begin]
using down_choices =
    candidates<consumer_before_reduction<ring{}, reduction{.accumulate = accumulation::separate}>,
               consumer_before_reduction<ring{.chunks = 2}, reduction{.accumulate = accumulation::fused}>,
               consumer_before_reduction<pipeline{.chunks = 2}>>;
// [tuned_reduction end]

TEST_CASE("a tuned reduction", "[tuned][reduction]") {
  with_each<down_choices>([](host::communicator& comm, tuning const& how) {
    using object = tuned_overlap<down_choices, world<ranks>, host::communicator, gemm>;
    gemm_shape const shape{.rows = 12, .inner = 5, .columns = 3};
    nan_bytes const workspace{object::workspace_bytes(shape)};
    object down{comm, {}, shape, workspace.span(), how};
    matrix<float> a{12, 5}, w{5, 3}, y{6, 3};
    fill(a.view(), filling::integers, static_cast<std::uint64_t>(1 + comm.rank()));
    fill(w.view(), filling::integers, 9);
    host::stream stream;
    auto const check = [&] {
      fill_nan(y.view());
      down(stream, a.view(), w.view(), y.view());
      comm.wait(stream);
      require_equal("y", y.view(), [&](std::int64_t i, std::int64_t j) {
        return product(1, 9, 5, 6 * comm.rank() + i, j) + product(2, 9, 5, 6 * comm.rank() + i, j);
      });
    };
    check();
    down.tune(stream, a.view(), w.view(), y.view());
    check();
  });
}

TEST_CASE("the workspace has room for each candidate", "[tuned]") {
  gemm_shape const shape{.rows = 1200, .inner = 5, .columns = 30};
  auto const bytes = [&]<int Index>(std::integral_constant<int, Index>) {
    return overlap<down_choices::policy<Index>, world<ranks>, host::communicator, gemm>::workspace_bytes(
        shape);
  };
  std::size_t const needed[] = {
      bytes(std::integral_constant<int, 0>{}), bytes(std::integral_constant<int, 1>{}),
      bytes(std::integral_constant<int, 2>{}), bytes(std::integral_constant<int, 3>{})};
  // Neither the first nor the last is the largest.
  REQUIRE((needed[1] > needed[0] && needed[1] > needed[3]));
  CHECK(tuned_overlap<down_choices, world<ranks>, host::communicator, gemm>::workspace_bytes(shape) ==
        *std::max_element(std::begin(needed), std::end(needed)));
}

TEST_CASE("a tuned gather that keeps what it gathers", "[tuned][gather]") {
  constexpr gather kept{.keep_gathered = true};
  using choices = candidates<producer_before_consumer<ring{}, kept>,
                             producer_before_consumer<pipeline{.chunks = 2}, kept>>;
  with_each<choices>([](host::communicator& comm, tuning const& how) {
    gemm_shape const shape{.rows = 8, .inner = 5, .columns = 3};
    using object = tuned_overlap<choices, world<ranks>, host::communicator, gemm>;
    nan_bytes const workspace{object::workspace_bytes(shape)};
    tuned_overlap up{choices{}, world<ranks>{}, comm, gemm{}, shape, workspace.span(), how};
    static_assert(std::is_same_v<decltype(up), object>);
    matrix<float> x{4, 5}, w{5, 3}, y{8, 3}, gathered{8, 5};
    fill(x.view(), filling::integers, 1, 4 * comm.rank());
    fill(w.view(), filling::integers, 2);
    host::stream stream;
    up.tune(stream, x.view(), w.view(), y.view(), gathered.view());
    fill_nan(y.view());
    fill_nan(gathered.view());
    up(stream, x.view(), w.view(), y.view(), gathered.view(), {.beta = 0});
    comm.wait(stream);
    require_equal("y", y.view(), [](auto i, auto j) { return product(1, 2, 5, i, j); });
    require_equal("gathered", gathered.view(), [](auto i, auto j) { return cell(1, i, j); });
  });
}

namespace {

// The collective's result and the product, by whichever candidate.
template <class SideWork, class Call>
void side(bool gathers, bool in_place, Call call) {
  using choices = candidates<SideWork>;
  with_each<choices>([&](host::communicator& comm, tuning const& how) {
    using object = tuned_overlap<choices, world<ranks>, host::communicator, gemm>;
    side_shape const shape{.collective = {6, 4}, .product = {5, 7, 3}};
    nan_bytes const workspace{object::workspace_bytes(shape)};
    object beside{comm, {}, shape, workspace.span(), how};
    matrix<float> whole{6, 4}, part{3, 4}, a{5, 7}, b{7, 3}, c{5, 3};
    fill(a.view(), filling::integers, 3);
    fill(b.view(), filling::integers, 4);
    host::stream stream;
    call(beside, stream, whole, part, a, b, c, true);  // tunes
    for (int again = 0; again < 2; ++again) {
      auto const seed = static_cast<std::uint64_t>(gathers ? 1 : 1 + comm.rank());
      fill(whole.view(), filling::integers, seed);
      fill(part.view(), filling::integers, seed, 3 * comm.rank());
      fill_nan(gathers ? whole.view() : in_place ? c.view() : part.view());
      fill_nan(c.view());
      call(beside, stream, whole, part, a, b, c, false);
      comm.wait(stream);
      require_equal("c", c.view(), [](auto i, auto j) { return product(3, 4, 7, i, j); });
      auto const& moved = gathers || in_place ? whole : part;
      require_equal("moved", moved.view(), [&](auto i, auto j) {
        if (gathers) return cell(1, i, j);
        std::int64_t const row = in_place ? i : 3 * comm.rank() + i;
        return cell(1, row, j) + cell(2, row, j);
      });
    }
  });
}

}  // namespace

TEST_CASE("tuned side work", "[tuned][side]") {
  auto const both = [](bool gathers) {
    return [gathers](auto& beside, auto& stream, auto& whole, auto& part, auto& a, auto& b, auto& c,
                     bool tunes) {
      auto& source = gathers ? part : whole;
      auto& target = gathers ? whole : part;
      if (tunes) {
        beside.tune(stream, source.view(), target.view(), a.view(), b.view(), c.view());
      } else {
        beside(stream, source.view(), target.view(), a.view(), b.view(), c.view());
      }
    };
  };
  side<independent_side_work<all_gather{}>>(true, false, both(true));
  side<independent_side_work<reduce_scatter{}>>(false, false, both(false));
  side<independent_side_work<all_reduce{}>>(
      false, true, [](auto& beside, auto& stream, auto& whole, auto&, auto& a, auto& b, auto& c, bool tunes) {
        if (tunes) {
          fill(whole.view(), filling::integers, 1);
          beside.tune(stream, whole.view(), a.view(), b.view(), c.view());
        } else {
          beside(stream, whole.view(), a.view(), b.view(), c.view());
        }
      });
}

TEST_CASE("side work is chosen where its collective hides under the GEMM", "[tuned][side]") {
  // 40 ms each way on the wire beside a GEMM of 40 ms: in turn it takes twice as long.
  host::communicator_options const slow_link{
      .link = {.gigabits_per_second = 32 * 8 * sizeof(float) * 8 / 40e-3 / 1e9}};
  host::run_ranks<ranks>(
      [](host::communicator& comm) {
        using object = tuned_overlap<candidates<independent_side_work<all_gather{}>>, world<ranks>,
                                     host::communicator, slow_gemm>;
        object beside{comm, {.per_call = 40ms}, {{64, 8}, {2, 2, 2}}, {}, {.rounds = 4, .sample = 0us}};
        matrix<float> own{32, 8}, all{64, 8}, a{2, 2}, b{2, 2}, c{2, 2};
        for (auto* each : {&own, &a, &b}) fill(each->view(), filling::integers, 1);
        host::stream stream;
        beside.tune(stream, own.view(), all.view(), a.view(), b.view(), c.view());
        require(beside.chosen() == 1, "chose to go in turn");
      },
      slow_link);
}

TEST_CASE("side work in turn refuses what side work beside it would", "[tuned][side][errors]") {
  host::run_ranks<ranks>([](host::communicator& comm) {
    using object = tuned_overlap<candidates<independent_side_work<all_gather{}>>, world<ranks>,
                                 host::communicator, gemm>;
    object beside{comm, {}, {{6, 4}, {5, 7, 3}}, {}};
    require(beside.chosen() == 0, "in turn");
    matrix<float> own{3, 4}, all{6, 4}, a{5, 7}, b{7, 3}, c{5, 3};
    host::stream stream;
    auto const told = [&](auto const& x, auto const& y, auto const& z) {
      return text_thrown<usage_error>([&] { beside(stream, own.view(), all.view(), x, y, z); });
    };
    require(has(told(a.top(4), b.view(), c.view()), "a is (4, 7), but has to be (5, 7)"), "a");
    require(has(told(a.view(), b.top(6), c.view()), "b is (6, 3), but has to be (7, 3)"), "b");
    matrix_view<float> const in_target{all.view().data, 5, 3};
    require(has(told(a.view(), b.view(), in_target), "c and what the collective writes overlap"), "c");
    comm.wait(stream);
  });
}

TEST_CASE("tuned objects with a functor that comes with each call", "[tuned][tiles]") {
  scratch_folder const folder;
  using up_choices = candidates<producer_before_consumer<ring{.chunks = 2}>>;
  using down = candidates<consumer_before_reduction<ring{}>>;
  with_each<up_choices>([&](host::communicator& comm, tuning how) {
    using object = tuned_overlap<up_choices, world<ranks>, host::communicator, tiles<double>>;
    gemm_shape const shape{.rows = 8, .inner = 4};
    nan_bytes const workspace{object::workspace_bytes(shape)};
    how.file = folder.file();
    how.measure_anew = true;
    auto const told = text_thrown<usage_error>([&] { object{comm, {}, shape, workspace.span(), how}; });
    require(has(told, "say in tuning::tag what it is"), "a file needs a tag");
    how.tag = "sum of squares";
    object gathers{comm, {}, shape, workspace.span(), how};
    matrix<double> x{4, 4};
    fill(x.view(), filling::integers, 1, 4 * comm.rank());
    host::stream stream;
    double sum = 0;
    auto const squares = [&](host::stream& on, gathered_tile<double> tile) {
      on.enqueue([&sum, data = tile.data] {
        for (std::int64_t i = 0; i < data.rows; ++i)
          for (std::int64_t j = 0; j < data.columns; ++j) sum += data(i, j) * data(i, j);
      });
    };
    gathers.tune(stream, x.view(), squares);
    sum = 0;
    gathers(stream, x.view(), squares);
    comm.wait(stream);
    double expected = 0;
    for (std::int64_t i = 0; i < 8; ++i)
      for (std::int64_t j = 0; j < 4; ++j) expected += cell(1, i, j) * cell(1, i, j);
    require(sum == expected, "sum");
  });
  with_each<down>([](host::communicator& comm, tuning const& how) {
    using object = tuned_overlap<down, world<ranks>, host::communicator, tiles<double>>;
    gemm_shape const shape{.rows = 6, .columns = 2};
    nan_bytes const workspace{object::workspace_bytes(shape)};
    object reduces{comm, {}, shape, workspace.span(), how};
    matrix<double> y{3, 2};
    host::stream stream;
    auto const rows = [](host::stream& on, partial_tile<double> tile) {
      on.enqueue([tile] {
        for (std::int64_t i = 0; i < tile.data.rows; ++i)
          for (std::int64_t j = 0; j < 2; ++j) tile.data(i, j) = static_cast<double>(tile.rows.first + i);
      });
    };
    reduces.tune(stream, rows, y.view());
    fill_nan(y.view());
    reduces(stream, rows, y.view());
    comm.wait(stream);
    require_equal("y", y.view(),
                  [&](auto i, auto) { return ranks * static_cast<double>(3 * comm.rank() + i); });
  });
}

namespace {

// A transport that registers memory, on a backend that cannot tell the time.
struct clockless_backend {
  using stream = host::stream;
  using event = host::event;
  static void record(event& mark, stream& in) { mark.record(in); }
  static void wait(stream& in, event const& mark) { mark.wait(in); }
  template <class... A>
  static void copy(stream& in, A... arguments) {
    host::backend::copy(in, arguments...);
  }
  template <class... A>
  static void add(stream& in, A... arguments) {
    host::backend::add(in, arguments...);
  }
};

class registering_communicator {
 public:
  using backend = clockless_backend;
  static constexpr char const* identity = "registering";

  explicit registering_communicator(host::communicator& transport) : transport_{&transport} {}

  [[nodiscard]] int rank() const { return transport_->rank(); }
  [[nodiscard]] int size() const { return transport_->size(); }
  host::stream& lane(int index) { return transport_->lane(index); }
  void exchange(int lane, std::span<message const> messages, call_site where) {
    for (auto const& each : messages) {
      if (each.way == message::direction::receive && !holds(each.data, each.bytes)) ++unregistered;
    }
    transport_->exchange(lane, messages, where);
  }
  void all_gather(int lane, void const* own, std::span<piece const> shards, element type, call_site where) {
    transport_->all_gather(lane, own, shards, type, where);
  }
  void host_all_gather(std::span<std::uint64_t const> mine, std::span<std::uint64_t> all) {
    transport_->host_all_gather(mine, all);
  }
  void wait(host::stream& stream) { transport_->wait(stream); }
  void register_buffer(void* data, std::size_t bytes) {
    require(data_ == nullptr, "registered twice");
    data_ = static_cast<std::byte*>(data);
    bytes_ = bytes;
    ++registrations;
  }
  void deregister_buffer(void* data) {
    require(data == data_, "was not registered");
    data_ = nullptr;
  }
  [[nodiscard]] bool holds(void const* data, std::size_t bytes) const {
    auto const* const first = static_cast<std::byte const*>(data);
    return data_ != nullptr && first >= data_ && first + bytes <= data_ + bytes_;
  }

  int registrations = 0;
  int unregistered = 0;

 private:
  host::communicator* transport_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};
static_assert(has_registration<registering_communicator> && !has_timestamps<clockless_backend> &&
              !has_abort<registering_communicator> && !has_drain<registering_communicator>);

}  // namespace

TEST_CASE("the workspace is registered once for all candidates, and times need no clock in the stream",
          "[tuned][registration]") {
  host::run_ranks<ranks>(
      [](host::communicator& transport) {
        registering_communicator comm{transport};
        using choices =
            candidates<producer_before_consumer<ring{}>, producer_before_consumer<ring{.chunks = 2}>>;
        using object = tuned_overlap<choices, world<ranks>, registering_communicator, slow_gemm>;
        nan_bytes const workspace{object::workspace_bytes(gather_operands::shape)};
        {
          object up{comm,
                    {.per_row = balanced_row},
                    gather_operands::shape,
                    workspace.span(),
                    {.rounds = 4, .sample = 0us}};
          gather_operands on{comm.rank()};
          host::stream stream;
          up.tune(stream, on.x.view(), on.w.view(), on.y.view());
          require(up.chosen() > 0, "the wire is hidden");
          // A blocking call sleeps for at least two shards' GEMMs and a message.
          require(up.measured()[0].nanoseconds >= 3 * 38'000'000, "the clock runs until the wait is over");
          up(stream, on.x.view(), on.w.view(), on.y.view());
          comm.wait(stream);
          on.require_product();
          require(comm.registrations == 1 && comm.unregistered == 0, "registered once");
          require(comm.holds(workspace.span().data(), workspace.span().size()), "all of it");
        }
        require(!comm.holds(workspace.span().data(), 1), "deregistered");
      },
      balanced_link());
}

TEST_CASE("identities", "[identity]") {
  struct with_function {
    [[nodiscard]] std::string identity() const { return "a function"; }
  };
  CHECK(identity_of(with_function{}) == "a function");
  CHECK(identity_of(slow_gemm{.identity = "a member"}) == "a member");
  CHECK(has(identity_of(gemm{}), "host::reference_gemm<float"));
  CHECK(identity_of(gemm{}) != identity_of(host::reference_gemm<double>{}));
  CHECK(detail::type_name<int>() == "int");
  static_assert(!detail::is_proper_name(detail::type_name<decltype([] {})>()));
  static_assert(!detail::is_proper_name(detail::type_name<clockless_backend>()));
  static_assert(detail::is_proper_name(detail::type_name<slow_gemm>()));
}
