// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A call that is captured in a CUDA graph once and replayed from then on.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/cuda/detail/call_key.hpp>
#include <tpoverlap/cuda/detail/graph.hpp>
#include <tpoverlap/cuda/device_guard.hpp>
#include <tpoverlap/cuda/error.hpp>
#include <tpoverlap/cuda/stream.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace tpoverlap::inline v0::cu {

/// A communicator that can say, by an exception, that replays on it are over.
template <class Communicator>
concept has_refusal = requires(Communicator const& comm) {
  comm.refuse_after_abort(call_site{});
};

/// Calls `callable(stream, arguments...)`, an overlap object or a functor that calls several, through a graph.
///
/// The first call runs as it is, so that what is made at first use (connections, loaded kernels, algorithms) is made
/// outside of a capture. The second is captured and launched; so is every later one whose arguments differ from those of
/// the call before, by updating the graph if its nodes allow it. A call with the same arguments is one launch.
///
///     cu::captured forward{up, comm};   // `up` is an overlap object
///     forward(stream, x, w, y);
///
/// **Ordering** as the callable's own. All ranks make the same calls, and so capture at the same time. Within a capture
/// of the caller's the callable is called directly and becomes part of that graph.
/// Arguments are matrix views, `call_options`, numbers, enumerations and pointers, compared by value; whatever else the
/// callable depends on stays as it is. Callable and communicator outlive this object.
/// **Errors** what the callable throws, and nothing is launched then; `usage_error` for the legacy default stream, which
/// cannot be captured; `cuda_error` with cudaErrorStreamCaptureUnjoined if a token was not joined; once the communicator
/// has been aborted, its `aborted_error`.
template <class Callable>
class captured {
 public:
  explicit captured(Callable& callable) : callable_{&callable} {}

  template <has_refusal Communicator>
  captured(Callable& callable, Communicator const& comm)
      : callable_{&callable}, comm_{&comm}, refuse_{[](void const* of) {
          static_cast<Communicator const*>(of)->refuse_after_abort(call_site{.operation = "replay"});
        }} {}

  captured(captured const&) = delete;
  captured& operator=(captured const&) = delete;

  template <class... Arguments>
  void operator()(stream_ref& in, Arguments const&... arguments) {
    static_assert((detail::comparable_argument<Arguments> && ...),
                  "tpoverlap[E041]: a captured call is replayed as long as its arguments stay the same, so "
                  "they have to "
                  "be comparable: matrix views, call_options, numbers, enumerations and pointers; give "
                  "anything else to "
                  "the callable beforehand");
    if (refuse_ != nullptr) refuse_(comm_);
    if (in.handle() == nullptr || in.handle() == cudaStreamLegacy) {
      raise(usage_error{
          "the legacy default stream cannot be captured; pass a stream of your own, such as a cu::stream"});
    }
    if (in.capturing() || !std::exchange(called_, true)) return call(in, arguments...);
    wanted_.clear();
    wanted_.add(in.device());
    (wanted_.add(arguments), ...);
    device_guard const on{in.device()};
    if (!executable_ || !(wanted_ == held_)) capture(in, arguments...);
    detail::check(cudaGraphLaunch(executable_.get(), in.handle()), "cudaGraphLaunch");
  }

  /// How often the callable was captured, and how often that took a new executable graph instead of an update.
  [[nodiscard]] std::int64_t captures() const noexcept { return captures_; }
  [[nodiscard]] std::int64_t instantiations() const noexcept { return instantiations_; }
  [[nodiscard]] cudaGraph_t graph() const noexcept {
    return graph_.get();
  }  ///< the last one captured, or null

 private:
  template <class... Arguments>
  void call(stream_ref& in, Arguments const&... arguments) {
    (*callable_)(in, arguments...);
  }

  template <class... Arguments>
  void capture(stream_ref& in, Arguments const&... arguments) {
    held_.clear();  // if anything fails from here on, no arguments are those of the graph
    detail::open_capture recording{in};
    call(in, arguments...);
    detail::owned_graph made = recording.end();
    ++captures_;
    if (!executable_ || !detail::update(executable_.get(), made.get())) {
      executable_ = detail::instantiate(made.get());
      ++instantiations_;
    }
    graph_ = std::move(made);  // keeps alive what libraries have attached to it
    held_.swap(wanted_);
  }

  Callable* callable_;
  void const* comm_ = nullptr;
  void (*refuse_)(void const*) = nullptr;
  detail::owned_graph graph_;
  detail::owned_executable executable_;
  detail::call_key held_;
  detail::call_key wanted_;
  std::int64_t captures_ = 0;
  std::int64_t instantiations_ = 0;
  bool called_ = false;
};

}  // namespace tpoverlap::inline v0::cu
