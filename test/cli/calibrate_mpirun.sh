#!/bin/sh
# sizewise calibrate under Open MPI on this machine, 8 and 64 simulated ranks, well and with faults: rank 0 alone speaks
# and writes, the profile is valid, and no process is left behind.
set -eu
. "$SW_TEST_SOURCE/test/cli/lib/left_over.sh"
command -v mpirun >/dev/null || { echo "SKIP: no mpirun"; exit 77; }
mpirun --version | grep -q 'Open MPI' || { echo "SKIP: mpirun is not Open MPI's"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export NCCL_SIZEWISE_PATH=/no/such/folder
unset NCCL_SIZEWISE_PROFILE NCCL_SIZEWISE_EXPECT || true
program=$work/sizewise # a path of its own: what is left of it can be found
cp "$SW_BUILD/sizewise" "$program"
cp "$SW_BUILD/libnccl-tuner-sizewise.so" "$work/"
cluster=$SW_TEST_SOURCE/test/fixtures/cli/calibrate.yaml
cd "$work"

fail() {
  echo "$1"
  tail -n 40 out
  exit 1
}

none_left() { none_left_over exe "$program" || fail "$1: left behind:$left"; }

# RANKS STATUS ARGUMENTS...
calibrate() {
  ranks=$1
  expected=$2
  shift 2
  what="$ranks ranks $*"
  rm -f cluster.yaml
  status=0
  timeout -k 5 200 mpirun --allow-run-as-root --oversubscribe -n "$ranks" "$program" calibrate --simulate "$cluster" \
    -o cluster.yaml "$@" >out 2>&1 || status=$?
  [ $status -eq "$expected" ] || fail "$what: status $status"
  none_left "$what"
}

leaves_profile() {
  "$program" check cluster.yaml >check 2>&1 || fail "$what: $(cat check)"
  [ "$(ls | tr '\n' ' ')" = 'check cluster.yaml libnccl-tuner-sizewise.so out sizewise ' ] || fail "$what: left $(ls)"
  grep -q "ranks: $ranks\$" cluster.yaml || fail "$what: no table of $ranks ranks"
}

has() { grep -qF -- "$1" out || fail "$what: no \"$1\""; }

once() { [ "$(grep -cF -- "$1" out)" = 1 ] || fail "$what: \"$1\" is not there once"; }

for ranks in 8 64; do
  calibrate $ranks 0 --sizes 64KiB,1MiB
  leaves_profile
  once "$ranks ranks on 4 nodes"
  once 'NCCL_SIZEWISE_EXPECT='
done

calibrate 8 0 --sizes 64KiB --ranks 2,4 --collective allreduce,broadcast
leaves_profile
once 'broadcast, 2 ranks on 1 node'

for ranks in 8 64; do
  calibrate $ranks 0 --sizes 64KiB --fault crash:ring+ll
  leaves_profile
  has 'ring + ll excluded: rank'
  has 'was killed by signal 11 (Segmentation fault)'
done

calibrate 8 0 --sizes 64KiB --fault hang:ring+ll
leaves_profile
has 'hung: ranks 0-7 of 8 did not answer within'

calibrate 8 2 --sizes 12KB
has "--sizes: '12KB': it takes a range"

# mpirun that is ended takes all of them with it, and what was measured is there.
what='mpirun that was ended'
ranks=8
rm -f cluster.yaml
mpirun --allow-run-as-root --oversubscribe -n 8 "$program" calibrate --simulate "$cluster" -o cluster.yaml \
  --fault hang:tree+ll@16KiB >out 2>&1 &
launcher=$!
for i in $(seq 300); do
  [ ! -e cluster.yaml ] || break
  sleep 0.1
done
kill -TERM $launcher
wait $launcher 2>/dev/null || true
none_left "$what"
"$program" check cluster.yaml >check 2>&1 || fail "$what: $(cat check)"
