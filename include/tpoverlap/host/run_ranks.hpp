// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Runs a function on a number of ranks, each a thread of this process.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/host/communicator.hpp>
#include <tpoverlap/host/detail/first_failure.hpp>
#include <tpoverlap/host/detail/guarded.hpp>
#include <tpoverlap/host/detail/worker_setup.hpp>
#include <tpoverlap/host/world.hpp>

namespace tpoverlap::inline v0::host {

/// Calls `f(communicator&)` on `ranks` threads and returns when all have ended.
///
/// **Errors** when a rank throws, the world is aborted, so that the others end soon. The root cause is
/// rethrown: the first failure that is not a mere consequence of another rank's.
/// **Example**
///
///     host::run_ranks(4, [](host::communicator& comm) { ... });
template <class F>
void run_ranks(int ranks, F f, communicator_options const& options = {}) {
  world shared{ranks, options};
  detail::first_failure failure;
  {
    auto const threads = std::make_unique<std::jthread[]>(static_cast<std::size_t>(shared.size()));
    for (int rank = 0; rank < ranks; ++rank) {
      threads[static_cast<std::size_t>(rank)] = std::jthread{[&shared, &failure, &f, rank] {
        bounded_text<32> name;
        name << "rank " << rank;
        detail::name_this_thread(name.view());
        communicator comm{shared, rank};
        // The abort comes before the communicator is destroyed, whose lanes would wait for the others.
        if (auto thrown = detail::guarded([&] { f(comm); })) {
          failure.keep(thrown);
          shared.abort(rank, detail::text_of(thrown).view());
        }
      }};
    }
  }
  if (auto const cause = failure.root_cause()) std::rethrow_exception(cause);
}

/// As above, for a number of ranks known to the compiler.
template <int P, class F>
void run_ranks(F f, communicator_options const& options = {}) {
  run_ranks(P, std::move(f), options);
}

}  // namespace tpoverlap::inline v0::host
