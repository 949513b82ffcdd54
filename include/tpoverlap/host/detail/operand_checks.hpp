// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What a communicator in host memory refuses before it issues anything.
#pragma once

#include <cstddef>
#include <span>

#include <tpoverlap/core/element.hpp>
#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/message.hpp>
#include <tpoverlap/host/detail/sum_pieces.hpp>

namespace tpoverlap::inline v0::host::detail {

/// Who asks, for the errors. Every function throws a `usage_error` that says what to mend.
struct operand_checks {
  int rank;
  int size;
  call_site where;

  void memory(void const* data) const {
    if (data == nullptr) raise(usage_error{"a message that is not empty needs memory", rank, where});
  }

  void messages(std::span<message const> all) const {
    for (auto const& each : all) {
      if (each.peer < 0 || each.peer >= size) raise(usage_error{"no such peer", rank, where, each.peer});
      if (each.bytes > 0) memory(each.data);
    }
  }

  void pieces(std::span<piece const> all) const {
    if (all.size() != static_cast<std::size_t>(size))
      raise(usage_error{"a collective needs one piece a rank", rank, where});
    for (auto const& each : all) {
      if (each.elements < 0) raise(usage_error{"a piece has a negative size", rank, where});
      if (each.elements > 0) memory(each.data);
    }
  }

  void summable(element type) const {
    if (!can_sum(type))
      raise(usage_error{"the host adds float64, float32, int32 and int64 only; choose one to reduce in", rank,
                        where});
  }
};

}  // namespace tpoverlap::inline v0::host::detail
