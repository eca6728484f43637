#!/bin/sh
# What import writes is a valid profile that explain answers from; what is wrong leaves files as they were; a log of any
# size takes bounded memory.
set -eu
cd "$SW_TEST_SOURCE"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH="$SW_BUILD:$PATH"
export NCCL_SIZEWISE_PATH=/no/such/folder
log=test/fixtures/inputs/nccl-tests-allreduce-1node-8gpu.log
fail() { echo "$1"; exit 1; }

# Made up: a ring that takes half the time at 1 MiB, and with it twice the bandwidth.
sed 's/^\(  *1048576 .* -1 *\)74.74   14.03   24.55/\137.37   28.06   49.10/' "$log" >"$work/ring.log"
sizewise import --as auto "$log" --as algo=ring,channels=4 "$work/ring.log" -o "$work/two.yaml" >"$work/said"
grep -q 'two.yaml: written, a profile from 2 files' "$work/said" || fail "it said: $(cat "$work/said")"
sizewise check "$work/two.yaml" >/dev/null || fail "what import wrote is not valid"
sizewise explain "$work/two.yaml" --json --bytes 1MiB 64KiB >"$work/explained"
python3 - "$work/explained" <<'P' || fail "explain does not answer from it"
import json, sys
sizes = {size["bytes"]: size for size in json.load(open(sys.argv[1]))["sizes"]}
assert (sizes[1048576]["algo"], sizes[1048576]["channels"], sizes[1048576]["time_us"]) == ("ring", 4, 37.37), sizes
assert sizes[65536]["algo"] is None and sizes[65536]["auto_us"] == 40.96, sizes
P

for file in tuner-rules.csv nccl-tests-allgather-2node-gb10.log; do
  case $file in *.log) as='--as auto' ;; *) as= ;; esac
  sizewise import $as "test/fixtures/inputs/$file" -o "$work/$file.yaml" >/dev/null 2>&1 || fail "$file"
  sizewise check "$work/$file.yaml" >/dev/null || fail "$file: not valid"
done
sizewise explain "$work/tuner-rules.csv.yaml" --ranks 2 --nodes 2 --bytes 4GiB --collective allreduce | grep -q 'ring + simple' ||
  fail "4294967295 is an end"

cp "$work/two.yaml" "$work/before.yaml"
sizewise import test/fixtures/inputs/tuner-rules-bad.csv -o "$work/two.yaml" >/dev/null 2>&1 && fail "errors, and status 0"
cmp -s "$work/two.yaml" "$work/before.yaml" || fail "an error changed the file that was there"
[ "$(ls "$work" | grep -c tmp)" = 0 ] || fail "temporary files are left"

# A link stays a link, a pipe a pipe; no file takes the place of either.
ln -s two.yaml "$work/link.yaml"
sizewise import --as auto "$log" -o "$work/link.yaml" >/dev/null
[ -L "$work/link.yaml" ] && ! cmp -s "$work/two.yaml" "$work/before.yaml" || fail "a link was replaced"
mkfifo "$work/pipe"
timeout 60 cat "$work/pipe" >"$work/piped" &
sizewise import --as auto "$log" -o "$work/pipe" >/dev/null
[ -p "$work/pipe" ] || fail "a pipe was replaced"
wait $!
cmp "$work/piped" "$work/two.yaml" || fail "what went into a pipe"
code=0
sizewise import --as auto "$log" -o '' >"$work/said" 2>/dev/null || code=$?
[ "$code" = 2 ] && [ ! -s "$work/said" ] || fail "-o without a name: $code"

# Files whose names are no names of profiles, and no UTF-8.
for name in _auto.log off.log "$(printf 'l\351.log')"; do
  cp "$log" "$work/$name"
  sizewise import --as auto "$work/$name" >"$work/odd.yaml" || fail "$name"
  sizewise check "$work/odd.yaml" >/dev/null || fail "$name: not valid"
  sizewise import --as auto "$work/$name" --json | python3 -c '
import json, sys
report = json.load(sys.stdin)
assert len(report["files"]) == 1 and report["text"], report' || fail "$name: JSON"
done

# 60 MB, in 64 MiB of address space for all of it.
[ -z "$SW_SANITIZE" ] || exit 0
(ulimit -v 65536
 yes 'host-a:1:1 [0] NCCL INFO AllReduce: 12288 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}' | head -n 600000 |
   sizewise import - >"$work/workload.yaml") || fail "a large log"
grep -q 'bytes: 12KiB, count: 600000' "$work/workload.yaml" || fail "a large log: $(cat "$work/workload.yaml")"
