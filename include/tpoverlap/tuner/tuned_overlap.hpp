// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! An overlap object that chooses its policy: from a file, or by measuring all candidates where it will run.
#pragma once

#include <tpoverlap/core/error.hpp>
#include <tpoverlap/schedule/program_hash.hpp>
#include <tpoverlap/tuner/candidates.hpp>
#include <tpoverlap/tuner/choose.hpp>
#include <tpoverlap/tuner/identity.hpp>
#include <tpoverlap/tuner/kept_choice.hpp>
#include <tpoverlap/tuner/measure.hpp>
#include <tpoverlap/tuner/shared_registration.hpp>
#include <tpoverlap/tuner/tuned_traits.hpp>
#include <tpoverlap/tuner/tuning.hpp>
#include <tpoverlap/tuner/tuning_key.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tpoverlap::inline v0 {

/// Called like the overlap objects of its candidates; which of them runs is chosen on the machine that it runs on.
///
///     tuned_overlap up{choices{}, world<4>{}, comm, gemm, shape, workspace, tuning{.file = "tuning.txt"}};
///     up.tune(stream, x, w, y);   // measures, unless the file knew; y is overwritten
///     up(stream, x, w, y);        // the candidate that was chosen
///
/// It is `blocking` that a candidate has to beat, by more than noise (see `choose`), so that what is too small to be cut
/// is not cut. With one rank there is nothing to choose. Side work is tuned as a call, which joins it at its end.
/// **Shapes** as the candidates'; side work takes a `side_shape`. The workspace is the largest that any of them needs.
/// **Ordering** building and tuning are collective. All ranks hold the same choice, made from the same numbers. Calls as
/// for overlap objects; a call allocates nothing. Until a choice is made, calls run the candidate `tuning::start`.
/// **Errors** as for overlap objects; `tuning_file_error` on all ranks if rank 0 cannot use its file: when the object is
/// built, when `tune` is about to measure and could not keep the result, or when keeping it fails. The object then is as
/// it was before.
template <class Candidates, class World, class Communicator, class Functor, class Recorder = no_recorder>
class tuned_overlap {
  static_assert(detail::tuned_requirements<Candidates, World, Communicator, Functor>::met);
  using sharing = detail::workspace_sharing<Communicator>;
  template <int Index>
  using object = typename detail::object_of<typename Candidates::template policy<Index>, World,
                                            typename sharing::lent, Functor, Recorder>::type;
  using indices = std::make_integer_sequence<int, Candidates::count>;
  using form = detail::call_form;

 public:
  using stream = typename Communicator::backend::stream;
  using input_type = typename Functor::input_type;
  using output_type = typename Functor::output_type;
  using shape_type = std::conditional_t<detail::tunes_side_work<Candidates>, side_shape, gemm_shape>;

 private:
  static constexpr form called_as = detail::call_form_of<Candidates, Functor, stream>();
  using input_view = matrix_view<input_type const>;
  using output_view = matrix_view<output_type>;

 public:
  tuned_overlap(Communicator& comm, Functor functor, shape_type shape, std::span<std::byte> workspace,
                tuning how = {}, Recorder* recorder = nullptr,
                char const* name = Candidates::dependency_class)
      : sharing_{comm},
        functor_{functor},
        shape_{shape},
        workspace_{workspace},
        how_{std::move(how)},
        recorder_{recorder},
        name_{name},
        kept_{comm, how_, fingerprint(), own_key()} {
    check_tuning();
    check_workspace();
    sharing_.share(workspace_.data(), workspace_bytes(shape_));
    int const known = World::size == 1 ? 0 : kept_.template find<Candidates>(how_.measure_anew);
    build(known >= 0 ? known : how_.start);
    tuned_ = known >= 0;
  }

  /// As above, with candidates and world deduced.
  tuned_overlap(Candidates, World, Communicator& comm, Functor functor, shape_type shape,
                std::span<std::byte> workspace, tuning how = {})
      : tuned_overlap{comm, functor, shape, workspace, std::move(how)} {}

  tuned_overlap(tuned_overlap const&) = delete;
  tuned_overlap& operator=(tuned_overlap const&) = delete;

