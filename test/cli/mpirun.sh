#!/bin/sh
# Ranks that Open MPI starts on this machine: 8 and 64 of them, well, hanging and crashing; nothing is left behind.
# And srun and torchrun as far as their environment goes: each rank started by hand with what they would set.
set -eu
. "$SW_TEST_SOURCE/test/cli/lib/left_over.sh"
command -v mpirun >/dev/null || { echo "SKIP: no mpirun"; exit 77; }
mpirun --version | grep -q 'Open MPI' || { echo "SKIP: mpirun is not Open MPI's"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$work/launch_ranks
cp "$SW_TEST_BUILD/launch_ranks" "$program" # a path of its own: what is left of it can be found

fail() {
  echo "$1"
  cat "$work/out"
  exit 1
}

none_left() { none_left_over exe "$program" || fail "$1: left behind:$left"; }

expect() {
  grep -qx "$2" "$work/out" || fail "$1: no line \"$2\""
}

# ranks mode
launch() {
  timeout -k 5 100 mpirun --allow-run-as-root --oversubscribe -n "$1" "$program" "$1" $2 >"$work/out" 2>&1 ||
    fail "$1 ranks $2: status $?"
  none_left "$1 ranks $2"
}

host=$(uname -n)
for ranks in 8 64; do
  launch $ranks ''
  expect "$ranks ranks" "attempt 1: $ranks ranks by mpirun are well"
  launch $ranks hang
  expect "$ranks ranks" "attempt 1: rank $((ranks - 1)) of $ranks did not answer within 0.5 s"
  expect "$ranks ranks" "attempt 2: $ranks ranks by mpirun are well"
  launch $ranks crash
  expect "$ranks ranks" "attempt 1: rank $((ranks - 1)) on $host was killed by signal 6 (Aborted)"
  expect "$ranks ranks" "attempt 2: $ranks ranks by mpirun are well"
done

# mpirun that is ended takes all ranks with it, also while they wait for one that is late
for waiting in 0 30; do
  mpirun --allow-run-as-root --oversubscribe -n 8 sh -c \
    'if [ "$OMPI_COMM_WORLD_RANK" = 7 ]; then sleep "$1"; fi; exec "$0" 8 stay' "$program" $waiting >"$work/out" 2>&1 &
  launcher=$!
  sleep 2
  kill -TERM $launcher
  wait $launcher 2>/dev/null || true
  none_left "mpirun that was ended"
done

# the other launchers' environments; the last rank is the driver, so that its status is ours
by_hand() {
  name=$1
  shift
  for rank in 3 2 1; do
    env "$@" RANK=$rank LOCAL_RANK=$rank SLURM_PROCID=$rank SLURM_LOCALID=$rank "$program" 4 >>"$work/out" 2>&1 &
  done
  timeout -k 5 60 env "$@" RANK=0 LOCAL_RANK=0 SLURM_PROCID=0 SLURM_LOCALID=0 "$program" 4 >"$work/out" 2>&1 ||
    fail "$name: status $?"
  wait
  expect "$name" "attempt 1: 4 ranks by $name are well"
  none_left "$name"
}
by_hand torchrun WORLD_SIZE=4 LOCAL_WORLD_SIZE=4 MASTER_ADDR=localhost MASTER_PORT=29500 TORCHELASTIC_RUN_ID=$$
by_hand srun WORLD_SIZE=4 SLURM_JOB_ID=$$ SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_TASKS_PER_NODE=4 \
  SLURM_NODEID=0 SLURM_STEP_NODELIST="$host"
timeout -k 5 60 "$program" 4 crash >"$work/out" 2>&1 || fail "local: status $?"
expect local "attempt 1: rank 3 was killed by signal 6 (Aborted)"
expect local "attempt 2: 4 ranks by local are well"
none_left local
