#!/usr/bin/env bash
# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# up.sh [--name NAME] [--hosts N] [--mbit R] [--mtu BYTES]
# Makes a rig of N hosts whose links carry R Mbit/s (10^6 bits, frames counted whole) each way. A rig of that name that
# is up already is taken down first, with what runs in it.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=$rig_default_name hosts=2 mbit=250 mtu=1500
while [ $# -gt 0 ]; do
  case $1 in
    --name) rig_value "$@" && name=$value && shift 2 ;;
    --hosts) rig_value "$@" && hosts=$value && shift 2 ;;
    --mbit) rig_value "$@" && mbit=$value && shift 2 ;;
    --mtu) rig_value "$@" && mtu=$value && shift 2 ;;
    *) rig_fail $rig_usage "up.sh does not know '$1'; it takes --name, --hosts, --mbit and --mtu" ;;
  esac
done
rig_check_name "$name"
rig_number --hosts "$hosts" 1 64
rig_number --mbit "$mbit" 1 100000
rig_number --mtu "$mtu" 576 65535
rig_require

"$rig_folder/down.sh" --name "$name"

# The token bucket. TCP hands the link packets of up to gso_max_size bytes and the link cuts them into frames, which
# saves most of the processor time a packet costs; the bucket passes such a packet in one piece only if it is not larger
# than the bucket, and drops a single frame that is. So
#   gso    16 KiB, a quarter of the kernel's own: the wire is taken in turns of 0.5 ms at 250 Mbit/s, not of 2 ms.
#   burst  the time that a timer may come late, 1 ms, during which tokens are collected: a smaller bucket overflows,
#          and the tokens it loses are line rate lost. At least two such packets with all their frames' headers.
#          A larger one would let more of each message through at no cost after a pause.
#   limit  what may queue before packets are dropped: 10 ms, and at least 256 KiB. TCP itself keeps two or three packets
#          of each connection there (1 to 2 ms at 250 Mbit/s), so one flow never fills it; many do, and what comes last
#          then waits for 10 ms.
gso=16384
packet=$((gso + gso / 8))
[ $packet -ge $((mtu + 64)) ] || packet=$((mtu + 64))
burst=$((mbit * 125))
[ $burst -ge $((2 * packet)) ] || burst=$((2 * packet))
limit=$((mbit * 1250 + burst))
[ $limit -ge 262144 ] || limit=262144

# From here on a failure is the kernel's refusal; what has been made goes away again.
refused() {
  local why
  why=$(tail -n 1 "$log" 2>/dev/null || true)
  "$rig_folder/down.sh" --name "$name" || true
  rig_fail $rig_cannot "no rig on this machine: the kernel refuses '$1'${why:+ ($why)}"
}
mkdir -p "$rig_root/$name/tmp"
log=$rig_root/$name/log
trap '"$rig_folder/down.sh" --name "$name"; exit 130' INT TERM
try() { "$@" >"$log" 2>&1 || refused "$*"; }

switch=$name-switch
try ip netns add "$switch"
for bridge in data control; do
  # Neither a spanning tree's delay nor multicast groups: a switch that forwards at once.
  try ip -n "$switch" link add "$bridge" type bridge stp_state 0 forward_delay 0 mcast_snooping 0
done
try ip -n "$switch" link set data mtu "$mtu" up
try ip -n "$switch" link set control up

printf '127.0.0.1 localhost\n' >"$rig_root/$name/hosts"
for ((i = 0; i < hosts; ++i)); do
  host=$name-$i
  try ip netns add "$host"
  try ip -n "$host" link set lo up
  try ip -n "$host" link add eth0 mtu "$mtu" type veth peer name "data$i" mtu "$mtu" netns "$switch"
  try ip -n "$host" link add ctl0 type veth peer name "control$i" netns "$switch"
  # No IPv6: nothing here uses it, and its neighbour discovery would be traffic on the measured wire.
  try ip netns exec "$host" bash -c 'f=/proc/sys/net/ipv6/conf/all/disable_ipv6; [ ! -e $f ] || echo 1 >$f'
  try ip -n "$host" link set eth0 gso_max_size $gso up
  try ip -n "$host" link set ctl0 up
  try ip -n "$host" address add "10.201.0.$((i + 1))/24" dev eth0
  try ip -n "$host" address add "10.202.0.$((i + 1))/24" dev ctl0
  # Both ways: the second bucket is the switch's port, without which two senders would reach one host at twice its rate.
  try tc -n "$host" qdisc replace dev eth0 root tbf rate "${mbit}mbit" burst $burst limit $limit
  try tc -n "$switch" qdisc replace dev "data$i" root tbf rate "${mbit}mbit" burst $burst limit $limit
  try ip -n "$switch" link set "data$i" master data up
  try ip -n "$switch" link set "control$i" master control up
  printf '10.201.0.%d %s\n' $((i + 1)) "$host" >>"$rig_root/$name/hosts"
done

# Entering a host needs more of the kernel than making it; ask here, where refusing is still possible.
try bash -c '. "$1" && rig_enter "$2" 0 true' rig "$rig_folder/common.sh" "$name"
rm -f "$log"
printf 'rig_hosts=%d rig_mbit=%d rig_mtu=%d rig_burst=%d\n' "$hosts" "$mbit" "$mtu" $burst >"$rig_root/$name/settings"
