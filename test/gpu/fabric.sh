#!/bin/sh
# The bench's fabric on real NCCL, in three shapes: NVLink (or what the machine has), peer access off, and eight "nodes"
# over loopback sockets. Every forced choice has to be what runs, on all five collectives, with right data.
set -eu
command -v nvidia-smi >/dev/null && [ "$(nvidia-smi -L | wc -l)" -ge 2 ] || { echo "SKIP: no two GPUs"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export NCCL_NVLS_ENABLE=0
program=$SW_TEST_BUILD/gpu_fabric
plugin=$SW_BUILD/libnccl-tuner-sizewise.so
status=0
try() { # name, command...
  name=$1
  shift
  if "$@" >"$work/$name" 2>&1; then
    echo "$name: $(tail -n 1 "$work/$name"), $(grep -c ' runs ' "$work/$name") choices"
  else
    tail -n 20 "$work/$name"
    status=1
  fi
}
try as-it-is "$program" "$plugin" 2 2
try peer-access-off env NCCL_P2P_DISABLE=1 "$program" "$plugin" 2 2
if command -v nvidia-cuda-mps-control >/dev/null; then
  export CUDA_MPS_PIPE_DIRECTORY="$work/mps" CUDA_MPS_LOG_DIRECTORY="$work/mps-log"
  mkdir "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_LOG_DIRECTORY"
  nvidia-cuda-mps-control -d
  try eight-nodes env SW_NODES=1 NCCL_SOCKET_IFNAME=lo "$program" "$plugin" 8 2
  echo quit | nvidia-cuda-mps-control
fi
exit $status
