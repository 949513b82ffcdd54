#!/usr/bin/env bash
# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# run.sh [--name NAME] [--mpi openmpi|mpich] [--per-host K] -- PROGRAM ARGUMENT...
# Runs an MPI program on every host of the rig, K ranks a host (rank r on host r / K), the launcher on host 0, and exits
# with the launcher's status. The environment is passed on. What is set here by ${...:=...} can be set otherwise before.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=${TPOVERLAP_RIG:-$rig_default_name} mpi=openmpi per_host=1
while [ $# -gt 0 ]; do
  case $1 in
    --name) rig_value "$@" && name=$value && shift 2 ;;
    --mpi) rig_value "$@" && mpi=$value && shift 2 ;;
    --per-host) rig_value "$@" && per_host=$value && shift 2 ;;
    --) shift && break ;;
    *) rig_fail $rig_usage "run.sh does not know '$1'; it takes --name, --mpi and --per-host, then -- and the program" ;;
  esac
done
[ $# -gt 0 ] || rig_fail $rig_usage "run.sh needs a program after --"
rig_check_name "$name"
rig_number --per-host "$per_host" 1 64
rig_require
rig_read "$name"
export TPOVERLAP_RIG=$name

# Both names exist on Debian; elsewhere the plain one may be either, so RIG_LAUNCHER_<mpi> can say which.
case $mpi in
  openmpi) launcher=${RIG_LAUNCHER_openmpi:-mpirun.openmpi} ;;
  mpich) launcher=${RIG_LAUNCHER_mpich:-mpirun.mpich} ;;
  *) rig_fail $rig_usage "--mpi takes openmpi or mpich, not '$mpi'" ;;
esac
command -v "$launcher" >/dev/null ||
  rig_fail $rig_cannot "no $mpi on this machine: '$launcher' is not found (RIG_LAUNCHER_$mpi can name another)"

ranks=$((rig_hosts * per_host))
hosts=$(for ((i = 0; i < rig_hosts; ++i)); do printf '%s-%d:%d,' "$name" $i "$per_host"; done)
hosts=${hosts%,}

# One thread each beneath the ranks: all hosts share this machine's cores.
export OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1} OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
# What a launcher leaves when it is killed goes with the rig.
export TMPDIR=$rig_root/$name/tmp

if [ "$mpi" = openmpi ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  # Sockets between hosts, shared memory within one. ob1 is named because UCX and libfabric, where they are installed,
  # rank higher and would go by what the kernel says: one machine, shared memory.
  : "${OMPI_MCA_pml:=ob1}" "${OMPI_MCA_btl:=tcp,vader,self}"
  # A rank that waits spins; with more ranks than cores it has to let others in between.
  [ $ranks -le "$(nproc)" ] || : "${OMPI_MCA_mpi_yield_when_idle:=1}"
  export OMPI_MCA_pml OMPI_MCA_btl ${OMPI_MCA_mpi_yield_when_idle:+OMPI_MCA_mpi_yield_when_idle}
  rig_enter "$name" 0 "$launcher" -n $ranks --host "$hosts" --map-by slot --bind-to none \
    --mca plm_rsh_agent "$rig_folder/agent.sh" --mca plm_rsh_no_tree_spawn 1 \
    --mca oob_tcp_if_include ctl0 --mca btl_tcp_if_include eth0 "$@"
else
  # UCX finds that all hosts have one kernel and would use its shared memory: TCP only, by the limited interface.
  : "${UCX_TLS:=tcp,self}" "${UCX_NET_DEVICES:=eth0}"
  export UCX_TLS UCX_NET_DEVICES
  rig_enter "$name" 0 "$launcher" -n $ranks -hosts "$hosts" -launcher rsh -launcher-exec "$rig_folder/agent.sh" \
    -iface ctl0 -bind-to none "$@"
fi
