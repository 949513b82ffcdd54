#!/usr/bin/env bash
# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# cut.sh [--name NAME] --host I [--control] [--heal]
# Cuts host I off, or heals it, while programs run. Nothing is told to anybody: frames to and from the host vanish in
# the switch, its interfaces stay up, its processes live. That is what others see of a machine that has lost its power.
# --control cuts the launcher's network, too; otherwise the launcher can still end the ranks on that host.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=${TPOVERLAP_RIG:-$rig_default_name} host="" networks=(data)
state=0 # a bridge's words: 0 is disabled, 3 is forwarding
while [ $# -gt 0 ]; do
  case $1 in
    --name) rig_value "$@" && name=$value && shift 2 ;;
    --host) rig_value "$@" && host=$value && shift 2 ;;
    --control) networks+=(control) && shift ;;
    --heal) state=3 && shift ;;
    *) rig_fail $rig_usage "cut.sh does not know '$1'; it takes --name, --host, --control and --heal" ;;
  esac
done
rig_check_name "$name"
[ -n "$host" ] || rig_fail $rig_usage "cut.sh needs --host"
rig_require
rig_read "$name"
rig_number --host "$host" 0 $((rig_hosts - 1))
for network in "${networks[@]}"; do
  # Not `ip link set ... type bridge_slave state`, which was seen to succeed and change nothing (Linux 6.18).
  bridge -n "$name-switch" link set dev "$network$host" state $state
done
