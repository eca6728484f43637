#!/bin/sh
# sizewise verify from end to end on the simulator: a profile that holds, one that does not, ranks that differ, and what
# the exit status says of each.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH="$SW_BUILD:$PATH"
export NCCL_SIZEWISE_PATH=/no/such/folder
unset NCCL_SIZEWISE_PROFILE NCCL_SIZEWISE_EXPECT NCCL_ALGO NCCL_PROTO || true
cd "$work"

# A cluster where trees are faster at small sizes, and one where they are slower: name, tree at 64 KiB, at 256 KiB
cluster() {
  cat >"$1.yaml" <<YAML
sizewise: 1
name: $1
provenance: {kind: simulated, source: "made up for a test"}
tables:
  - collective: allreduce
    nodes: 4
    ranks: 4
    points:
      - bytes: 64KiB
        times: [{choice: auto, median: 100us}, {algo: tree, proto: ll, channels: 2, median: $2}]
      - bytes: 256KiB
        times: [{choice: auto, median: 200us}, {algo: tree, proto: ll, channels: 2, median: $3}]
      - bytes: 16MiB
        times: [{choice: auto, median: 5ms}, {algo: tree, proto: ll, channels: 2, median: 20ms}]
YAML
}
cluster fast 70us 140us
cluster slow 130us 260us

# status, words that stdout or stderr must have, command...
expect() {
  wanted=$1 words=$2
  shift 2
  status=0
  "$@" >out 2>err </dev/null || status=$?
  if [ $status -ne "$wanted" ] || ! cat out err | grep -qF -- "$words"; then
    echo "$*: status $status, not $wanted, or without \"$words\":"
    cat out err
    exit 1
  fi
}
lacks() {
  if cat out err | grep -qF -- "$1"; then
    echo "\"$1\" must not be there:"
    cat out err
    exit 1
  fi
}

# A calibrated profile holds on its cluster, whatever the noise, and is not changed by being verified.
sizewise calibrate --simulate fast.yaml --seed 1 --sizes 64KiB,256KiB,16MiB -o made.yaml >out 2>&1 || { cat out; exit 1; }
cp made.yaml before.yaml
expect 0 'made.yaml holds: it gains' sizewise verify made.yaml --simulate fast.yaml --seed 2
grep -qE '^  64 KiB +tree \+ ll, .*\([0-9.]+ to [0-9.]+\) +holds$' out || { echo "no row of 64 KiB holds:"; cat out; exit 1; }
grep -qE '^  160 KiB \* +tree' out || { echo "no size between measured ones:"; cat out; exit 1; }
grep -qE '^  16 MiB +auto +- .*left to NCCL$' out || { echo "16 MiB is not left to NCCL:"; cat out; exit 1; }
grep -qF 'all 4 ranks decide the same (digest ' out
[ ! -s err ] || { echo "words on stderr:"; cat err; exit 1; }
cmp made.yaml before.yaml

# On a cluster where the same choices are slower it does not, and it says what to do.
expect 1 'does not hold at 3 of 3 sizes: calibrate again on this cluster as it is now' \
  sizewise verify made.yaml --simulate slow.yaml --seed 2
expect 1 'made.yaml was not changed.' sizewise verify made.yaml --simulate slow.yaml --seed 3
cmp made.yaml before.yaml

# A profile that leaves all to NCCL has nothing to compare.
sed 's/median: 70us/median: 99us/; s/median: 140us/median: 199us/' fast.yaml >idle.yaml
expect 0 'leaves every size to NCCL here: there was nothing to compare' sizewise verify idle.yaml --simulate fast.yaml

# Ranks that differ are named, and so is what a run that cannot go on was doing.
expect 1 'rank 2 would run tree + ll128, 1 channel (NCCL' \
  sizewise verify made.yaml --simulate fast.yaml --fault rank-table:2
for fault in crash error; do
  expect 1 "allreduce, 4 ranks on 4 nodes, 256 KiB FAILED: NCCL's own choice: " \
    sizewise verify made.yaml --simulate fast.yaml --fault $fault:auto@256KiB
  expect 1 'made.yaml does not hold at 1 of 3 sizes' \
    sizewise verify made.yaml --simulate fast.yaml --fault $fault:profile@64KiB
  grep -qE '^  256 KiB .*holds$' out || { echo "the others do not go on:"; cat out; exit 1; }
done
expect 1 'allreduce, 4 ranks on 4 nodes, 64 KiB FAILED: hung: ranks 0-3 of 4 did not answer within' \
  sizewise verify made.yaml --simulate fast.yaml --fault hang:profile@64KiB
