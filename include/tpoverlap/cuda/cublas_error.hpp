// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What a failed call of cuBLASLt becomes.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>

#include <cublasLt.h>

namespace tpoverlap::inline v0::cu {

/// A call of cuBLASLt failed; nothing was issued.
class [[gnu::visibility("default")]] cublas_error : public error {
 public:
  cublas_error(cublasStatus_t code, char const* call, int rank = -1, call_site where = {},
               source_location source = source_location::current()) noexcept
      : error{located_text{described(code, call).view(), source}, rank, where}, code_{code}, call_{call} {}

  [[nodiscard]] cublasStatus_t code() const noexcept { return code_; }
  [[nodiscard]] char const* call() const noexcept { return call_; }  ///< a literal such as "cublasLtMatmul"

 private:
  static bounded_text<400> described(cublasStatus_t code, char const* call) noexcept {
    bounded_text<400> what;
    what << call << " failed: " << cublasLtGetStatusString(code) << " (" << cublasLtGetStatusName(code)
         << ", " << static_cast<int>(code) << "); set CUBLASLT_LOG_LEVEL=5 to see its arguments";
    return what;
  }

  cublasStatus_t code_;
  char const* call_;
};

namespace detail {

inline void check(cublasStatus_t code, char const* call,
                  source_location source = source_location::current()) {
  if (code != CUBLAS_STATUS_SUCCESS) raise(cublas_error{code, call, -1, {}, source});
}

}  // namespace detail

}  // namespace tpoverlap::inline v0::cu
