#!/bin/sh
# How sizewise calibrate ends before its time: by a signal at whatever moment, by its budget, by a file that cannot be
# written. What was measured is there, what was not is said, and --resume goes on.
set -u
. "$SW_TEST_SOURCE/test/cli/lib/calibrate.sh"

# SIGNAL WORDS FAULT...: ends a run that hangs by that fault, once stderr or the in-flight file shows the words
end_at() {
  signal=$1
  words=$2
  shift 2
  fresh "SIG$signal at \"$words\" with $*"
  sizewise calibrate --simulate "$cluster" --sizes 4KiB,64KiB,1MiB --raw "$work/raw" "$@" -o cluster.yaml \
    >"$work/out" 2>"$work/err" </dev/null &
  run=$!
  for i in $(seq 200); do
    ! grep -qsF -- "$words" "$work/err" "$work/raw" cluster.yaml.in-flight || break
    sleep 0.1
  done
  [ "$i" -lt 200 ] || fail 'that never came'
  sleep 0.5
  kill -s "$signal" $run
  status=0
  wait $run || status=$?
  [ $status -eq 1 ] || fail "status $status"
  none_left
}

# --- signals -----------------------------------------------------------------------------------------------------------

for signal in INT TERM; do
  # in the middle of a size: those before it are there
  end_at $signal "$(printf '1048576\ttree\tll\t0')" --fault hang:tree+ll@1MiB
  leaves_profile
  profile_has 'Interrupted before all sizes were measured.'
  has out 'Not measured, as it was interrupted: allreduce on 4 ranks 1 MiB. The same command with --resume goes on from'
  has out 'NOT VERIFIED, as it was interrupted: allreduce on 4 ranks '
  decides allreduce 64KiB ring ll 2

  # while it is compared with no tuner, and while the first choices are looked for: nothing is known yet
  end_at $signal 'budget 300 s' --fault hang:auto@4KiB@timed
  leaves_nothing
  has err 'no profile was written: nothing was measured'
  end_at $signal "$(printf '4096\ttree\tll\t0')" --fault hang:tree+ll@4KiB
  leaves_nothing
  has err 'no profile was written: nothing was measured'
done

# while it is compared afresh: all was measured
end_at INT '1 MiB: auto' --fault hang:profile@64KiB
leaves_profile
profile_has 'Interrupted before all sizes were compared afresh.'
lacks out 'Not measured'
has out 'NOT VERIFIED, as it was interrupted: allreduce on 4 ranks '

# while the ranks are joined: whenever it comes, it ends in good order
for wait in 0.01 0.05 0.1 0.2; do
  fresh "SIGINT after $wait s"
  sizewise calibrate --simulate "$cluster" --sizes 4KiB -o cluster.yaml >"$work/out" 2>"$work/err" </dev/null &
  run=$!
  sleep $wait
  kill -s TERM $run
  wait $run 2>/dev/null
  none_left
  [ ! -e cluster.yaml ] || leaves_profile
  [ ! -e cluster.yaml.in-flight ] || fail 'an in-flight file is left'
done

# --- the budget --------------------------------------------------------------------------------------------------------

calibrate 0 --sizes 1KiB..128MiB --budget 2s -o cluster.yaml
leaves_profile
profile_has 'The budget was spent before all sizes were measured.'
has out 'Not measured, as the budget was spent: allreduce on 4 ranks '
has out 'The same command with --resume goes on from cluster.yaml.'
decides allreduce 128MiB auto auto own # as nothing is known there
sizewise calibrate --simulate "$cluster" --sizes 1KiB..128MiB --resume -o cluster.yaml >"$work/out" 2>"$work/err" ||
  fail "--resume: status $?"
lacks out 'Not measured'
leaves_profile

# Each collective and communicator gets something.
calibrate 0 --sizes 4KiB,64KiB,256KiB,1MiB,4MiB,16MiB --collective allreduce,allgather,broadcast --ranks 2 --budget 4s \
  -o cluster.yaml
leaves_profile
for ranks in 2 4; do
  for collective in allreduce allgather broadcast; do has out "$collective, $ranks ranks on $ranks nodes"; done
done

# --- files -------------------------------------------------------------------------------------------------------------

calibrate 2 --sizes 64KiB -o "$work/no-such-folder/cluster.yaml"
has err 'No such file or directory'
leaves_nothing
calibrate 2 --sizes 64KiB -o "$work"
has err 'Is a directory'
leaves_nothing

# A folder that goes while it measures: the profile is not lost, and the status says so.
fresh 'a folder that goes'
mkdir gone
(
  until grep -qs '4 KiB: auto' "$work/err"; do sleep 0.05; done
  mv gone moved
) &
status=0
sizewise calibrate --simulate "$cluster" --sizes 4KiB,64KiB --fault hang:tree+ll@64KiB -o gone/cluster.yaml \
  >"$work/out" 2>"$work/err" </dev/null || status=$?
wait
[ $status -eq 2 ] || fail "status $status"
has err 'gone/cluster.yaml: No such file or directory'
has err 'gone/cluster.yaml could not be written (see above)'
rm -rf moved
sed -n '/^sizewise: 1/,$p' "$work/out" >cluster.yaml
leaves_profile
lacks out 'Written to'

exit $failed
