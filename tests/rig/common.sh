# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# What the scripts of the rig share; sourced, never run.
#
# A rig NAME is one network namespace for each host, NAME-0, NAME-1, ..., and one more, NAME-switch, that holds two
# bridges: `data`, to which each host's rate-limited eth0 leads, and `control`, which the MPI launcher's daemons use,
# so that they neither take from the measured wire nor lose each other when it is cut. No interface, address or rule
# of the rig is outside these namespaces, so nothing on the machine can collide with one. Files are in $rig_root/NAME.

set -euo pipefail

rig_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rig_root=/run/tpoverlap-rig
rig_default_name=tporig

# Exit codes. The program's own status is passed on, so these are the rig's only where no program was started.
rig_cannot=77  # this machine cannot have a rig: what ctest reports as skipped
rig_usage=2

rig_fail() {
  local code=$1
  shift
  printf 'rig: %s\n' "$*" >&2
  exit "$code"
}

# rig_value "$@": sets `value` to that of the option in front. Not by its output: an error in a subshell would be lost.
rig_value() {
  [ $# -ge 2 ] || rig_fail $rig_usage "$1 needs a value"
  value=$2
}

# rig_number <option> <value> <least> <most>: refuses what is not a whole number in that range.
rig_number() {
  [[ $2 =~ ^(0|[1-9][0-9]{0,8})$ ]] || rig_fail $rig_usage "$1 takes a whole number, not '$2'"
  [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || rig_fail $rig_usage "$1 takes $3 to $4, not $2"
}

# The name is part of file names and of host names.
rig_check_name() {
  [[ $1 =~ ^[a-z][a-z0-9]{0,31}$ ]] ||
    rig_fail $rig_usage "--name takes a letter and up to 31 letters or digits, all lower case, not '$1'"
}

# Stops with code 77 and one line where the tools, the rights or the kernel's parts are missing.
rig_require() {
  local tool
  for tool in ip tc bridge; do
    command -v "$tool" >/dev/null || rig_fail $rig_cannot "no rig on this machine: '$tool' is not on PATH (install iproute2)"
  done
  for tool in unshare mount; do
    command -v "$tool" >/dev/null || rig_fail $rig_cannot "no rig on this machine: '$tool' is not on PATH (install util-linux)"
  done
  [ "$(id -u)" = 0 ] || rig_fail $rig_cannot "no rig on this machine: network namespaces need root, and this is user $(id -un)"
}

# The namespaces of rig $1, one a line, hosts and switch.
rig_namespaces() {
  local path
  for path in /run/netns/"$1"-*; do
    [[ ${path##*/} =~ ^"$1"-([0-9]+|switch)$ ]] && [ -e "$path" ] && printf '%s\n' "${path##*/}"
  done
  return 0
}

# Sets rig_hosts, rig_mbit, rig_mtu and rig_burst of rig $1, which has to be up.
rig_read() {
  [ -f "$rig_root/$1/settings" ] || rig_fail $rig_usage "there is no rig '$1'; make it with $rig_folder/up.sh --name $1"
  # shellcheck disable=SC1090
  . "$rig_root/$1/settings"
}

# rig_enter <name> <host> <command>...: becomes the command, on that host: its network, its host name, its hosts file.
# Shared memory is its own, too: what a killed program leaves there goes with its last process.
rig_enter() {
  local name=$1 host=$1-$2
  shift 2
  # `ip netns exec` gives a mount namespace of its own, in which /sys shows this host's interfaces.
  exec ip netns exec "$host" unshare --uts bash -c '
    echo "$1" >/proc/sys/kernel/hostname &&
      mount --bind "$2" /etc/hosts &&
      mount -t tmpfs -o mode=1777 tmpfs /dev/shm || exit 77
    shift 2
    exec "$@"' rig "$host" "$rig_root/$name/hosts" "$@"
}
