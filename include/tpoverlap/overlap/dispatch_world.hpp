// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! From a world size known at run time to one of several compiled instances.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/policy/dependency.hpp>

namespace tpoverlap::inline v0 {

/// Calls `f(world<ranks>{})` if `ranks` is one of `Sizes`, and returns what it returns.
///
/// **Errors** `usage_error` that lists the sizes if it is none of them.
/// **Example** `dispatch_world<1, 2, 4, 8>(comm.size(), [&](auto w) { train<decltype(w)>(comm); });`
template <int... Sizes, class F>
decltype(auto) dispatch_world(int ranks, F&& f) {
  static_assert(sizeof...(Sizes) > 0,
                "tpoverlap[E019]: dispatch_world needs the world sizes to compile for; name at "
                "least one, as in dispatch_world<1, 2, 4, 8>(ranks, f)");
  constexpr int sizes[] = {Sizes...};
  using result = decltype(f(world<sizes[0]>{}));
  using pointer = result (*)(F&);
  constexpr pointer calls[] = {[](F& g) -> result { return g(world<Sizes>{}); }...};
  for (int i = 0; i < static_cast<int>(sizeof...(Sizes)); ++i) {
    if (sizes[i] == ranks) return calls[i](f);
  }
  bounded_text<240> what;
  what << "this program is compiled for worlds of";
  for (int size : sizes) what << ' ' << size;
  what << " ranks, but runs on " << ranks << "; start it with one of these, or add " << ranks
       << " to the list of dispatch_world";
  raise(usage_error{what.view()});
}

}  // namespace tpoverlap::inline v0
