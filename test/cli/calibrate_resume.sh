#!/bin/sh
# sizewise calibrate --resume on the simulator: a run that is killed in the middle, what the next one keeps of it and
# leaves out, and what it refuses, word for word.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH="$SW_BUILD:$PATH"
export NCCL_SIZEWISE_PATH=/no/such/folder
for variable in $(env | sed -n 's/^\(NCCL_[A-Z_]*\)=.*/\1/p'); do
  [ "$variable" = NCCL_SIZEWISE_PATH ] || unset "$variable"
done
cd "$work"
run() { sizewise calibrate --simulate gb10-roce-8x1 --seed 7 --budget 15s --sizes 12KiB,48KiB,768KiB,3MiB "$@"; }

fail() {
  echo "$1"
  for f in out err *.in-flight; do [ ! -e "$f" ] || sed "s/^/$f: /" "$f"; done
  exit 1
}

# status, line that stderr must have, command...
expect() {
  wanted=$1 line=$2
  shift 2
  status=0
  "$@" >out 2>err </dev/null || status=$?
  [ $status -eq "$wanted" ] || fail "$*: status $status, not $wanted"
  grep -qxF -- "$line" err || fail "$*: without the line \"$line\""
}

# --- killed while a choice hangs ---
expect 0 'allreduce at 4 sizes, 12 KiB to 3 MiB; budget 15 s; buffers of up to 18 MiB a rank (--memory 25%: 24.0 GiB)' \
  run -o whole.yaml
[ ! -e whole.yaml.in-flight ] || fail "an in-flight file is left behind"
run -o killed.yaml --fault hang:tree+ll/2@3MiB >out 2>err & pid=$!
line=$(printf 'allreduce\t8\t3145728\ttree\tll\t2')
tries=0
until grep -qxF "$line" killed.yaml.in-flight 2>/dev/null; do
  tries=$((tries + 1))
  [ $tries -lt 300 ] || fail "the choice that hangs was never in flight"
  sleep 0.1
done
sleep 1 # it hangs for many more
grep -qxF "$line" killed.yaml.in-flight || fail "another choice is in flight"
kill -9 $pid
wait $pid 2>/dev/null || true
cp killed.yaml before.yaml
sizewise check before.yaml >out 2>err || fail "a killed run left no valid profile"

# without --resume the file is named, and nothing else happens to it before the new run has its own
cp killed.yaml.in-flight kept.in-flight
expect 0 'sizewise calibrate: other.yaml.in-flight names what was tried when a run ended; --resume leaves that out' \
  sh -c 'cp kept.in-flight other.yaml.in-flight; sizewise calibrate --simulate gb10-roce-8x1 --budget 1s --sizes 12KiB -o other.yaml'

# --- gone on with ---
expect 0 'going on from killed.yaml: 3 sizes measured; 1 choice left out: see '"'excluded'" run -o killed.yaml --resume
[ ! -e killed.yaml.in-flight ] || fail "an in-flight file is left behind"
grep -q '^allreduce 12 KiB: auto .* us, which nothing beats, as an earlier run measured it$' err || fail "what was kept is not said"
/usr/bin/python3 - <<'PY' || fail "the points differ"
import yaml
def points(name):
    return {p["bytes"]: p["times"] for p in yaml.safe_load(open(name))["tables"][0]["points"]}
def key(t):
    return tuple(t.get(k) for k in ("choice", "algo", "proto", "channels"))
def what(t):
    return {k: v for k, v in t.items() if k not in ("choice", "algo", "proto", "channels")}
def withdrawn(t):
    return str(t.get("excluded", "")).startswith("did not hold")
before, after, whole = points("before.yaml"), points("killed.yaml"), points("whole.yaml")
kept = ["12KiB", "48KiB", "768KiB"]
assert sorted(before) == sorted(kept), list(before)
for size in kept:
    old, new, other = ({key(t): t for t in p[size]} for p in (before, after, whole))
    for k, t in old.items():
        assert new[k] == t or withdrawn(new[k]), (size, k)
        assert other[k] == t or withdrawn(other[k]), (size, k)
    for k in list(new) + list(other): # what is new there is a twin of an old one: the same thing under another name
        t = new.get(k, other.get(k))
        assert k in old or any(what(t) == what(o) for o in old.values()), (size, k)
tried = [t for t in after["3MiB"] if key(t) == (None, "tree", "ll", 2)]
assert tried == [{"algo": "tree", "proto": "ll", "channels": 2, "excluded": "a run ended while it was tried"}], tried
PY

