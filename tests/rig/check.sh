#!/usr/bin/env bash
# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# check.sh CASE [MPI PROGRAM]
# One test of the rig; MPI and PROGRAM (rig_probe, built for it) where the case runs one. Exits with 77 where the
# machine cannot have a rig.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$rig_folder"

case=$1 mpi=${2-} probe=${3-}
name=check$$
work=$(mktemp -d)
# Without job control's reports of what is killed here.
trap 'disown -a; ./down.sh --name $name 2>/dev/null; ./down.sh --name ${name}b 2>/dev/null; rm -rf "$work"' EXIT

failed() {
  printf 'check.sh %s: %s\n' "$case" "$*" >&2
  exit 1
}

# expect <status> <words> <command>...: the command exits so, and prints the words.
expect() {
  local wanted=$1 words=$2 status=0
  shift 2
  "$@" >"$work/output" 2>&1 || status=$?
  cat "$work/output"
  [ $status -eq "$wanted" ] || failed "'$*' exits with $status, not $wanted"
  [ -z "$words" ] || grep -qF -e "$words" "$work/output" || failed "'$*' does not print '$words'"
}

# Anything of rig $1 that is still there: its namespaces and files, processes that were started on it, what the
# launchers write elsewhere, and interfaces that lead into it.
remains() {
  rig_namespaces "$1"
  find "$rig_root/$1" "/etc/netns/$1"-* -maxdepth 0 2>/dev/null
  find /tmp "${TMPDIR:-/tmp}" /dev/shm -maxdepth 1 -name "*$1-*" 2>/dev/null
  ip -o link | grep -F "$1"
  local environment
  for environment in /proc/[0-9]*/environ; do
    if tr '\0' '\n' 2>/dev/null <"$environment" | grep -qx "TPOVERLAP_RIG=$1"; then
      printf '%s\n' "${environment%/environ}"
    fi
  done 2>/dev/null
  return 0
}
nothing_remains() {
  local found
  found=$(remains "$1")
  [ -z "$found" ] || failed "left of rig $1: $found"
}

# The test's own time limit bounds these.
until_true() { until "$@"; do sleep 0.05; done; }
# until_rounds <count>: the program in the background, rig_probe count, has done more rounds than that.
rounds() { grep -E '^[0-9]+$' "$work/count" 2>/dev/null || echo 0; }
until_rounds() {
  until [ "$(rounds)" -gt "$1" ]; do
    [ -n "$(jobs -r)" ] || failed "the program has ended before round $1"
    sleep 0.05
  done
}
is_gone() { [ -z "$(remains "$1")" ]; }

# The only place where the test is skipped: later on the same status would be a fault.
if [ "$case" != cannot ]; then
  status=0
  ./up.sh --name $name --hosts 1 || status=$?
  [ $status -ne 77 ] || exit 77
  [ $status -eq 0 ] || failed "up.sh exits with $status"
  ./down.sh --name $name
fi

