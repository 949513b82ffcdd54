#!/usr/bin/env bash
# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# What including a header costs, in seconds over an empty file: the median of five, for each compiler found.
#   tests/benchmark/compile_time.sh [header...]         e.g. overlap.hpp; the default is the public ones
#   REPEATS=9 tests/benchmark/compile_time.sh           more runs
set -euo pipefail
include="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../include" && pwd)"
repeats=${REPEATS:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if [ $# -gt 0 ]; then headers=("$@"); else headers=(overlap.hpp host.hpp tpoverlap.hpp); fi

# median_us <source> <command>...: microseconds of the median run
median_us() {
  local source=$1 began
  shift
  "$@" "$source" >/dev/null 2>"$scratch/errors" || { cat "$scratch/errors" >&2; return 1; }
  for ((i = 0; i < repeats; i++)); do
    began=${EPOCHREALTIME/[.,]/}
    "$@" "$source" >/dev/null 2>&1
    echo $((${EPOCHREALTIME/[.,]/} - began))
  done | sort -n | sed -n "$((repeats / 2 + 1))p"
}

# report <label> <suffix> <command>...
report() {
  local label=$1 suffix=$2 empty with
  shift 2
  : >"$scratch/empty.$suffix"
  empty=$(median_us "$scratch/empty.$suffix" "$@")
  for header in "${headers[@]}"; do
    if [ ! -f "$include/tpoverlap/$header" ]; then
      printf '%-10s %-24s no such header\n' "$label" "$header"
      continue
    fi
    echo "#include <tpoverlap/$header>" >"$scratch/with.$suffix"
    if with=$(median_us "$scratch/with.$suffix" "$@"); then
      awk -v l="$label" -v h="$header" -v e="$empty" -v w="$with" \
        'BEGIN { printf "%-10s %-24s %6.3f s over an empty file (%.3f s)\n", l, h, (w - e) / 1e6, e / 1e6 }'
    else
      printf '%-10s %-24s does not compile\n' "$label" "$header"
    fi
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