# a run that has nothing left to do changes none of it, but for what no longer holds afresh
cp killed.yaml before.yaml
run -o killed.yaml --resume >out 2>err || fail "resuming a finished run"
diff before.yaml killed.yaml | grep '^[<>]' | grep -v -e '  note: ' -e 'did not hold' >changes || true
/usr/bin/python3 - <<'PY' || fail "a finished run changed"
import re
lines = [re.sub(r', excluded: .*', '}', l[1:].strip()) for l in open("changes")]
assert all(lines.count(l) % 2 == 0 or "samples: 20" in l or "samples: 60" in l for l in lines), lines
PY

# --- killed while what was measured is compared: it is not compared again, nor forgotten before the profile has it ---
cp killed.yaml good.yaml
line=$(printf 'reduce\t8\t12288\tring\tll\t2')
printf 'allreduce\t8\t49152\tauto\tauto\t2\n%s\n' "$line" >killed.yaml.in-flight # 2 channels is what 48 KiB decides for
run -o killed.yaml --resume >out 2>err || fail "resuming what was compared"
grep -q '{channels: 2, .*excluded: "a run ended while it was tried"}' killed.yaml || fail "it is not left out"
grep -q '^  48 KiB .*  2 channels ' out && fail "it is decided for again"
grep -qxF "$line" killed.yaml.in-flight || fail "what no size of the profile has is forgotten"
run -o killed.yaml --resume --collective reduce >out 2>err || fail "resuming with another collective"
grep -q '{algo: ring, proto: ll, channels: 2, excluded: "a run ended while it was tried"}' killed.yaml ||
  fail "it is not left out of reduce"
[ ! -e killed.yaml.in-flight ] || fail "an in-flight file is left behind"

# --- refused ---
refuse() {
  words=$1 change=$2
  shift 2
  sed "$change" good.yaml >t.yaml
  cp t.yaml t.before
  expect 2 "sizewise calibrate: $words" "$@"
  cmp -s t.yaml t.before || fail "a refused profile was changed"
}
refuse "--resume goes on from the file that -o names: give -o FILE" '' run --resume
refuse "--resume: t.yaml was measured, and this run simulates: name another file with -o" \
  's/kind: simulated/kind: measured/' run --resume -o t.yaml
refuse "--resume: t.yaml is named 'calibrated', and this run 'mine': call it so with --name, or name another file" \
  '' run --resume -o t.yaml --name mine
refuse "--resume: t.yaml was measured on something else than this machine: gpu is 'simulated GPU', not 'NVIDIA GB10'" \
  's/simulated GPU/NVIDIA GB10/' run --resume -o t.yaml
refuse "--resume: t.yaml was measured on something else than this machine: nccl is '2.28.9', not '2.27'" \
  's/^\(match: .*nccl: "\)[0-9.]*/\12.27/' run --resume -o t.yaml
refuse "--resume: t.yaml was measured with 8 ranks on 8 nodes, and this run has 4 on 4" \
  '' sh -c 'sed "s/^    nodes: 8/    nodes: 4/; s/^    ranks: 8/    ranks: 4/" good.yaml >four.yaml
            sizewise calibrate --simulate four.yaml --sizes 12KiB --resume -o t.yaml'
refuse "--resume: t.yaml was measured under other NCCL settings: none; now: NCCL_BUFFSIZE=1048576" \
  '' env NCCL_BUFFSIZE=1048576 NCCL_DEBUG=WARN sizewise calibrate --simulate gb10-roce-8x1 --sizes 12KiB --resume -o t.yaml
refuse "--resume: t.yaml has rules written by hand, which calibrate would lose; move them to another file" \
  '$a rules: [{collective: allreduce, channels: 4}]' run --resume -o t.yaml
echo rubbish >t.yaml.in-flight
refuse "t.yaml.in-flight names no choice that a run ended with; remove it to try all of them again" \
  '' run --resume -o t.yaml
[ "$(cat t.yaml.in-flight)" = rubbish ] || fail "a refused in-flight file was changed"
expect 2 'sizewise calibrate: -o: /no/such/folder/t.yaml: No such file or directory' run -o /no/such/folder/t.yaml

# --- the first run of all, and sizes that do not fit ---
expect 0 'new.yaml is not there: nothing to go on from' run -o new.yaml --resume --memory 0.005%
line='left out: 3 MiB: two buffers of that size are more than 4 MiB, 0.005% of the memory that is free on rank 0; --memory sets the share'
grep -qxF -- "$line" err || fail "sizes that do not fit are not named"
grep -q 'bytes: 3MiB' new.yaml && fail "a size that does not fit was measured"
expect 2 'sizewise calibrate: no size fits into memory: raise the share with --memory, or ask for smaller --sizes' \
  run -o none.yaml --memory 0%
