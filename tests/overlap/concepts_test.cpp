// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Every concept against a full model and against each model that lacks one member.

#include "../support/catch.hpp"

#include <tpoverlap/concepts/backend.hpp>
#include <tpoverlap/concepts/communicator.hpp>
#include <tpoverlap/concepts/gemm_functor.hpp>
#include <tpoverlap/overlap/recording.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

using namespace tpoverlap;

namespace {

struct a_stream {};
struct an_event {};
struct no_default {
  explicit no_default(int);
};

// --- Backends ---------------------------------------------------------------------------------------------------

struct names_streams {
  using stream = a_stream;
};
struct names_events {
  using event = an_event;
};
struct records {
  static void record(an_event&, a_stream&);
};
struct waits {
  static void wait(a_stream&, an_event const&);
};
struct copies {
  template <class To, class From>
  static void copy(a_stream&, To*, From const*, std::int64_t);
};
struct adds {
  template <class To, class A, class B>
  static void add(a_stream&, To*, A const*, B const*, std::int64_t);
};

template <class... Members>
struct made_of : Members... {};

using full_backend = made_of<names_streams, names_events, records, waits, copies, adds>;
static_assert(backend<full_backend>);
static_assert(!backend<made_of<names_events, records, waits, copies, adds>>);
static_assert(!backend<made_of<names_streams, records, waits, copies, adds>>);
static_assert(!backend<made_of<names_streams, names_events, waits, copies, adds>>);
static_assert(!backend<made_of<names_streams, names_events, records, copies, adds>>);
static_assert(!backend<made_of<names_streams, names_events, records, waits, adds>>);
static_assert(!backend<made_of<names_streams, names_events, records, waits, copies>>);
static_assert(!backend<made_of<>> && !backend<int>);

struct events_without_default : names_streams, copies, adds {
  using event = no_default;
  static void record(no_default&, a_stream&);
  static void wait(a_stream&, no_default const&);
};
static_assert(!backend<events_without_default>, "objects make their events by default");

struct prepares {
  static void prepare(an_event&, a_stream&);
};
static_assert(has_prepare<made_of<full_backend, prepares>>);
static_assert(!has_prepare<full_backend>);

// --- Communicators ----------------------------------------------------------------------------------------------

struct names_backend {
  using backend = full_backend;
};
struct has_rank {
  [[nodiscard]] int rank() const;
};
struct has_size {
  [[nodiscard]] int size() const;
};
struct has_lanes {
  a_stream& lane(int);
};
struct exchanges {
  void exchange(int, std::span<message const>, call_site);
};

using full_communicator = made_of<names_backend, has_rank, has_size, has_lanes, exchanges>;
static_assert(communicator<full_communicator>);
static_assert(!communicator<made_of<has_rank, has_size, has_lanes, exchanges>>);
static_assert(!communicator<made_of<names_backend, has_size, has_lanes, exchanges>>);
static_assert(!communicator<made_of<names_backend, has_rank, has_lanes, exchanges>>);
static_assert(!communicator<made_of<names_backend, has_rank, has_size, exchanges>>);
static_assert(!communicator<made_of<names_backend, has_rank, has_size, has_lanes>>);
static_assert(!communicator<made_of<>> && !communicator<int>);

struct names_no_backend {
  using backend = int;
};
static_assert(!communicator<made_of<names_no_backend, has_rank, has_size, has_lanes, exchanges>>);

struct rank_is_text {
  [[nodiscard]] char const* rank() const;
};
static_assert(!communicator<made_of<names_backend, rank_is_text, has_size, has_lanes, exchanges>>);

struct changes_when_asked {
  int rank();
};
static_assert(!communicator<made_of<names_backend, changes_when_asked, has_size, has_lanes, exchanges>>,
              "a rank can be asked of a constant communicator");

struct lanes_by_value {
  a_stream lane(int);
};
static_assert(!communicator<made_of<names_backend, has_rank, has_size, lanes_by_value, exchanges>>,
              "a lane is the same stream at every call");

struct exchanges_without_place {
  void exchange(int, std::span<message const>);
};
static_assert(!communicator<made_of<names_backend, has_rank, has_size, has_lanes, exchanges_without_place>>);

// --- Capabilities -----------------------------------------------------------------------------------------------

struct gathers {
  void all_gather(int, void const*, std::span<piece const>, element, call_site);
};
struct reduces {
  void reduce_scatter(int, std::span<piece const>, void*, element, call_site);
};
struct sums {
  void all_reduce(int, std::span<piece const>, element, call_site);
};
struct compares {
  void host_all_gather(std::span<std::uint64_t const>, std::span<std::uint64_t>);
};
struct aborts {
  void abort(char const*);
};
struct waits_for {
  void wait(a_stream&);
};
struct registers {
  void register_buffer(void*, std::size_t);
};
struct deregisters {
  void deregister_buffer(void*);
};

// No capability follows from another, and none is needed to be a communicator.
template <class C, bool Gathers, bool Reduces, bool Sums, bool Compares, bool Aborts, bool Waits,
          bool Registers>
inline constexpr bool can =
    communicator<C>&& has_all_gather<C> == Gathers&& has_reduce_scatter<C> == Reduces&& has_all_reduce<C> ==
    Sums&& has_host_all_gather<C> == Compares&& has_abort<C> == Aborts&& has_bounded_wait<C> ==
    Waits&& has_registration<C> == Registers;

static_assert(can<full_communicator, false, false, false, false, false, false, false>);
static_assert(can<made_of<full_communicator, gathers>, true, false, false, false, false, false, false>);
static_assert(can<made_of<full_communicator, reduces>, false, true, false, false, false, false, false>);
static_assert(can<made_of<full_communicator, sums>, false, false, true, false, false, false, false>);
static_assert(can<made_of<full_communicator, compares>, false, false, false, true, false, false, false>);
static_assert(can<made_of<full_communicator, aborts>, false, false, false, false, true, false, false>);
static_assert(can<made_of<full_communicator, waits_for>, false, false, false, false, false, true, false>);
static_assert(can<made_of<full_communicator, registers>, false, false, false, false, false, false, false>);
static_assert(can<made_of<full_communicator, deregisters>, false, false, false, false, false, false, false>);
static_assert(
    can<made_of<full_communicator, registers, deregisters>, false, false, false, false, false, false, true>);
static_assert(can<made_of<full_communicator, gathers, reduces, sums, compares, aborts, waits_for, registers,
                          deregisters>,
                  true, true, true, true, true, true, true>);

struct checks_memory {
  void check_memory(char const*, void const*) const;
};
struct checks_memory_and_changes {
  void check_memory(char const*, void const*);
};
static_assert(has_memory_check<made_of<full_communicator, checks_memory>>);
static_assert(!has_memory_check<full_communicator>);
static_assert(!has_memory_check<made_of<full_communicator, checks_memory_and_changes>>,
              "a constant communicator can be asked");

struct gathers_into_constants {
  void all_gather(int, void*, std::span<piece const>, element, call_site);
};
static_assert(!has_all_gather<made_of<full_communicator, gathers_into_constants>>,
              "the own shard is only read");

// --- GEMM functors ----------------------------------------------------------------------------------------------

struct names_input {
  using input_type = float;
};
struct names_output {
  using output_type = double;
};
struct multiplies {
  void operator()(a_stream&, matrix_view<float const>, matrix_view<float const>, matrix_view<double>,
                  float) const;
};

using full_gemm = made_of<names_input, names_output, multiplies>;
static_assert(gemm_functor<full_gemm, a_stream>);
static_assert(!gemm_functor<made_of<names_output, multiplies>, a_stream>);
static_assert(!gemm_functor<made_of<names_input, multiplies>, a_stream>);
static_assert(!gemm_functor<made_of<names_input, names_output>, a_stream>);
static_assert(!gemm_functor<full_gemm, an_event>, "of another backend's stream");

struct multiplies_if_it_may_change {
  void operator()(a_stream&, matrix_view<float const>, matrix_view<float const>, matrix_view<double>, float);
};
static_assert(!gemm_functor<made_of<names_input, names_output, multiplies_if_it_may_change>, a_stream>);

struct multiplies_without_beta {
  void operator()(a_stream&, matrix_view<float const>, matrix_view<float const>, matrix_view<double>) const;
};
static_assert(!gemm_functor<made_of<names_input, names_output, multiplies_without_beta>, a_stream>);

struct writes_its_operands {
  void operator()(a_stream&, matrix_view<float>, matrix_view<float const>, matrix_view<double>, float) const;
};
static_assert(!gemm_functor<made_of<names_input, names_output, writes_its_operands>, a_stream>);

struct reads_its_result {
  void operator()(a_stream&, matrix_view<float const>, matrix_view<float const>, matrix_view<float>,
                  float) const;
};
static_assert(!gemm_functor<made_of<names_input, names_output, reads_its_result>, a_stream>,
              "of another type");

struct refuses {
  char const* can_run(matrix_view<float const>, matrix_view<float const>, matrix_view<double>) const;
};
struct refuses_without_reason {
  struct verdict {};
  verdict can_run(matrix_view<float const>, matrix_view<float const>, matrix_view<double>) const;
};
static_assert(has_can_run<made_of<full_gemm, refuses>> && !has_can_run<full_gemm>);
static_assert(!has_can_run<made_of<full_gemm, refuses_without_reason>>);
static_assert(gemm_functor<made_of<full_gemm, refuses>, a_stream>);

// --- Recorders --------------------------------------------------------------------------------------------------

struct attaches {
  int attach(program_view const&, int, char const*);
};
struct begins {
  std::int64_t begin(int);
};
struct marks {
  void mark(a_stream&, std::int64_t, int, moment);
};

static_assert(recorder_for<made_of<attaches, begins, marks>, a_stream>);
static_assert(!recorder_for<made_of<begins, marks>, a_stream>);
static_assert(!recorder_for<made_of<attaches, marks>, a_stream>);
static_assert(!recorder_for<made_of<attaches, begins>, a_stream>);
static_assert(!recorder_for<made_of<attaches, begins, marks>, an_event>);

}  // namespace

TEST_CASE("concepts accept full models and refuse models that lack one member", "[concepts]") {
  SUCCEED("checked while compiling");
}