  /// Bytes of workspace that every candidate can do with, on every rank.
  [[nodiscard]] static std::size_t workspace_bytes(shape_type shape) {
    return [&]<int... Index>(std::integer_sequence<int, Index...>) {
      std::size_t largest = 0;
      for (std::size_t const each : {object<Index>::workspace_bytes(detail::shape_for_objects(shape))...}) {
        if (each > largest) largest = each;
      }
      return largest;
    }
    (indices{});
  }

  /// Chooses, if no choice has been made: measures every candidate on these operands, which are those of a call, and
  /// keeps the choice in the file. Waits for the stream; what calls write is overwritten, and with a `beta` it has been
  /// added to many times.
  template <class... Operands>
  void tune(stream& in, Operands&&... operands) {
    if (tuned_) return;
    kept_.check_writable();
    auto times = measure(in, operands...);
    int const best = choose(times, how_.rounds);
    auto const chosen = times[static_cast<std::size_t>(best)].nanoseconds;
    kept_.keep(Candidates::name(best).view(), chosen, times[0].nanoseconds);
    if (best != chosen_) build(best);
    times_ = std::move(times);
    tuned_ = true;
  }

  /// Whether a choice has been made: measured, or found in the file.
  [[nodiscard]] bool tuned() const { return tuned_; }
  /// The candidate in use, as a number of the list; 0 is blocking.
  [[nodiscard]] int chosen() const { return chosen_; }
  [[nodiscard]] policy_text chosen_name() const { return Candidates::name(chosen_); }
  /// What `tune` measured, for each candidate; empty if it has not.
  [[nodiscard]] std::span<candidate_time const> measured() const { return times_; }

  void operator()(stream& in, input_view x, input_view other, output_view y,
                  call_options options = {}) requires(called_as == form::product) {
    run(in, x, other, y, options);
  }
  void operator()(stream& in, input_view x, input_view other, output_view y, matrix_view<input_type> gathered,
                  call_options options = {}) requires(called_as == form::kept_product) {
    run(in, x, other, y, gathered, options);
  }
  template <class Consumer>
    requires(called_as == form::consumer)
  void operator()(stream& in, input_view x, Consumer&& consume, call_options options = {}) {
    run(in, x, consume, options);
  }
  template <class Consumer>
    requires(called_as == form::kept_consumer)
  void operator()(stream& in, input_view x, Consumer&& consume, matrix_view<input_type> gathered,
                  call_options options = {}) {
    run(in, x, consume, gathered, options);
  }
  template <class Producer>
    requires(called_as == form::producer)
  void operator()(stream& in, Producer&& produce, output_view y, call_options options = {}) {
    run(in, produce, y, options);
  }
  void operator()(stream& in, input_view source, matrix_view<input_type> target, input_view a, input_view b,
                  output_view c, call_options options = {}) requires(called_as == form::beside) {
    run(in, source, target, a, b, c, options);
  }
  void operator()(stream& in, matrix_view<input_type> shared, input_view a, input_view b, output_view c,
                  call_options options = {}) requires(called_as == form::beside_shared) {
    run(in, shared, a, b, c, options);
  }

 private:
  [[nodiscard]] Communicator& comm() const { return sharing_.whole(); }

  template <int Index>
  void emplace(std::optional<object<Index>>& place, Recorder* recorder) {
    place.emplace(sharing_.communicator(), functor_, detail::shape_for_objects(shape_), workspace_, recorder,
                  name_);
  }

  /// Puts candidate `index` in the place of the one that is there.
  void build(int index) {
    chosen_ = none;
    [&]<int... Index>(std::integer_sequence<int, Index...>) {
      (void)((Index == index && (emplace_chosen<Index>(), true)) || ...);
    }
    (indices{});
    chosen_ = index;
  }
  template <int Index>
  void emplace_chosen() {
    object_.template emplace<Index + 1>();
    emplace<Index>(std::get<Index + 1>(object_), recorder_);
  }

  template <class... Arguments>
  void run(stream& in, Arguments&... arguments) {
    [&]<int... Index>(std::integer_sequence<int, Index...>) {
      bool const found =
          ((Index == chosen_ && ((**std::get_if<Index + 1>(&object_))(in, arguments...), true)) || ...);
      if (!found) {
        raise(usage_error{
            "this object could not be built again when its choice had been made; its first error says "
            "why; build another one",
            comm().rank()});
      }
    }
    (indices{});
  }

