#!/bin/sh
# Runs a command of the bench in the shapes that two GPUs allow: shapes.sh SHAPE COMMAND...
#   nvlink   as the machine is          pcie    peer access off: shared memory over PCIe
#   nodes    8 "nodes" of one rank over loopback sockets, started by mpirun; fewer than 8 GPUs are shared under MPS
set -eu
shape=$1
shift
export NCCL_NVLS_ENABLE=0
case $shape in
  nvlink) exec "$@" ;;
  pcie) NCCL_P2P_DISABLE=1 exec "$@" ;;
  nodes)
    folder=$(mktemp -d)
    shared=
    [ "$(nvidia-smi -L | grep -c '^GPU')" -ge 8 ] || shared=1
    export NCCL_SOCKET_IFNAME=lo
    if [ $shared ]; then
      export CUDA_MPS_PIPE_DIRECTORY="$folder/pipe" CUDA_MPS_LOG_DIRECTORY="$folder/log"
      mkdir "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_LOG_DIRECTORY"
      nvidia-cuda-mps-control -d
    fi
    status=0
    mpirun --allow-run-as-root --oversubscribe -n 8 sh -c 'NCCL_HOSTID=node-$OMPI_COMM_WORLD_RANK exec "$@"' - "$@" || status=$?
    [ ! $shared ] || echo quit | nvidia-cuda-mps-control
    exit $status
    ;;
  *) echo "shapes.sh: nvlink, pcie or nodes, not '$shape'" >&2; exit 2 ;;
esac
