#!/bin/sh
# sizewise calibrate --exhaustive and --raw on the simulator: what they print agrees with itself, in JSON too.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH="$SW_BUILD:$PATH"
export NCCL_SIZEWISE_PATH=/no/such/folder
unset NCCL_SIZEWISE_PROFILE NCCL_SIZEWISE_EXPECT NCCL_ALGO NCCL_PROTO || true
cd "$work"
run() { sizewise calibrate --simulate gb10-roce-8x1 --seed 7 --sizes 12KiB,48KiB,6MiB -o t.yaml --raw t.tsv --exhaustive "$@"; }

fail() {
  echo "$1"
  for f in out err; do sed "s/^/$f: /" $f; done
  exit 1
}

# --- for programs ---
run --json >out 2>err || fail "status $?"
/usr/bin/python3 - <<'PY' || fail "the JSON, the raw file and the profile do not agree"
import json, math
from collections import defaultdict
j = json.load(open("out"))
lines = [l.rstrip("\n").split("\t") for l in open("t.tsv")]
names, rows = lines[0], [dict(zip(lines[0], l)) for l in lines[1:]]
assert names == "phase collective ranks nodes bytes mode algo proto channels round microseconds".split(), names
assert len(rows) == j["raw"]["samples"] and j["raw"]["file"] == "t.tsv", len(rows)
assert {r["phase"] for r in rows} == {"passthrough", "no-tuner", "calibrate", "verify", "exhaustive", "fresh"}
sums = defaultdict(float)
for r in rows:
    sums[r["phase"]] += float(r["microseconds"]) / 1e6
x = j["exhaustive"]
assert x["complete"] and x["rounds"] == 9
assert abs(sums["exhaustive"] - x["measuring_s"]) < 1e-4 * sums["exhaustive"], (sums, x["measuring_s"])
assert abs(sums["calibrate"] - x["calibrate_measuring_s"]) < 1e-4 * sums["calibrate"]
assert abs(x["measuring_ratio"] - sums["exhaustive"] / sums["calibrate"]) < 1e-3 * x["measuring_ratio"]
assert abs(x["reached"] - x["calibrate_speedup"] / x["exhaustive_speedup"]) < 1e-6
assert 0.95 < x["reached"] < 1.05, x["reached"]
for who, speedup in (("exhaustive", "exhaustive_speedup"), ("calibrate", "calibrate_speedup")):
    mean = math.exp(-sum(math.log(1 - p[who]["fresh_gain"]) for p in x["points"]) / len(x["points"]))
    assert abs(mean - x[speedup]) < 1e-6
assert [p["bytes"] for p in x["points"]] == [12288, 49152, 6291456]
assert [p["mode"] for p in x["points"]] == ["graph", "graph", "stream"]
for p in x["points"]:
    mine = [r for r in rows if r["bytes"] == str(p["bytes"]) and r["phase"] == "exhaustive"]
    assert len(mine) == 9 * p["choices"] and {r["mode"] for r in mine} == {p["mode"]}
    assert {r["channels"] for r in mine} == {"0", "1", "2", "4", "8", "16"}
    pairs = {(r["algo"], r["proto"]) for r in mine}
    assert p["choices"] == 6 * len(pairs) and ("auto", "auto") in pairs
    fresh = [r for r in rows if r["bytes"] == str(p["bytes"]) and r["phase"] == "fresh"]
    assert len(fresh) == 3 * p["fresh_rounds"] and 30 <= p["fresh_rounds"] <= 400
    assert [r["algo"] for r in fresh[:3:2]] == ["auto", "profile"]
PY
[ "$(wc -l <err)" -ge 8 ] || fail "a size that is finished has no line"

# --- for people ---
run >out 2>err || fail "status $?"
for words in 'allreduce, 8 ranks on 8 nodes: the exhaustive sweep, and what calibrate decides' \
  'calibrate reaches ' '% of the exhaustive sweep'"'"'s gain' ' times less.'; do
  grep -qF "$words" out || fail "without \"$words\""
done
said=$(sed -n 's/^\([0-9]*\) samples written to t.tsv\.$/\1/p' out)
[ "$(($(wc -l <t.tsv) - 1))" = "$said" ] || fail "the raw file has $(wc -l <t.tsv) lines"
grep -qE '^allreduce 48 KiB: exhaustive sweep of 42 choices, best .* \(.*% afresh\); 2 of 3$' err || fail "no line for a size"

# --- a choice that only the sweep tries crashes, and the sweep goes on; an earlier run's cost is not known ---
run --resume --fault crash:ring+ll/16@12KiB >out 2>err || fail "status $?"
grep -qF "calibrate's cost is not known: an earlier run measured 3 of these sizes." out || fail "a cost that is not known"
[ "$(head -n 1 t.tsv | cut -f1)" = phase ] && [ "$(grep -c '^phase' t.tsv)" = 1 ] || fail "headers of the raw file"

# --- refused ---
for bad in '--raw /no/such/folder/t.tsv' '--raw /dev/full'; do
  status=0
  sizewise calibrate --simulate gb10-roce-8x1 $bad >out 2>err || status=$?
  [ $status -eq 2 ] || fail "$bad: status $status"
done
