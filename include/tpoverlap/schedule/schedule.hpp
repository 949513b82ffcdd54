// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! From a policy and a world size to a proven, constexpr schedule.
#pragma once

#include <tpoverlap/core/config.hpp>
#include <tpoverlap/schedule/build.hpp>
#include <tpoverlap/schedule/critical_path.hpp>
#include <tpoverlap/schedule/proof.hpp>
#include <tpoverlap/schedule/verify.hpp>

namespace tpoverlap::inline v0 {

namespace detail {

/// A policy's program. The name is short because it stands in the longest symbols beside all knobs of the policy.
template <class Policy, int Ranks>
struct stored {
  static constexpr program_size size =
      with_program(Policy{}, Ranks, [](program_builder const& built) { return built.size(); });
  static constexpr static_program<size> data = with_program(
      Policy{}, Ranks, [](program_builder const& built) { return static_program<size>{built.view()}; });
};

}  // namespace detail

/// The schedule of `Policy` for `Ranks` ranks: constexpr data, proven when this is instantiated if `Ranks` is at most
/// `TPOVERLAP_PROVE_UP_TO`. Strategies must be declared before this header is instantiated with them:
/// `<tpoverlap/overlap.hpp>` brings those of the library.
template <class Policy, int Ranks>
struct schedule {
  using policy = Policy;
  static constexpr int ranks = Ranks;
  static constexpr program_view program = detail::stored<Policy, Ranks>::data.view();

  static constexpr bool proven_at_compile_time = Ranks <= TPOVERLAP_PROVE_UP_TO;
  static constexpr violation verdict = proven_at_compile_time ? verify(program) : violation{};
  static_assert(proof<verdict>::holds, "tpoverlap: the line above says which rule the schedule breaks");

  static constexpr critical_path path = critical_path_of(program);

  /// Whether a policy hides no communication at all, though there is some: then blocking would do as well.
  static constexpr bool hides_nothing = path.hides_nothing();
};

}  // namespace tpoverlap::inline v0