case $case in
  # --- the links ---
  rate)
    expect 0 "" ./up.sh --name $name --hosts 3 --mbit 250
    rig_read $name
    for pattern in one_way incast outcast; do
      expect 0 "Mbit/s of 250" ./run.sh --name $name --mpi "$mpi" -- "$probe" rate $pattern 250 "$rig_burst" 4000000
    done
    ;;
  frames)
    # The smallest and the largest, and a rate at which a large frame is long on the wire.
    for mtu in 576 65535; do
      expect 0 "Mbit/s of 20" ./with.sh --name $name --mbit 20 --mtu $mtu --mpi "$mpi" -- \
        "$probe" rate one_way 20 131198 300000
    done
    ;;
  cut)
    expect 0 "" ./up.sh --name $name --hosts 2
    ./run.sh --name $name --mpi "$mpi" -- "$probe" count "$work/count" &
    until_rounds 10
    expect 0 "" ./cut.sh --name $name --host 1
    # One message at most was past the switch when it was cut, so one round more may end.
    before=$(rounds)
    sleep 1
    [ "$(rounds)" -le $((before + 1)) ] || failed "messages arrive over a cut link: $before, then $(rounds)"
    expect 0 "" ./cut.sh --name $name --host 1 --heal
    until_rounds $((before + 1))
    # The launcher's network: silent when cut, and otherwise there is nobody at this port who could answer.
    expect 0 "" ./cut.sh --name $name --host 1 --control
    knock='echo >/dev/tcp/10.202.0.2/9'
    expect 124 "" ip netns exec $name-0 timeout 1 bash -c "$knock"
    expect 0 "" ./cut.sh --name $name --host 1 --control --heal
    expect 1 "refused" ip netns exec $name-0 timeout 30 bash -c "$knock"
    expect $rig_usage "--host takes 0 to 1, not 2" ./cut.sh --name $name --host 2
    ;;

  # --- the programs ---
  hosts)
    for per_host in 1 2; do
      expect 0 "rank $((3 * per_host - 1)) is on $name-2" ./with.sh --name $name --hosts 3 --mpi "$mpi" \
        --per-host $per_host -- "$probe" hosts $name $per_host
      nothing_remains $name
    done
    ;;
  exit_status)
    expect 0 "" ./with.sh --name $name --mpi "$mpi" -- "$probe" exit 0
    expect 19 "" ./with.sh --name $name --mpi "$mpi" -- "$probe" exit 19
    nothing_remains $name
    ;;
  ended)
    for signal in TERM INT HUP KILL; do
      rm -f "$work/count"
      # A shell's background jobs ignore SIGINT, which no one at a terminal sees.
      env --default-signal=INT ./with.sh --name $name --mpi "$mpi" -- "$probe" count "$work/count" &
      with=$!
      until_rounds 10
      [ -n "$(remains $name)" ] || failed "remains() does not see a rig that is up"
      kill -$signal $with
      status=0
      wait $with 2>/dev/null || status=$?
      wanted=$((128 + $(kill -l $signal)))
      [ $status -eq $wanted ] || failed "with.sh exits with $status after SIG$signal, not $wanted"
      # Who is killed cannot wait for what cleans up after it.
      if [ $signal = KILL ]; then until_true is_gone $name; else nothing_remains $name; fi
    done
    ;;
  side_by_side)
    expect 0 "" ./up.sh --name $name --hosts 2
    expect 0 "" ./up.sh --name ${name}b --hosts 2
    ./run.sh --name $name --mpi "$mpi" -- "$probe" count "$work/count" &
    until_rounds 10
    expect 0 "rank 1 is on ${name}b-1" ./run.sh --name ${name}b --mpi "$mpi" -- "$probe" hosts ${name}b 1
    expect 0 "" ./down.sh --name ${name}b
    nothing_remains ${name}b
    until_rounds "$(rounds)"
    ;;

  # --- up and down ---
  twice)
    expect 0 "" ./down.sh --name $name
    expect 0 "" ./up.sh --name $name --hosts 3 --mbit 100
    expect 0 "" ./up.sh --name $name --hosts 2 --mbit 200 --mtu 1400
    [ "$(rig_namespaces $name | tr '\n' ' ')" = "$name-0 $name-1 $name-switch " ] ||
      failed "the second rig consists of $(rig_namespaces $name)"
    expect 0 "mtu 1400" ip -n $name-1 link show eth0
    expect 0 "rate 200Mbit" tc -n $name-1 qdisc show dev eth0
    expect 0 "rate 200Mbit" tc -n $name-switch qdisc show dev data1
    expect 0 "" ./down.sh --name $name
    expect 0 "" ./down.sh --name $name
    nothing_remains $name
    ;;
  usage)
    expect $rig_usage "--hosts takes 1 to 64, not 0" ./up.sh --name $name --hosts 0
    expect $rig_usage "--mbit takes a whole number, not '2.5'" ./up.sh --name $name --mbit 2.5
    expect $rig_usage "--mtu needs a value" ./up.sh --name $name --mtu
    expect $rig_usage "not 'no/name'" ./up.sh --name no/name
    expect $rig_usage "up.sh does not know '--fast'" ./up.sh --fast
    expect $rig_usage "there is no rig '$name'" ./run.sh --name $name -- true
    expect $rig_usage "there is no rig '$name'" ./cut.sh --name $name --host 0
    expect $rig_usage "needs a program" ./with.sh --hosts 2
    nothing_remains $name
    ;;
  # What machines say that cannot have a rig: without the tools, without the rights, with a kernel that refuses.
  cannot)
    mkdir "$work/bin"
    for tool in bash dirname id mkdir rm rmdir tail mount unshare; do
      ln -s "$(command -v $tool)" "$work/bin/$tool"
    done
    fake() { printf '#!/bin/bash\n%s\n' "$2" >"$work/bin/$1" && chmod +x "$work/bin/$1"; }
    for script in up.sh down.sh "run.sh -- true" "with.sh -- true" "cut.sh --host 0"; do
      # shellcheck disable=SC2086
      expect 77 "no rig on this machine: 'ip' is not on PATH" env PATH="$work/bin" bash ./$script
    done
    fake ip 'echo "RTNETLINK answers: Operation not permitted" >&2; exit 2'
    fake tc 'exit 2'
    fake bridge 'exit 2'
    rm "$work/bin/id"
    fake id 'echo 1000'
    expect 77 "need root" env PATH="$work/bin" bash ./up.sh --name $name
    if [ "$(id -u)" = 0 ]; then
      fake id 'echo 0'
      expect 77 "the kernel refuses 'ip netns add $name-switch' (RTNETLINK answers: Operation not permitted)" \
        env PATH="$work/bin" bash ./up.sh --name $name
      [ ! -e "$rig_root/$name" ] || failed "files of a rig that could not be made remain"
    fi
    ;;
  *) failed "there is no such case" ;;
esac
