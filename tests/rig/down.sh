#!/usr/bin/env bash
# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# down.sh [--name NAME]
# Ends what runs on the rig's hosts and removes the rig. Where there is none it does nothing.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=$rig_default_name
while [ $# -gt 0 ]; do
  case $1 in
    --name) rig_value "$@" && name=$value && shift 2 ;;
    *) rig_fail $rig_usage "down.sh does not know '$1'; it takes --name" ;;
  esac
done
rig_check_name "$name"
rig_require

mapfile -t namespaces < <(rig_namespaces "$name")

# Not asked but ended: what they hold is the rig's and goes with it, and a launcher that is asked takes its time. More
# than one round, because a process may start another while it is looked for.
for ((round = 0; round < 100; ++round)); do
  pids=()
  for namespace in "${namespaces[@]}"; do
    mapfile -t -O ${#pids[@]} pids < <(ip netns pids "$namespace" 2>/dev/null)
  done
  [ ${#pids[@]} -gt 0 ] || break
  kill -KILL "${pids[@]}" 2>/dev/null || true
  sleep 0.05
done
[ ${#pids[@]} -eq 0 ] || rig_fail 1 "rig '$name' stays up: processes ${pids[*]} cannot be ended"

for namespace in "${namespaces[@]}"; do
  ip netns delete "$namespace"
done
rm -rf "${rig_root:?}/$name"
rmdir "$rig_root" 2>/dev/null || true
