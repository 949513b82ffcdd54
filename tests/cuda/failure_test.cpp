// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Whatever fails, every rank ends, with an error that has a type and says why; bad input launches nothing.
#include "policies.hpp"

using namespace cuda_test;

namespace {

constexpr int ranks = 3;
// Long enough to build objects on a busy machine, and what every failure costs the ranks that do not see it.
constexpr cu::nccl_options impatient{.time_limit = std::chrono::milliseconds{1500}};
using gemm = cu::cublaslt_gemm<float>;
using gathering = overlap<producer_before_consumer<ring{}>, world<ranks>, cu::nccl_communicator, gemm>;

/// One rank's object with operands; calls it until something happens, at most ten times.
struct worker {
  explicit worker(cu::nccl_communicator& c)
      : comm{c},
        stream{c.device(), cu::stream_priority::normal},
        x{c.device(), 4, inner},
        w{c.device(), inner, columns},
        y{c.device(), 4 * ranks, columns},
        workspace{c.device(), 1, static_cast<std::int64_t>(gathering::workspace_bytes(shape)) + 256},
        object{c, gemm{c.device()}, shape, workspace.span()} {
    x.fill(stream, [](auto, auto) { return 1; });
    w.fill(stream, [](auto, auto) { return 1; });
  }

  void call() {
    cu::stream_ref& in = stream;
    object(in, x.read(), w.read(), y.view());
  }
  void call_and_wait() {
    for (int i = 0; i < 10; ++i) call();
    comm.wait(stream);
  }

  static constexpr gemm_shape shape{4 * ranks, inner, columns};
  cu::nccl_communicator& comm;
  cu::stream stream;
  device_matrix<float> x, w, y;
  device_matrix<std::byte> workspace;
  gathering object;
};

/// Builds workers, breaks something once all of them work, and lets them go on.
std::vector<rank_outcome> work_with(std::function<void()> const& breakage) {
  device::reset(ranks);
  std::atomic<int> working{0};
  std::atomic<bool> broken{false};
  std::atomic<bool> lost{false};
  return on_ranks(ranks, impatient, [&](cu::nccl_communicator& comm) {
    struct leaving {
      std::atomic<bool>& lost;
      ~leaving() { lost = true; }
    } const tells_the_others{lost};
    worker mine{comm};
    mine.call();
    comm.wait(mine.stream);
    if (++working == ranks) {
      breakage();
      broken = true;
    }
    while (!broken && !lost) std::this_thread::yield();
    mine.call_and_wait();
  });
}

template <class Error>
int number_of(std::vector<rank_outcome> const& outcomes) {
  return static_cast<int>(std::count_if(outcomes.begin(), outcomes.end(),
                                        [](auto const& each) { return each.template is<Error>(); }));
}

/// All ranks ended with errors of this library.
void check_all_ended(std::vector<rank_outcome> const& outcomes) {
  for (auto const& each : outcomes) {
    CAPTURE(each.text());
    CHECK(each.is<error>());
  }
}

}  // namespace

TEST_CASE("an asynchronous error of NCCL on one rank ends all", "[cuda][failure]") {
  auto const outcomes = work_with([] { device::fail_communicator(1, 3, ncclRemoteError); });
  check_all_ended(outcomes);
  CHECK(outcomes[1].is<cu::nccl_error>());
  CHECK(outcomes[1].text().find("rank 1") != std::string::npos);
}

TEST_CASE("an operation that hangs ends all ranks at their time limit", "[cuda][failure]") {
  auto const outcomes = work_with([] { device::fail_communicator(1, 3, ncclSuccess); });
  check_all_ended(outcomes);
  CHECK(number_of<timeout_error>(outcomes) == ranks);
}

TEST_CASE("a device that fails ends all ranks", "[cuda][failure]") {
  auto const outcomes = work_with([] { device::fail_operation(1, 5, cudaErrorIllegalAddress); });
  check_all_ended(outcomes);
  // Whose call meets the broken device first is a matter of timing.
  CHECK((outcomes[1].is<cu::cuda_error>() || outcomes[1].is<cu::nccl_error>() ||
         outcomes[1].is<cu::cublas_error>()));
}

