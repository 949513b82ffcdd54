// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Attacks `verify`: whatever it accepts of thousands of broken programs, the oracle must find safe, too.

#include "../support/catch.hpp"
#include "brute_force_oracle.hpp"
#include "builtin_policies.hpp"
#include "mutants.hpp"

#include <tpoverlap/schedule/verify.hpp>

#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

using namespace tpoverlap;
using namespace tpoverlap_test;

namespace {

// Sanitizers and builds without optimisation are here for the tests' own mistakes and see a sample.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
constexpr bool thorough = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool thorough = false;
#else
constexpr bool thorough = true;
#endif
#else
constexpr bool thorough = true;
#endif

struct tally {
  long mutants = 0;
  long rejected = 0;
  long safe = 0;
  std::vector<std::string> survivors;
};

/// Rejected mutants that the oracle was asked about as well, and how many of them it holds for safe, by rule.
struct strictness {
  long asked[10] = {};
  long safe[10] = {};
};

std::string place(char const* what, int first, int second) {
  return std::string{what} + " (" + std::to_string(first) + ", " + std::to_string(second) + ")";
}

void attack(named_policy const& policy, int ranks, long limit, tally (&of)[mutation_kinds],
            strictness& strict) {
  editable_program const base = policy.build(ranks);
  long count = 0;
  for_each_mutant(base, [&](mutant const&) { ++count; });
  std::mt19937 generator{static_cast<unsigned>(count)};
  double const kept = count <= limit ? 1.0 : static_cast<double>(limit) / static_cast<double>(count);
  for_each_mutant(base, [&](mutant const& m) {
    bool const always = m.kind == mutation::remove_wait;
    if (!always && kept < 1.0 && static_cast<double>(generator()) > kept * 4294967296.0) return;
    tally& t = of[static_cast<int>(m.kind)];
    ++t.mutants;
    violation const v = verify(m.program);
    if (!v.verified()) {
      ++t.rejected;
      if (generator() % 100 != 0) return;
      ++strict.asked[static_cast<int>(v.broken)];
      if (judge(m.program).safe()) ++strict.safe[static_cast<int>(v.broken)];
      return;
    }
    finding const f = judge(m.program);
    if (f.safe()) {
      ++t.safe;
      return;
    }
    if (t.survivors.size() < 40) {
      t.survivors.push_back(policy.name + ", P = " + std::to_string(ranks) + ": " + m.description() +
                            "; the oracle finds " + place(name_of(f.why), f.operation, f.other));
    } else {
      t.survivors.emplace_back();
    }
  });
}

}  // namespace

TEST_CASE("what is built in is accepted by verify and by the oracle", "[mutation]") {
  for (int chunks = 1; chunks <= 3; ++chunks) {
    for (named_policy const& policy : builtin_policies(chunks)) {
      for (int ranks : {1, 2, 3, 4, 5, 8}) {
        INFO(policy.name << ", P = " << ranks);
        editable_program const program = policy.build(ranks);
        violation const v = verify(program.view());
        CHECK(std::string{name_of(v.broken)} == "none");
        finding const f = judge(program.view());
        CAPTURE(f.call, f.rank, f.operation, f.other);
        CHECK(std::string{name_of(f.why)} == "safe");
      }
    }
  }
}

TEST_CASE("no mutant of a mutant that verify accepts is unsafe", "[mutation]") {
  std::mt19937 generator{20240229};
  long mutants = 0;
  long accepted = 0;
  std::vector<std::string> survivors;
  for (int ranks : {2, 3, 4}) {
    for (int chunks = 1; chunks <= 2; ++chunks) {
      for (named_policy const& policy : builtin_policies(chunks)) {
        for_each_mutant(policy.build(ranks), [&](mutant const& first) {
          if (generator() % (thorough ? 8 : 80) != 0 || !verify(first.program).verified()) return;
          editable_program const safe{first.program};
          unsigned const one_in = 1 + generator() % 64;
          for_each_mutant(safe, [&](mutant const& second) {
            if (generator() % 64 >= one_in / 4) return;
            ++mutants;
            if (!verify(second.program).verified()) return;
            ++accepted;
            finding const f = judge(second.program);
            if (f.safe()) return;
            survivors.push_back(policy.name + ", P = " + std::to_string(ranks) + ": " + first.description() +
                                ", then " + second.description() + "; the oracle finds " +
                                place(name_of(f.why), f.operation, f.other));
          });
        });
      }
    }
  }
  std::printf("%-28s %8ld mutants %8ld rejected %8ld safe %8zu survive\n", "mutants of safe mutants", mutants,
              mutants - accepted, accepted - static_cast<long>(survivors.size()), survivors.size());
  if (survivors.size() > 40) survivors.resize(40);
  for (std::string const& s : survivors) UNSCOPED_INFO(s);
  CHECK(survivors.empty());
}

TEST_CASE("no mutant that verify accepts is unsafe", "[mutation]") {
  tally of[mutation_kinds];
  strictness strict;
  auto const start = std::chrono::steady_clock::now();
  for (int ranks : {2, 3, 4, 8}) {
    for (int chunks = 1; chunks <= 3; ++chunks) {
      for (named_policy const& policy : builtin_policies(chunks))
        attack(policy, ranks, thorough ? (ranks <= 4 ? 1000000 : 600) : 40, of, strict);
    }
    std::printf("P = %d done after %.1f s\n", ranks,
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  tally all;
  for (int k = 0; k < mutation_kinds; ++k) {
    tally const& t = of[k];
    std::printf("%-28s %8ld mutants %8ld rejected %8ld safe %8zu survive\n",
                name_of(static_cast<mutation>(k)), t.mutants, t.rejected, t.safe, t.survivors.size());
    all.mutants += t.mutants;
    all.rejected += t.rejected;
    all.safe += t.safe;
    for (std::string const& s : t.survivors) {
      if (!s.empty()) all.survivors.push_back(s);
    }
  }
  std::printf("%-28s %8ld mutants %8ld rejected %8ld safe\n", "all", all.mutants, all.rejected, all.safe);
  for (int r = 1; r < 10; ++r) {
    std::printf("rejected by rule %-14s %8ld looked at by the oracle %8ld safe\n",
                name_of(static_cast<rule>(r)), strict.asked[r], strict.safe[r]);
    // Since all ranks run one list, order through other ranks adds nothing to a rank's own, so that being cheap costs
    // nothing. Only form is stricter: an event has one record, even where a second would do no harm.
    if (static_cast<rule>(r) != rule::structure) CHECK(strict.safe[r] == 0);
  }
  for (std::string const& s : all.survivors) UNSCOPED_INFO(s);
  CHECK(all.survivors.empty());
}
