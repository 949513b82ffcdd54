// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What a failed call of NCCL becomes. Needs NCCL 2.19 or newer.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>

#include <nccl.h>

namespace tpoverlap::inline v0::cu {

static_assert(
    NCCL_VERSION_CODE >= NCCL_VERSION(2, 19, 0),
    "tpoverlap[E038]: this nccl.h is older than 2.19, which has no buffer registration; install a newer "
    "NCCL, or put its headers first");

/// A call of NCCL failed, or an operation failed on the device later. The communicator has been aborted.
class [[gnu::visibility("default")]] nccl_error : public communication_error {
 public:
  /// `detail` is NCCL's own description of its last error, or empty.
  nccl_error(ncclResult_t code, char const* call, text_view detail, int rank = -1, call_site where = {},
             source_location source = source_location::current()) noexcept
      : communication_error{located_text{described(code, call, detail).view(), source}, rank, where},
        code_{code},
        call_{call} {}

  [[nodiscard]] ncclResult_t code() const noexcept { return code_; }
  [[nodiscard]] char const* call() const noexcept { return call_; }  ///< a literal such as "ncclGroupEnd"

 private:
  static bounded_text<400> described(ncclResult_t code, char const* call, text_view detail) noexcept {
    bounded_text<400> what;
    what << call << " failed: " << ncclGetErrorString(code) << " (" << static_cast<int>(code) << ')';
    if (detail.size > 0) what << ", last error: " << detail;
    what << (code == ncclRemoteError ? "; another rank failed first: look at its error"
                                     : "; set NCCL_DEBUG=WARN to see the cause");
    return what;
  }

  ncclResult_t code_;
  char const* call_;
};

}  // namespace tpoverlap::inline v0::cu