  /// A schedule that has become another one is another candidate, whatever it is called.
  [[nodiscard]] static std::uint64_t fingerprint() {
    std::uint64_t hash = Candidates::fingerprint();
    auto const mix = [&hash]<class Object>(std::type_identity<Object>) {
      if constexpr (requires { Object::program; }) hash = hash * 0x100000001b3 ^ hash_of(Object::program);
    };
    [&]<int... Index>(std::integer_sequence<int, Index...>) {
      (mix(std::type_identity<object<Index>>{}), ...);
    }
    (indices{});
    return hash;
  }

  [[nodiscard]] detail::tuning_key own_key() const {
    detail::tuning_key key;
    key.word("class", Candidates::dependency_class);
    key.word("candidates", std::to_string(Candidates::count) + ":" + detail::hexadecimal(fingerprint()));
    key.add("ranks", World::size).shape(shape_);
    key.word("input", name_of(element_of<input_type>)).word("output", name_of(element_of<output_type>));
    key.quoted("backend", detail::type_name<typename Communicator::backend>());
    key.quoted("communicator", identity_of(comm())).quoted("gemm", identity_of(functor_));
    return key.quoted("tag", how_.tag);
  }

  /// The same on all ranks by now, so that all refuse it.
  void check_tuning() const {
    bounded_text<240> what;
    if (how_.rounds < 1 || how_.rounds > 10'000) {
      what << "tuning::rounds is " << how_.rounds << "; measure in 1 to 10000 rounds";
    } else if (how_.sample.count() < 0) {
      what << "tuning::sample is negative; 0 measures one call at a time";
    } else if (how_.start < 0 || how_.start >= Candidates::count) {
      what << "tuning::start is " << how_.start << "; the candidates are numbered 0 (blocking) to "
           << Candidates::count - 1;
    } else if (detail::is_tiles<Functor> && kept_.in_use() && how_.tag.empty()) {
      what << "a functor that comes with each call has no identity to keep a choice for; say in tuning::tag "
              "what it is";
    } else {
      return;
    }
    raise(usage_error{what.view(), comm().rank()});
  }

  /// Checked for the largest of all candidates, so that it does not depend on which one is chosen.
  void check_workspace() const {
    if (std::size_t const needed = workspace_bytes(shape_); workspace_.size() < needed) {
      bounded_text<240> what;
      what << "the workspace has " << workspace_.size() << " bytes, but the candidates need up to " << needed
           << "; allocate workspace_bytes(shape)";
      raise(usage_error{what.view(), comm().rank()});
    }
  }

  /// All candidates side by side, on one workspace: each call joins its lanes before the next one's start.
  template <class... Operands>
  std::vector<candidate_time> measure(stream& in, Operands&... operands) {
    return [&]<int... Index>(std::integer_sequence<int, Index...>) {
      auto const objects = std::make_unique<std::tuple<std::optional<object<Index>>...>>();
      (emplace<Index>(std::get<Index>(*objects), nullptr), ...);
      auto const call = [&](int candidate) {
        ((Index == candidate ? void((*std::get<Index>(*objects))(in, operands...)) : void()), ...);
      };
      detail::measurement work{comm(), in, Candidates::count, how_, call};
      auto const times = work.run();
      std::vector<candidate_time> results(Candidates::count);
      summarize(times, how_.rounds, results);
      return results;
    }
    (indices{});
  }

  static constexpr int none = -1;  // while the object of another candidate is built
  template <class>
  struct storage;
  template <int... Index>
  struct storage<std::integer_sequence<int, Index...>> {
    using type = std::variant<std::monostate, std::optional<object<Index>>...>;
  };

  sharing sharing_;
  Functor functor_;
  shape_type shape_;
  std::span<std::byte> workspace_;
  tuning how_;
  Recorder* recorder_;
  char const* name_;
  detail::kept_choice<Communicator> kept_;
  bool tuned_ = false;
  int chosen_ = none;
  std::vector<candidate_time> times_;
  typename storage<indices>::type object_;
};

template <class Candidates, class World, class Communicator, class Functor>
tuned_overlap(Candidates, World, Communicator&, Functor,
              std::conditional_t<detail::tunes_side_work<Candidates>, side_shape, gemm_shape>,
              std::span<std::byte>, tuning = {}) -> tuned_overlap<Candidates, World, Communicator, Functor>;

}  // namespace tpoverlap::inline v0