grep -qE '^  64 KiB .*FAILED$' out || { echo "the size is not marked:"; cat out; exit 1; }

# Sizes that the budget has no room for are no proof.
sed 's/\([0-9]\)us/\1ms/g' fast.yaml >long.yaml
expect 1 'the budget was spent; give more with --budget' \
  sizewise verify long.yaml --simulate long.yaml --budget 1s
grep -qF '2 sizes were not compared' out || { echo "not 2 sizes left:"; cat out; exit 1; }

# The JSON is JSON, and says the same.
sizewise verify made.yaml --simulate fast.yaml --json >out
/usr/bin/python3 - out <<'PY'
import json, sys
got = json.load(open(sys.argv[1]))
assert got["holds"] is True and got["failure"] is None and got["differing_ranks"] == [], got
sizes = {s["bytes"]: s for s in got["sizes"]}
assert [s["bytes"] for s in got["sizes"]] == sorted(sizes), sizes
assert sizes[65536]["outcome"] == "holds" and sizes[65536]["algo"] == "tree" and sizes[65536]["measured"], sizes
assert sizes[65536]["gain_low"] <= sizes[65536]["gain"] <= sizes[65536]["gain_high"], sizes
assert sizes[163840]["measured"] is False, sizes
assert sizes[16 << 20]["outcome"] == "left_to_nccl" and "gain" not in sizes[16 << 20], sizes
PY
sizewise verify made.yaml --simulate slow.yaml --json >out && { echo "status 0 for what does not hold"; exit 1; }
/usr/bin/python3 -c 'import json, sys; got = json.load(open(sys.argv[1]))
assert got["holds"] is False and any(s["outcome"] == "fails" for s in got["sizes"]), got' out
sizewise verify made.yaml --simulate fast.yaml --fault rank-table:2 --json >out 2>err && exit 1
/usr/bin/python3 -c 'import json, sys; got = json.load(open(sys.argv[1]))
assert got["failure"]["rank"] == 2 and got["holds"] is False, got' out

# Each launched rank looks at its own file of that name: rank 1 has another one, rank 2 has none.
for rank in 0 1 2 3; do mkdir "node-$rank"; done
for rank in 0 3; do cp made.yaml "node-$rank/cluster.yaml"; done
sed 's/min_gain: 3%/min_gain: 4%/' made.yaml >node-1/cluster.yaml
by_hand() {
  for rank in 3 2 1; do
    (cd "node-$rank" && exec env WORLD_SIZE=4 LOCAL_WORLD_SIZE=4 MASTER_ADDR=localhost MASTER_PORT=29500 \
      TORCHELASTIC_RUN_ID="verify-$$" RANK=$rank LOCAL_RANK=$rank \
      sizewise verify cluster.yaml --simulate ../fast.yaml </dev/null >/dev/null 2>&1) &
  done
  (cd node-0 && exec timeout -k 5 100 env WORLD_SIZE=4 LOCAL_WORLD_SIZE=4 MASTER_ADDR=localhost MASTER_PORT=29500 \
    TORCHELASTIC_RUN_ID="verify-$$" RANK=0 LOCAL_RANK=0 sizewise verify cluster.yaml --simulate ../fast.yaml)
}
expect 1 'Rank 1 on simulated has another cluster.yaml, digest ' by_hand
wait
grep -qF '1 rank, the first of them rank 2 on simulated, found no cluster.yaml there: copy it before it is deployed.' out ||
  { echo "rank 2's missing file is not told:"; cat out; exit 1; }
lacks 'Rank 3'
cp made.yaml node-1/cluster.yaml
cp made.yaml node-2/cluster.yaml
expect 0 'cluster.yaml holds' by_hand
wait

# Communicators: a profile for two sizes is verified at both; what these ranks cannot show is said.
sed 's/nodes: 4/nodes: 2/; s/ranks: 4/ranks: 2/' fast.yaml | sed -n '/collective/,$p' >two.part
cat fast.yaml two.part >both.yaml
expect 0 'allreduce, 2 ranks on 2 nodes' sizewise verify both.yaml --simulate fast.yaml --gpus 4
grep -qF 'allreduce, 4 ranks on 4 nodes' out || { echo "not both shapes:"; cat out; exit 1; }
expect 0 'Not verified with these ranks: allreduce for 4 ranks on 4 nodes.' \
  sizewise verify both.yaml --simulate both.yaml --gpus 2
echo done
