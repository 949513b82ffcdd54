// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! An emulated network between the ranks of one process, for trying schedules without one.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace tpoverlap::inline v0::host {

/// Each rank has one full-duplex link of this bandwidth to a switch that never blocks. A message occupies the
/// sender's egress and the receiver's ingress for bytes / bandwidth, and arrives a latency later. Figures
/// obtained with it are emulated and must be labelled so: `describe` gives the label.
struct link_model {
  double gigabits_per_second = 0;  ///< 0: the bandwidth is not limited
  double latency_seconds = 0;

  [[nodiscard]] constexpr bool emulates() const { return gigabits_per_second > 0 || latency_seconds > 0; }

  /// How long `bytes` occupy a link, without the latency.
  [[nodiscard]] constexpr double seconds_on_wire(std::size_t bytes) const {
    return gigabits_per_second > 0 ? static_cast<double>(bytes) * 8 / (gigabits_per_second * 1e9) : 0;
  }

  friend constexpr bool operator==(link_model const&, link_model const&) = default;
};

/// A label for figures, such as "emulated link, 1 Gbit/s, 20 us".
[[nodiscard]] inline std::string describe(link_model const& link) {
  if (!link.emulates()) return "no emulated link";
  char rate[48] = "unlimited";
  if (link.gigabits_per_second > 0) std::snprintf(rate, sizeof rate, "%g Gbit/s", link.gigabits_per_second);
  char text[128];
  std::snprintf(text, sizeof text, "emulated link, %s, %g us", rate, link.latency_seconds * 1e6);
  return text;
}

}  // namespace tpoverlap::inline v0::host
