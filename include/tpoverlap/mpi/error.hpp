// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What MPI reports, as an exception.
#pragma once

#include <mpi.h>

#include <cstddef>

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>

namespace tpoverlap::inline v0::mpi {

/// A call of MPI failed. The message names the call and quotes MPI's own words.
class [[gnu::visibility("default")]] mpi_error : public communication_error {
 public:
  mpi_error(located_text what, int code, int rank = -1, call_site where = {}, int peer = -1) noexcept
      : communication_error{what, rank, where, peer}, code_{code} {}

  [[nodiscard]] int code() const noexcept { return code_; }  ///< as MPI returned it, such as MPI_ERR_TRUNCATE

 private:
  int code_;
};

namespace detail {

/// What `call` has returned, as an exception to throw.
[[nodiscard]] inline mpi_error as_error(int code, char const* call, int rank = -1, call_site where = {},
                                        int peer = -1) {
  char words[MPI_MAX_ERROR_STRING + 1]{};
  int length = 0;
  if (MPI_Error_string(code, words, &length) != MPI_SUCCESS) length = 0;
  bounded_text<360> text;
  text << call << " failed: " << text_view{words, static_cast<std::size_t>(length)};
  if (peer >= 0) text << "; rank " << peer << " may have ended, or its host may be out of reach";
  return mpi_error{text.view(), code, rank, where, peer};
}

/// **Errors** throws an `mpi_error` unless `code`, which `call` has returned, is MPI_SUCCESS.
inline void check(int code, char const* call, int rank = -1) {
  if (code != MPI_SUCCESS) raise(as_error(code, call, rank));
}

}  // namespace detail

}  // namespace tpoverlap::inline v0::mpi
