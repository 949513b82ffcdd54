// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What a GEMM or a communicator is called in a tuning file, so that no choice is used for another than it was made for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tpoverlap::inline v0 {

namespace detail {

template <class T>
constexpr std::string_view decorated_name() {
  return __PRETTY_FUNCTION__;
}

/// What the compiler calls a type. Other compilers may write it otherwise; then it is another identity.
template <class T>
constexpr std::string_view type_name() {
  constexpr std::string_view probe = decorated_name<double>();
  constexpr std::size_t before = probe.find("double");
  constexpr std::size_t after = probe.size() - before - std::string_view{"double"}.size();
  // g++ also says what std::string_view stands for, behind the type and a semicolon.
  constexpr std::string_view name = decorated_name<T>();
  return name.substr(before, name.size() - before - after);
}

/// Types without a name of their own are called alike, or otherwise in the next build.
constexpr bool is_proper_name(std::string_view name) {
  for (std::string_view part : {"lambda", "unnamed", "anonymous"}) {
    if (name.find(part) != name.npos) return false;
  }
  return true;
}

}  // namespace detail

/// What `object` says it is, by `identity()` or a member `identity`, each convertible to text; the name of its type if it
/// says nothing. What its speed depends on belongs in there: a library and its version, a number of threads, a kind of
/// link.
template <class T>
[[nodiscard]] std::string identity_of(T const& object) {
  if constexpr (requires { std::string{object.identity()}; }) {
    return std::string{object.identity()};
  } else if constexpr (requires { std::string{object.identity}; }) {
    return std::string{object.identity};
  } else {
    static_assert(
        detail::is_proper_name(detail::type_name<T>()),
        "tpoverlap[E066]: this GEMM or communicator has a type without a name of its own (a lambda, or from "
        "an anonymous namespace), so that a tuning file could mix it up with another; add `static "
        "constexpr char const* identity = \"...\";` to it");
    return std::string{detail::type_name<T>()};
  }
}

}  // namespace tpoverlap::inline v0
