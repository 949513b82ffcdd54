// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What runs operations in order: streams and events, and the two element-wise kernels that a schedule needs.
#pragma once

#include <concepts>
#include <cstdint>

namespace tpoverlap::inline v0 {

/// A backend names its stream and event types and issues work to them from the calling thread.
///
/// **Ordering** work issued to one stream runs in issue order. `wait(s, e)` orders what is issued to `s` later
/// after everything that was issued to the recorded stream before the latest `record(e, ...)`.
/// `copy` and `add` work on `count` contiguous elements, and add in the wider of the types involved; `to` may be
/// the same array as an operand.
template <class Backend>
concept backend = requires(typename Backend::stream& stream, typename Backend::event& event, float* to,
                           float const* from, std::int64_t count) {
  requires std::default_initializable<typename Backend::event>;
  Backend::record(event, stream);
  Backend::wait(stream, event);
  Backend::copy(stream, to, from, count);
  Backend::add(stream, to, from, from, count);
};

/// `prepare(event, stream)`: makes what the event needs to be recorded in streams of this stream's device, so that no
/// later call has to. Overlap objects call it when they are built.
template <class Backend>
concept has_prepare = requires(typename Backend::stream& stream, typename Backend::event& event) {
  Backend::prepare(event, stream);
};

/// `timestamp(stream, nanoseconds)`: in stream order, and on a failed stream too, writes what a clock that never goes
/// back shows. All streams of a rank read the same clock.
template <class Backend>
concept has_timestamps = requires(typename Backend::stream& stream, std::int64_t* nanoseconds) {
  Backend::timestamp(stream, nanoseconds);
};

}  // namespace tpoverlap::inline v0
