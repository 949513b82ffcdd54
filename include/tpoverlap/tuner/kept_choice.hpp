// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A group of ranks and rank 0's tuning file: what one rank reads or writes, all of them know.
#pragma once

#include <tpoverlap/core/text.hpp>
#include <tpoverlap/tuner/agree.hpp>
#include <tpoverlap/tuner/tuning.hpp>
#include <tpoverlap/tuner/tuning_file.hpp>
#include <tpoverlap/tuner/tuning_key.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace tpoverlap::inline v0::detail {

/// The line of rank 0's file that belongs to one object. Every call is collective; without a file they do nothing.
template <class Communicator>
class kept_choice {
 public:
  /// Compares what ranks tune with. **Errors** `usage_error` on all of them if they differ.
  kept_choice(Communicator& comm, tuning const& how, std::uint64_t candidates, tuning_key key)
      : comm_{comm}, file_{how.file} {
    std::uint64_t const own[] = {candidates,
                                 static_cast<std::uint64_t>(how.rounds),
                                 static_cast<std::uint64_t>(how.sample.count()),
                                 how.measure_anew ? 1U : 0U,
                                 static_cast<std::uint64_t>(how.start),
                                 hash_of_text(key.text()),
                                 how.file.empty() ? 0U : 1U};
    constexpr char const* compared[] = {"list of candidates", "tuning::rounds", "tuning::sample",
                                        "tuning::measure_anew", "tuning::start"};
    constexpr std::size_t words = std::size(own);
    constexpr std::size_t hash = std::size(compared);
    auto const all = words_of_all(comm, std::span<std::uint64_t const>{own});
    check_same(comm.rank(), all, words, compared);
    std::vector<std::uint64_t> hashes;
    for (std::size_t i = hash; i < all.size(); i += words) hashes.push_back(all[i]);
    key_ = key.word("others", relation_of(hashes)).text();
    in_use_ = all[words - 1] != 0 && comm.size() > 1;
  }

  /// Whether rank 0 has named a file.
  [[nodiscard]] bool in_use() const { return in_use_; }

  /// The kept candidate, or -1 if there is none, or none that is in the list. With `anew` the file is only looked through
  /// for damage: it will be written to.
  template <class Candidates>
  [[nodiscard]] int find(bool anew) {
    if (!in_use_) return -1;
    return static_cast<int>(from_rank_zero(comm_, [&]() -> std::int64_t {
      tuning_table const table = file_.read();
      tuning_entry const* const entry = anew ? nullptr : table.find(key_);
      return entry == nullptr ? -1 : Candidates::find(entry->choice);
    }));
  }

  void check_writable() {
    if (!in_use_) return;
    (void)from_rank_zero(comm_, [&]() -> std::int64_t {
      file_.check_writable();
      return 0;
    });
  }

  void keep(text_view choice, std::int64_t nanoseconds, std::int64_t blocking_nanoseconds) {
    if (!in_use_) return;
    (void)from_rank_zero(comm_, [&]() -> std::int64_t {
      file_.keep({key_, std::string{choice.data, choice.size}, nanoseconds, blocking_nanoseconds});
      return 0;
    });
  }

 private:
  Communicator& comm_;
  tuning_file file_;
  std::string key_;
  bool in_use_ = false;
};

}  // namespace tpoverlap::inline v0::detail
