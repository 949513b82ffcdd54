#!/usr/bin/env bash
# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# What a proven schedule costs a compiler, for P = 8 and 4 chunks: seconds of processor time over a file that only
# includes overlap.hpp, the median of five, for each compiler found. P = 16 and 4 chunks of every built-in policy has to
# compile within the compilers' default limits on constant expressions; the exit status is 1 if one does not.
#   tests/benchmark/proof_cost.sh                 REPEATS=9 tests/benchmark/proof_cost.sh
set -euo pipefail
include="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../include" && pwd)"
repeats=${REPEATS:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

policies=(
  "producer_before_consumer<blocking{}>"
  "producer_before_consumer<ring{.chunks = 4}>"
  "producer_before_consumer<ring{.chunks = 4, .way = direction::both}>"
  "producer_before_consumer<direct{.chunks = 4}>"
  "producer_before_consumer<pipeline{.chunks = 4}>"
  "producer_before_consumer<ring{.chunks = 4}, gather{gathered_dimension::contraction}>"
  "consumer_before_reduction<blocking{}>"
  "consumer_before_reduction<ring{.chunks = 4}>"
  "consumer_before_reduction<ring{.chunks = 4}, reduction{.accumulate = accumulation::fused}>"
  "consumer_before_reduction<ring{.chunks = 4, .way = direction::both}>"
  "consumer_before_reduction<ring{.chunks = 4}, reduction{.result = reduction_result::all_reduce}>"
  "consumer_before_reduction<direct{.chunks = 4}>"
  "consumer_before_reduction<direct{.chunks = 4}, reduction{.result = reduction_result::all_reduce}>"
  "consumer_before_reduction<pipeline{.chunks = 4}>"
  "independent_side_work<all_gather{}>"
  "independent_side_work<reduce_scatter{}>"
  "independent_side_work<all_reduce{}>"
)

# source_of <ranks> <policy>
source_of() {
  printf '#include <tpoverlap/overlap.hpp>\nusing namespace tpoverlap;\nstatic_assert(schedule<%s, %d>::verdict.verified());\n' \
    "$2" "$1"
}

# Seconds of processor time that a command takes, children included: other work on the machine does not count.
cpu_seconds() {
  local TIMEFORMAT='%U %S'
  { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%.3f\n", $1 + $2 }'
}

compiles() {
  "$@" >/dev/null 2>"$scratch/errors" || { grep -m3 'error' "$scratch/errors" >&2; touch "$scratch/failed"; return 1; }
}

median_of() {
  for ((i = 0; i < repeats; i++)); do cpu_seconds "$@"; done | sort -n | sed -n "$((repeats / 2 + 1))p"
}

# report <label> <suffix> <command>...
report() {
  local label=$1 suffix=$2 policy base with eight sixteen
  shift 2
  echo "#include <tpoverlap/overlap.hpp>" >"$scratch/base.$suffix"
  compiles "$@" "$scratch/base.$suffix" || return 0
  base=$(median_of "$@" "$scratch/base.$suffix")
  printf '%s: overlap.hpp alone %.2f s\n' "$label" "$base"
  for policy in "${policies[@]}"; do
    source_of 8 "$policy" >"$scratch/proof.$suffix"
    source_of 16 "$policy" >"$scratch/large.$suffix"
    eight="does not compile" sixteen="does not compile"
    if compiles "$@" "$scratch/proof.$suffix"; then
      with=$(median_of "$@" "$scratch/proof.$suffix")
      eight=$(awk -v b="$base" -v w="$with" 'BEGIN { printf "%+.3f s", w - b }')
    fi
    if compiles "$@" "$scratch/large.$suffix"; then sixteen=compiles; fi
    printf '%-8s P = 8: %s   P = 16: %s   %s\n' "$label" "$eight" "$sixteen" "$policy"
  done
}

for compiler in g++ clang++; do
  if command -v $compiler >/dev/null; then
    report $compiler cpp $compiler -std=c++20 -I"$include" -c -o "$scratch/out.o"
  fi
done
if command -v nvcc >/dev/null; then
  report nvcc cu nvcc -std=c++20 -I"$include" -c -o "$scratch/out.o"
fi
[ ! -e "$scratch/failed" ]
