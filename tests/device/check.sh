#!/usr/bin/env bash
# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# What only a machine with GPUs can show: kernels, real streams, NCCL and graphs. Builds for the GPU found and takes a few
# minutes. One line a check, then one line of JSON; fails if any check does. Skips itself where there is no GPU.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1) || [ -z "$capability" ]; then
  echo "SKIPPED: no GPU on this machine"
  exit 77
fi
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader | wc -l)
architecture=${capability/./}
build=build/device
results=()
failed=0

# check <name> <seconds it may take> <command>...
check() {
  local name=$1 limit=$2 began=$SECONDS verdict=passed last
  shift 2
  if timeout "$limit" "$@" >"$build/$name.log" 2>&1; then :; else verdict=failed failed=1; fi
  last=$(tail -n 1 "$build/$name.log" | tr -d '"\\')
  printf '%-24s %s, %d s: %s\n' "$name" "$verdict" $((SECONDS - began)) "$last"
  results+=("{\"check\":\"$name\",\"result\":\"$verdict\",\"seconds\":$((SECONDS - began)),\"says\":\"$last\"}")
}

mkdir -p "$build"
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
check build_kernels 240 "$nvcc" -std=c++20 -O2 "-arch=sm_$architecture" -Iinclude -o "$build/bucket_addition_check" \
  tests/device/bucket_addition_check.cu
check bucket_addition 60 "$build/bucket_addition_check"
check build_examples 240 bash -c "cmake -S . -B $build -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_COMPILER=$nvcc \
  -DCMAKE_CUDA_ARCHITECTURES=$architecture -DTPOVERLAP_TESTS=OFF -DTPOVERLAP_BENCHMARKS=OFF &&
  cmake --build $build --parallel --target own_gemm --target cuda_mlp"
check own_gemm 60 "$build/examples/own_gemm/own_gemm"
check cuda_mlp 90 "$build/examples/cuda_mlp/cuda_mlp" --tokens 8192 --hidden 4096

if sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null); then
  for tool in memcheck racecheck; do
    check "kernels_$tool" 90 "$sanitizer" --tool $tool --error-exitcode 1 "$build/bucket_addition_check"
  done
  check mlp_memcheck 120 "$sanitizer" --tool memcheck --error-exitcode 1 "$build/examples/cuda_mlp/cuda_mlp" \
    --tokens 512 --hidden 256 --passes 1
else
  echo "compute-sanitizer is not installed, so memcheck and racecheck are left out"
fi

printf '{"gpu":"%s","gpus":%d,"failed":%s,"checks":[%s]}\n' "$gpu" "$gpus" "$([ $failed = 0 ] && echo false || echo true)" \
  "$(IFS=,; echo "${results[*]}")"
exit $failed
