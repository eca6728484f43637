#!/bin/sh
# sizewise calibrate from end to end on simulated clusters: what a run leaves, whatever happens to it. Each step starts
# from an empty folder.
set -u
. "$SW_TEST_SOURCE/test/cli/lib/calibrate.sh"

# --- what a run leaves -------------------------------------------------------------------------------------------------

for seed in 1 2; do
  calibrate 0 --sizes 4KiB,1MiB,128MiB --seed $seed -o cluster.yaml
  leaves_profile
  decides allreduce 1MiB ring ll 2
  has out 'NCCL_SIZEWISE_PROFILE=cluster.yaml'
  digest=$(sizewise check cluster.yaml | sed -n 's/.*digest //p')
  has out "NCCL_SIZEWISE_EXPECT=$digest"
  none_left
  cp cluster.yaml "$work/first.yaml"
  calibrate 0 --sizes 4KiB,1MiB,128MiB --seed $seed -o cluster.yaml
  cmp -s cluster.yaml "$work/first.yaml" || fail 'the same seed gives another profile'
done

calibrate 0 --sizes 64KiB --collective allreduce,allgather,reducescatter,broadcast,reduce -o cluster.yaml
leaves_profile
for collective in allreduce allgather reducescatter broadcast reduce; do
  has out "$collective, 4 ranks on 4 nodes"
  profile_has "  - collective: $collective"
done
decides allgather 64KiB auto auto own
decides allreduce 64KiB ring ll 2

calibrate 0 --sizes 64KiB --ranks 2,4 -o cluster.yaml
leaves_profile
has out 'allreduce, 2 ranks on 2 nodes'
has out 'allreduce, 4 ranks on 4 nodes'
profile_has '    ranks: 2'

calibrate 0 --sizes 64KiB
leaves_nothing
sed -n '/^sizewise: 1/,$p' "$work/out" >cluster.yaml
sizewise check cluster.yaml >/dev/null || fail 'what it prints is no profile'

calibrate 0 --sizes 64KiB --json -o cluster.yaml
leaves_profile
/usr/bin/python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$work/out" || fail 'no JSON'

calibrate 0 --sizes 64KiB --name my-cluster --min-gain 50% -o cluster.yaml
leaves_profile
profile_has 'name: my-cluster'
profile_has 'min_gain: 50%'
decides allreduce 64KiB auto auto own

# The issue's own example, in 20 s
what='gb10-roce-8x1'
fresh "$what"
start=$(date +%s)
sizewise calibrate --simulate gb10-roce-8x1 --seed 7 --sizes 12KiB..96MiB -o cluster.yaml >"$work/out" 2>"$work/err" ||
  fail "status $?"
took=$(($(date +%s) - start))
[ $took -le 20 ] || [ "${SW_SANITIZE:-}" ] || fail "took $took s"
leaves_profile
lacks err "$work"

# --- times that lie -----------------------------------------------------------------------------------------------------

calibrate 0 --sizes 4KiB..128MiB --collective allgather --fault drift:100 -o cluster.yaml
leaves_profile
for bytes in 4KiB 64KiB 1MiB 16MiB 128MiB; do decides allgather $bytes auto auto own; done
calibrate 0 --sizes 64KiB,1MiB --fault drift:100 -o cluster.yaml
leaves_profile
decides allreduce 1MiB ring ll 2

calibrate 0 --sizes 64KiB,1MiB --fault slow-rank:2:3 -o cluster.yaml
leaves_profile
decides allreduce 1MiB ring ll 2

exit $failed