TEST_CASE("a call that fails on the way ends all ranks", "[cuda][failure]") {
  for (std::uint64_t k : {1u, 4u}) {
    CAPTURE(k);
    for (char const* const name : {"cudaEventRecord", "cudaStreamWaitEvent"}) {
      auto const outcomes = work_with([&] { device::fail_call(name, k, cudaErrorLaunchFailure); });
      CAPTURE(name);
      check_all_ended(outcomes);
      CHECK(number_of<cu::cuda_error>(outcomes) == 1);
    }
    for (char const* const name : {"ncclGroupStart", "ncclSend", "ncclRecv", "ncclGroupEnd"}) {
      auto const outcomes = work_with([&] { device::fail_call(name, k, ncclSystemError); });
      CAPTURE(name);
      check_all_ended(outcomes);
      CHECK(number_of<cu::nccl_error>(outcomes) == 1);
    }
    auto const outcomes =
        work_with([&] { device::fail_call("cublasLtMatmul", k, CUBLAS_STATUS_EXECUTION_FAILED); });
    check_all_ended(outcomes);
    CHECK(number_of<cu::cublas_error>(outcomes) == 1);
  }
}

TEST_CASE("a communicator that was aborted refuses work", "[cuda][failure]") {
  device::reset(ranks);
  auto const outcomes = on_ranks(ranks, impatient, [&](cu::nccl_communicator& comm) {
    worker mine{comm};
    mine.call_and_wait();
    comm.abort("the test says so");
    mine.call();
  });
  check_all_ended(outcomes);
  CHECK(number_of<aborted_error>(outcomes) == ranks);
  CHECK(outcomes[0].text().find("the test says so") != std::string::npos);
}

TEST_CASE("a rank that does not come is not waited for without end", "[cuda][failure]") {
  device::reset(2);
  auto const id = cu::make_nccl_id();
  auto const outcomes = on_threads(1, [&](int r) {
    cu::nccl_communicator comm{{.id = id, .seat = {.ranks = 2, .rank = r, .device = r}}, impatient};
  });
  CHECK(outcomes[0].is<timeout_error>());
}

TEST_CASE("bad input is refused before anything is launched", "[cuda][failure]") {
  device::reset(ranks);
  auto const refused = [](char const* part, auto bad_call) {
    auto const outcomes = on_ranks(ranks, impatient, [&](cu::nccl_communicator& comm) {
      worker mine{comm};
      comm.wait(mine.stream);
      auto const before = device::calls("cublasLtMatmul") + device::calls("ncclSend");
      try {
        bad_call(mine);
      } catch (usage_error const& found) {
        require(std::string{found.what()}.find(part) != std::string::npos, found.what());
        require(device::calls("cublasLtMatmul") + device::calls("ncclSend") == before,
                "something was launched");
        return;
      }
      require(false, "the call was not refused");
    });
    check_all(outcomes);
  };
  std::vector<float> host(4 * ranks * columns);
  refused("host memory", [&](worker& mine) {
    cu::stream_ref& in = mine.stream;
    mine.object(in, {host.data(), 4, inner}, mine.w.read(), mine.y.view());
  });
  refused("device", [&](worker& mine) {
    device_matrix<float> const elsewhere{(mine.comm.device() + 1) % ranks, inner, columns};
    cu::stream_ref& in = mine.stream;
    mine.object(in, mine.x.read(), elsewhere.read(), mine.y.view());
  });
  refused("device", [&](worker& mine) {
    cu::stream elsewhere{(mine.comm.device() + 1) % ranks, cu::stream_priority::normal};
    cu::stream_ref& in = elsewhere;
    mine.object(in, mine.x.read(), mine.w.read(), mine.y.view());
  });
}

TEST_CASE("what NCCL is too old for is refused, and so are seats that do not exist", "[cuda][failure]") {
  device::reset(1);
  auto const id = cu::make_nccl_id();
  auto const refusal = [&](cu::nccl_seat seat, cu::nccl_options const& options) {
    return on_threads(1, [&](int) { cu::nccl_communicator comm{{.id = id, .seat = seat}, options}; })[0];
  };
  auto const too_many = refusal({.ranks = 1, .rank = 0, .device = 1}, {});
  CHECK(too_many.is<usage_error>());
  CHECK(too_many.text().find("no device 1") != std::string::npos);
  CHECK(refusal({.ranks = 1, .rank = 1, .device = 0}, {}).is<usage_error>());
  device::report_nccl_version(22703);
  cu::nccl_options zero{};
  zero.registration = cu::nccl_registration::symmetric;
  zero.zero_cta_policy = true;
  auto const old = refusal({}, zero);
  CHECK(old.is<usage_error>());
  CHECK(old.text().find("2.28") != std::string::npos);
  device::report_nccl_version(21805);
  CHECK(refusal({}, {}).is<usage_error>());
  device::reset(0);
  CHECK(refusal({}, {}).is<error>());
}
