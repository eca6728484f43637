#!/bin/sh
# sizewise calibrate with every kind of fault: of a choice and of auto, at one size and at all, while it measures and
# while it compares afresh. The run ends by itself, leaves a valid profile of what is known, and says what happened.
set -u
. "$SW_TEST_SOURCE/test/cli/lib/calibrate.sh"
budget='--budget 19s' # too little to be compared with no tuner at all, which takes many starts

# What the report says of each fault.
words_of() {
  case $1 in
    crash) echo 'was killed by signal 11 (Segmentation fault)' ;;
    error) echo 'ncclAllReduce: unhandled system error' ;;
    hang) echo 'hung: ranks 0-3 of 4 did not answer within' ;;
    corrupt) echo 'received something else than the exact result' ;;
  esac
}

# --- a choice ----------------------------------------------------------------------------------------------------------

# Ring + LL on two channels is what would win at both sizes. What goes wrong with it is said, and it is not decided for;
# the other size keeps it where it is well there.
choice_fails() { # FAULT
  words=$(words_of "$1")
  calibrate 0 --sizes 64KiB,1MiB --fault "$1:ring+ll/2" -o cluster.yaml
  leaves_profile
  has err 'allreduce 64 KiB: ring + ll, 2 channels excluded:'
  has err "$words"
  profile_has "$words"
  [ "$(sizewise explain cluster.yaml --bytes 1MiB | grep -c 'ring + ll, 2 channels')" = 0 ] || fail 'it is decided for'
}
for fault in crash error corrupt hang; do choice_fails $fault; done
calibrate 0 --sizes 64KiB,1MiB --fault corrupt:ring+ll/2@1MiB -o cluster.yaml
leaves_profile
decides allreduce 64KiB ring ll 2

# Only while it is timed: in the race, and call by call, where the middle sizes are confirmed.
for where in timed timed@stream; do
  calibrate 0 --sizes 64KiB,1MiB --fault "error:ring+ll/2@1MiB@$where" -o cluster.yaml
  leaves_profile
  has err 'allreduce 1 MiB: ring + ll, 2 channels excluded: rank'
  decides allreduce 1MiB ring simple 4
done

# While the finished profile is compared: at a measured size the next best takes its place and is compared as well; a
# size between is measured like any other.
for fault in crash error; do
  calibrate 0 --sizes 64KiB,1MiB --fault "$fault:profile@1MiB" -o cluster.yaml
  leaves_profile
  has err 'allreduce 1 MiB: ring + ll, 2 channels excluded: rank'
  has out 'withdrawn'
  decides allreduce 64KiB ring ll 2
  decides allreduce 1MiB auto auto own
  calibrate 0 --sizes 64KiB,1MiB --fault "$fault:profile@544KiB" -o cluster.yaml
  leaves_profile
  profile_has '  - bytes: 544KiB'
  has out '544 KiB'
  decides allreduce 1MiB ring ll 2
  calibrate 0 --sizes 64KiB,1MiB --fault "$fault:profile" -o cluster.yaml
  leaves_profile
  has out 'Nothing to gain here: what was faster when it was measured did not hold'
  for bytes in 64KiB 256KiB 544KiB 1MiB; do decides allreduce $bytes auto auto own; done
done
calibrate 0 --sizes 64KiB --fault hang:profile -o cluster.yaml
leaves_profile
has err 'allreduce 64 KiB: ring + ll, 2 channels excluded: hung'
decides allreduce 64KiB auto auto own

# --- auto --------------------------------------------------------------------------------------------------------------

# At one size: that one is left out, the others go on.
auto_fails() { # FAULT
  words=$(words_of "${1%%:*}")
  calibrate 1 --sizes 64KiB,1MiB --fault "$1" -o cluster.yaml
  leaves_profile
  has err "allreduce 1 MiB: NCCL's own choice fails: "
  has err "$words"
  has out "Not measured, as NCCL's own choice fails there: allreduce 1 MiB on 4 ranks ("
  profile_has "Not measured, as NCCL's own choice failed there: allreduce 1 MiB on 4 ranks ("
  decides allreduce 64KiB ring ll 2
  none_left
}
for fault in crash error corrupt hang; do auto_fails $fault:auto@1MiB; done
for fault in crash error; do auto_fails $fault:auto@1MiB@timed; done

# At a size that is only compared: the rest holds, and that one is named.
for fault in crash error; do
  calibrate 1 --sizes 64KiB,1MiB --fault "$fault:auto@544KiB" -o cluster.yaml
  leaves_profile
  has out "Not compared afresh, as NCCL's own choice failed there: allreduce 544 KiB on 4 ranks ("
  has out "NOT VERIFIED, as NCCL's own choice failed there: allreduce on 4 ranks 544 KiB."
  decides allreduce 1MiB ring ll 2
done

# At all sizes there is nothing to measure, and nothing to write; a profile that is there stays.
for fault in crash error corrupt; do
  calibrate 1 --sizes 4KiB,64KiB,1MiB --fault "$fault:auto" -o cluster.yaml
  leaves_nothing
  has err 'no profile was written: nothing was measured. Without a profile NCCL decides everything'
  has out 'The other sizes of allreduce on 4 ranks were not tried after that.'
  none_left
done
fresh 'a profile that is there'
cp "$cluster" cluster.yaml
sizewise calibrate --simulate "$cluster" --sizes 64KiB --fault error:auto -o cluster.yaml >"$work/out" 2>"$work/err"
has err 'nothing was measured; cluster.yaml is as it was'
cmp -s cluster.yaml "$cluster" || fail 'it was changed'

# One collective without another.
calibrate 1 --sizes 64KiB --collective allgather,allreduce --fault error:auto@64KiB -o cluster.yaml
has out 'allgather 64 KiB on 4 ranks'

# Ranks with other estimates than the rest would hang: which one, and how it differs.
for rank in 0 3; do
  calibrate 1 --sizes 64KiB --fault rank-table:$rank -o cluster.yaml
  has err "rank $rank would run "
  has err "(NCCL's estimates: "
  has err 'where 3 of 4 ranks run '
  has err 'give it the same NCCL, NCCL settings (nccl.conf, too) and hardware as the others, or leave it out'
  leaves_nothing
  none_left
done
# ... and those that it is not among are measured.
calibrate 1 --sizes 64KiB --ranks 2 --fault rank-table:3 -o cluster.yaml
leaves_profile
has err 'rank 3 would run '
decides allreduce 64KiB ring ll 2

# With a budget that has room for that comparison as well.
budget=
calibrate 1 --sizes 64KiB,1MiB --fault crash:auto@1MiB -o cluster.yaml
leaves_profile
has out 'The plugin passing everything through'
decides allreduce 64KiB ring ll 2

# --- all at once -------------------------------------------------------------------------------------------------------

calibrate 0 --sizes 64KiB --fault crash:ring+ll/2 --fault error:tree+ll --fault corrupt:ring+simple/4 -o cluster.yaml
leaves_profile
for choice in 'ring + ll, 2 channels' 'tree + ll' 'ring + simple, 4 channels'; do has err "$choice excluded:"; done
none_left

exit $failed
