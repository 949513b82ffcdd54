// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Names a thread, raises its priority and sharpens its timers, where the system can.
#pragma once

#include <cstddef>
#include <string_view>

#if defined(__linux__)
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#endif

namespace tpoverlap::inline v0::host::detail {

/// Names the calling thread; names are cut to the system's 15 characters.
inline void name_this_thread(std::string_view name) noexcept {
#if defined(__linux__)
  char text[16]{};
  for (std::size_t i = 0; i < name.size() && i < sizeof(text) - 1; ++i) text[i] = name[i];
  pthread_setname_np(pthread_self(), text);
#else
  (void)name;
#endif
}

/// Raises the calling thread above ordinary ones. Returns whether the system granted it.
inline bool raise_this_thread() noexcept {
#if defined(__linux__)
  return setpriority(PRIO_PROCESS, 0, -10) == 0;  // on Linux, 0 is the calling thread
#else
  return false;
#endif
}

/// Lets timed waits of the calling thread end on time: the default slack is 50 us, as long as a small message.
inline void sharpen_timers_of_this_thread() noexcept {
#if defined(__linux__)
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
#endif
}

}  // namespace tpoverlap::inline v0::host::detail
