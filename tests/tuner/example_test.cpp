// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The documents' example of tuning, run.

#include "../overlap/quick_compile.hpp"

#include "../support/catch.hpp"
#include "scratch_folder.hpp"
#include "slow_gemm.hpp"

#include <tpoverlap/blas.hpp>
#include <tpoverlap/tpoverlap.hpp>
#include <tpoverlap/tuner.hpp>

#include <string>
#include <vector>

using namespace tpoverlap;
using namespace tpoverlap_test;

namespace {

// [tuner begin]
// blocking is a candidate by itself.
using choices = candidates<producer_before_consumer<ring{.chunks = 1}>,
                           producer_before_consumer<ring{.chunks = 4}>, producer_before_consumer<pipeline{}>>;

void forward(host::communicator& comm, matrix_view<float const> x, matrix_view<float const> w,
             matrix_view<float> y, std::string const& file) {
  gemm_shape const shape{.rows = y.rows, .inner = w.rows, .columns = w.columns};
  using tuned_type = tuned_overlap<choices, world<2>, host::communicator, host::blas_gemm<float>>;
  std::vector<std::byte> workspace(tuned_type::workspace_bytes(shape));  // the largest of all candidates

  host::stream stream;
  tuned_type up{comm, host::blas_gemm<float>{}, shape, workspace, {.file = file, .tag = "two laptops"}};
  up.tune(stream, x, w, y);  // measures all candidates, unless the file knows; y is overwritten
  up(stream, x, w, y);       // what was chosen: up.chosen_name() says which
  comm.wait(stream);
}
// [tuner end]

// [recommend begin]
constexpr machine_model laptop{.flops_per_second = 5e10,
                               .half_speed_rows = 8,
                               .link_bytes_per_second = 125e6,
                               .latency_seconds = 100e-6,
                               .launch_seconds = 5e-6};
constexpr recommendation start =
    recommend(gather_problem{.ranks = 2, .shape = {.rows = 4096, .inner = 1024, .columns = 4096}}, laptop);
static_assert(start.strategy == strategy_kind::ring && start.speedup() > 1.02);
tuning const how{.start = nearest_candidate<choices>(start)};  // in use until measured
// [recommend end]

}  // namespace

TEST_CASE("the example of the documents", "[example]") {
  scratch_folder const folder;
  host::run_ranks<2>([&](host::communicator& comm) {
    gather_operands on{comm.rank()};
    for (int again = 0; again < 2; ++again) {
      forward(comm, on.x.view(), on.w.view(), on.y.view(), folder.file());
      on.require_product();
    }
  });
  CHECK(tuning_file{folder.file()}.read().entries().size() == 1);
  CHECK(how.start > 0);
}
