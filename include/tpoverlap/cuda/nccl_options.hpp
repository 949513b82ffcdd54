// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What can be chosen about a communicator of NCCL.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/core/text.hpp>
#include <tpoverlap/cuda/detail/clock.hpp>
#include <tpoverlap/cuda/nccl_error.hpp>
#include <tpoverlap/cuda/resource_budget.hpp>

#include <nccl.h>

namespace tpoverlap::inline v0::cu {

/// What `register_buffer` does. Overlap objects call it for their workspace; operands are the caller's to register.
enum class nccl_registration {
  off,    ///< nothing
  local,  ///< ncclCommRegister: each rank for itself
  symmetric,  ///< ncclCommWindowRegister, NCCL 2.27: all ranks register buffers of one size together, from ncclMemAlloc
};

struct nccl_options {
  /// Longest time that a call which depends on other ranks may take: construction, `wait`, `drain`. What the caller
  /// issued to the stream counts, too, so leave room for the longest queue of work.
  std::chrono::milliseconds time_limit{60'000};
  nccl_registration registration = nccl_registration::local;
  /// Refuses operations on memory that was not registered, instead of letting NCCL copy through buffers of its own.
  bool require_registered = false;

  // From here on: for communicators that are made here; one made elsewhere keeps what it was made with.
  resource_budget budget{};  ///< communication_ctas is the largest number of thread blocks NCCL may use
  int min_ctas = 0;          ///< the smallest; 0 leaves it to NCCL
  /// Lets copy engines do AllGathers, so that they take no multiprocessor. NCCL 2.28; needs symmetric registration.
  bool zero_cta_policy = false;
};

namespace detail {

/// The version of the library that the program runs with, which may differ from that of nccl.h.
[[nodiscard]] inline int nccl_version() {
  int version = 0;
  if (ncclResult_t const code = ncclGetVersion(&version); code != ncclSuccess)
    raise(nccl_error{code, "ncclGetVersion", {}});
  return version;
}

inline void require_nccl(int needed, char const* what_for) {
  int const running = nccl_version();
  if (running >= needed && NCCL_VERSION_CODE >= needed) return;
  bounded_text<280> what;
  auto const put = [&](int version) {
    what << version / 10000 << '.' << version / 100 % 100 << '.' << version % 100;
  };
  what << what_for << " needs NCCL ";
  put(needed);
  what << ", but this program was compiled with ";
  put(NCCL_VERSION_CODE);
  what << " and runs with ";
  put(running);
  what << "; install a newer NCCL, or leave the option out";
  raise(usage_error{what.view()});
}

/// Refuses options that this NCCL or each other cannot serve.
inline void check_options(nccl_options const& options) {
  require_nccl(NCCL_VERSION(2, 19, 0), "tpoverlap");
  if (options.registration == nccl_registration::symmetric)
    require_nccl(NCCL_VERSION(2, 27, 0), "nccl_registration::symmetric");
  if (options.zero_cta_policy) {
    require_nccl(NCCL_VERSION(2, 28, 0), "nccl_options::zero_cta_policy");
    if (options.registration != nccl_registration::symmetric) {
      raise(usage_error{
          "nccl_options::zero_cta_policy serves registered symmetric memory only; set registration to "
          "nccl_registration::symmetric, too"});
    }
  }
  if (options.time_limit.count() <= 0)
    raise(usage_error{"nccl_options::time_limit must be positive; give the longest wait that you accept"});
  int const most = options.budget.communication_ctas;
  if (options.min_ctas < 0 || most < 0 || (most > 0 && options.min_ctas > most)) {
    bounded_text<160> what;
    what << "NCCL cannot use " << options.min_ctas << " to " << most
         << " thread blocks; choose 0 <= min_ctas <= budget.communication_ctas";
    raise(usage_error{what.view()});
  }
}

[[nodiscard]] inline ncclConfig_t config_of(nccl_options const& options) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  if (options.min_ctas > 0) config.minCTAs = options.min_ctas;
  if (options.budget.communication_ctas > 0) config.maxCTAs = options.budget.communication_ctas;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
  if (options.zero_cta_policy) config.CTAPolicy = NCCL_CTA_POLICY_ZERO;
#endif
  return config;
}

}  // namespace detail

}  // namespace tpoverlap::inline v0::cu
