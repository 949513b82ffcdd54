#!/usr/bin/env bash
# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# down.sh [--name NAME]
# Ends what runs on the rig's hosts and removes the rig. Where there is none it does nothing.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=$rig_default_name
while [ $# -gt 0 ]; do
  case $1 in
    --name) name=$(rig_value "$1" $# "${2-}") && shift 2 ;;
    *) rig_fail $rig_usage "down.sh does not know '$1'; it takes --name" ;;
  esac
done
rig_check_name "$name"
rig_require

mapfile -t namespaces < <(rig_namespaces "$name")

# A launcher that is asked first takes its own ranks along; who has not gone within a second is not asked again. More
# than one round, because a process may start another while it is looked for.
signal=TERM
for ((round = 0; round < 40; ++round)); do
  pids=()
  for namespace in "${namespaces[@]}"; do
    mapfile -t -O ${#pids[@]} pids < <(ip netns pids "$namespace" 2>/dev/null)
  done
  [ ${#pids[@]} -gt 0 ] || break
  [ $round -lt 20 ] || signal=KILL
  # Asked in the first round only: a second request makes some launchers leave without their ranks.
  [ $round -gt 0 ] && [ $round -lt 20 ] || kill -$signal "${pids[@]}" 2>/dev/null || true
  sleep 0.05
done
[ ${#pids[@]} -eq 0 ] || rig_fail 1 "rig '$name' stays up: processes ${pids[*]} cannot be ended"

for namespace in "${namespaces[@]}"; do
  ip netns delete "$namespace"
done
rm -rf "${rig_root:?}/$name"
rmdir "$rig_root" 2>/dev/null || true
