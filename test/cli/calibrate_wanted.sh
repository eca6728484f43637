#!/bin/sh
# What sizewise calibrate is asked for: sizes and collectives of a workload, a limit of memory, JSON.
set -u
. "$SW_TEST_SOURCE/test/cli/lib/calibrate.sh"

# NAME HEAD CALLS...: a workload
workload() {
  {
    printf 'workload: 1\nname: %s\nprovenance: {kind: published, source: "made up for a test"}\n%s\ncollectives:\n' "$1" "$2"
    shift 2
    printf '  - {%s}\n' "$@"
  } >"$work/workload.yaml"
}

# --- a workload --------------------------------------------------------------------------------------------------------

workload app 'ranks: 4' 'collective: allreduce, bytes: 64KiB, count: 10' 'collective: broadcast, bytes: 4KiB, count: 1' \
  'bytes: 65537, count: 2'
calibrate 0 --sizes-from "$work/workload.yaml" -o cluster.yaml
leaves_profile
has err 'allreduce, broadcast at 2 sizes, 4 KiB to 64 KiB;' # 65,537 bytes are no equal parts for four ranks: 64 KiB
for collective in allreduce broadcast; do has out "$collective, 4 ranks on 4 nodes"; done
calibrate 0 --sizes-from "$work/workload.yaml" --collective broadcast -o cluster.yaml
has err 'broadcast at 2 sizes, 4 KiB to 64 KiB;'
lacks out 'allreduce,'
calibrate 2 --sizes-from "$work/workload.yaml" --sizes 4KiB -o cluster.yaml
has err '--sizes and --sizes-from: give one of them'
calibrate 2 --sizes-from "$work/no-such.yaml"
has err 'no-such.yaml: error: No such file or directory'
calibrate 2 --sizes-from "$cluster"
has err '--sizes-from: the workload is not valid'

# Other communicators than this run has.
calibrate 2 --gpus 8 --sizes-from "$work/workload.yaml"
has err 'app is of communicators of 4 ranks, and this run has 8; measure them as well with --ranks 4'
calibrate 2 --gpus 2 --sizes-from "$work/workload.yaml"
has err 'app is of communicators of 4 ranks, and this run has 2; start 4, or give the sizes alone with --sizes'
workload app 'nodes: 1' 'collective: allreduce, bytes: 64KiB, count: 1'
calibrate 0 --sizes-from "$work/workload.yaml" --budget 10s -o cluster.yaml
has err 'warning: the workload is of 4 ranks on 1 node, and here they are on 4: what is measured here holds for 4'
workload app 'ranks: 4' 'collective: reduce, bytes: 64KiB, count: 1'
calibrate 2 --sizes-from "$work/workload.yaml" --collective allreduce
has err 'app has no call of the collectives that --collective names'

# More sizes than there is room for: those that move most are measured. 4 KiB, called most, is one of them.
workload app 'ranks: 4' 'collective: allreduce, bytes: 4KiB, count: 1000' \
  $(for i in $(seq 50); do echo "collective:\ allreduce,bytes:\ $((i * 1024 + 4096)),count:\ 1"; done | tr -d '\\' | tr ' ' '~' )
sed -i 's/~/ /g; s/,bytes/, bytes/; s/,count/, count/' "$work/workload.yaml"
calibrate 0 --sizes-from "$work/workload.yaml" --budget 1s -o cluster.yaml
has err 'allreduce at 48 sizes, 4 KiB to 54 KiB;'
has err 'left out: 7 KiB, 6 KiB, 5 KiB: more than 48 sizes, and these of the workload move the fewest bytes'

# --- memory ------------------------------------------------------------------------------------------------------------

# Where a tree is what gains: it connects with more memory than a ring.
fresh 'a tree that gains'
cat >tree.yaml <<'YAML'
sizewise: 1
name: tree
provenance: {kind: simulated, source: "made up for a test"}
tables:
  - collective: allreduce
    nodes: 4
    ranks: 4
    points:
      - bytes: 16MiB
        times:
          - {choice: auto, median: 100us}
          - {algo: ring, proto: simple, median: 100us}
          - {algo: tree, proto: ll, channels: 2, median: 60us}
YAML
for limit in 1KiB 64GiB; do
  sizewise calibrate --simulate tree.yaml --sizes 16MiB --seed 1 --max-extra-memory $limit -o cluster.yaml \
    >"$work/out" 2>"$work/err" || fail "status $?"
  profile_has "max_extra_memory: $limit"
  profile_has '{algo: tree, proto: ll, channels: 2, median: '
  if [ $limit = 1KiB ]; then
    has out 'tree + ll, 2 channels gains '
    has out 'more than --max-extra-memory 1 KiB: it is on record, and not decided for.'
    [ "$(sizewise explain cluster.yaml --bytes 16MiB | grep -c '^ *16 MiB *tree')" = 0 ] || fail 'it is decided for'
  else
    lacks out '--max-extra-memory'
    decides allreduce 16MiB tree ll 2
  fi
done
calibrate 2 --max-extra-memory 5MB
has err "--max-extra-memory: '5MB': it takes a size such as 256MiB; KB, MB and GB mean 1000 to some"

# --- JSON --------------------------------------------------------------------------------------------------------------

# WORDS: a Python expression of the JSON, j
json_holds() {
  /usr/bin/python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
sys.exit(not eval(sys.argv[2]))' "$work/out" "$1" || fail "not so: $1"
}
calibrate 0 --sizes 64KiB,1MiB --budget 15s --json -o cluster.yaml
json_holds 'j["end"] == "done" and not j["not_measured"] and not j["failed"]'
json_holds 'j["passthrough"] == {"verdict": "not_compared", "why": "the budget is below 20 s", "sizes": []}'
json_holds '[(p["bytes"], p["measured"], p["verified"]) for p in j["points"]] == [(65536, True, True), (557056, False, True), (1048576, True, True)]'
json_holds '"profile" not in j'
calibrate 0 --sizes 64KiB --json
json_holds 'j["passthrough"]["verdict"] in ("equal", "not_shown_equal", "differs") and j["passthrough"]["why"] is None'
json_holds 'len(j["passthrough"]["sizes"]) == 1'
json_holds 'j["profile"].startswith("sizewise: 1")'
calibrate 1 --sizes 64KiB,1MiB --fault error:auto@1MiB --json -o cluster.yaml
json_holds '[(f["collective"], f["ranks"], f["bytes"], f["while"]) for f in j["failed"]] == [("allreduce", 4, 1048576, "measuring")]'
calibrate 0 --sizes 1KiB..128MiB --budget 2s --json -o cluster.yaml
json_holds 'j["end"] == "budget_spent" and j["not_measured"][-1]["bytes"] == 134217728'

exit $failed
