#!/usr/bin/env bash
# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# with.sh [--name NAME] [--hosts N] [--mbit R] [--mtu BYTES] [--mpi openmpi|mpich] [--per-host K] -- PROGRAM ARGUMENT...
# Makes a rig, runs an MPI program on it as run.sh does, and takes the rig down however that ends: by a signal, too, and
# by kill -9. The program's processes are then ended without being asked. Exits with the program's status, or with
# 128 + the signal's number.
# The rig has a name of its own unless one is given, so that any number can run side by side; the program finds it in
# TPOVERLAP_RIG, and so do cut.sh and run.sh where the program calls them.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=rig$$ up=() run=()
while [ $# -gt 0 ]; do
  case $1 in
    --name) rig_value "$@" && name=$value && shift 2 ;;
    --hosts | --mbit | --mtu) rig_value "$@" && up+=("$1" "$value") && shift 2 ;;
    --mpi | --per-host) rig_value "$@" && run+=("$1" "$value") && shift 2 ;;
    --) shift && break ;;
    *) rig_fail $rig_usage "with.sh does not know '$1'; it takes the options of up.sh and run.sh, then -- and the program" ;;
  esac
done
[ $# -gt 0 ] || rig_fail $rig_usage "with.sh needs a program after --"
rig_check_name "$name"
rig_require

# Takes the rig down if this script dies without a word: the pipe then closes. Twice in the background and in a session
# of its own, so that who kills this script and its children, as ctest does at a time limit, does not find it.
exec {alive}> >(trap '' INT TERM HUP; exec setsid bash -c '
  (read -r word || exec "$1" --name "$2") >/dev/null 2>&1 <&0 &' rig "$rig_folder/down.sh" "$name")
finish() {
  trap '' INT TERM HUP
  disown -a # or bash would report that the program was killed, which is what happens now
  "$rig_folder/down.sh" --name "$name" || true
  echo done >&"$alive" || true
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

"$rig_folder/up.sh" --name "$name" "${up[@]}" {alive}>&-
# In the background, because bash would put a signal off until a command in the foreground has ended.
"$rig_folder/run.sh" --name "$name" "${run[@]}" -- "$@" <&0 {alive}>&- &
status=0
wait $! || status=$?
exit $status
