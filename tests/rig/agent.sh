#!/usr/bin/env bash
# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# agent.sh [-option...] HOST COMMAND...
# What the MPI launchers call in place of ssh; as with ssh the words of the command are joined for a shell to read.
# run.sh sets TPOVERLAP_RIG.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

while [[ ${1-} == -* ]]; do shift; done
[ $# -ge 2 ] || rig_fail $rig_usage "agent.sh needs a host and a command"
host=$1
shift
name=${TPOVERLAP_RIG:?is set by run.sh}
[[ $host == "$name"-* ]] && [ -e "/run/netns/$host" ] || rig_fail $rig_usage "host '$host' is not in rig '$name'"
rig_enter "$name" "${host##*-}" bash -c "$*"
