#!/bin/sh
# PyTorch with the plugin on two GPUs: NCCL's own tuning log has to follow a profile that asks for tree at some sizes
# and ring at others, eager and in CUDA graphs, for all five collectives.
set -eu
python3 -c 'import torch; assert torch.cuda.device_count() >= 2' 2>/dev/null || { echo "SKIP: no two GPUs with PyTorch"; exit 77; }
cd "$SW_TEST_SOURCE"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export NCCL_NVLS_ENABLE=0 NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,TUNING
export NCCL_TUNER_PLUGIN="$SW_BUILD/libnccl-tuner-sizewise.so"
NCCL_SIZEWISE_PROFILE="$SW_TEST_SOURCE/test/gpu/torch.yaml" python3 test/gpu/torch_collectives.py >"$work/log" 2>&1 ||
  { tail -n 40 "$work/log"; exit 1; }
grep -o 'sizewise: .*' "$work/log" | sort | uniq -c | cut -c1-300
[ "$(grep -c 'sizewise: .*profile gpu-test' "$work/log")" -eq 2 ] || { echo "not one line a communicator and rank"; exit 1; }
grep -qi 'using tuner plugin Sizewise\|Sizewise.*v5\|v5.*Sizewise' "$work/log" || { echo "NCCL does not name the plugin:"; grep -i tuner "$work/log" | head; exit 1; }

decided() { grep -o " $1: $2 Bytes -> .*" "$work/log" | sort | uniq -c; }
status=0
expect() { # collective bytes pattern
  got=$(decided "$1" "$2")
  if [ -z "$got" ] || echo "$got" | grep -qv "$3"; then
    echo "NOT as asked: $1 $2 should be $3"; status=1
  fi
  echo "$got"
}
expect AllReduce 12288 'Algo TREE proto LL '
expect AllReduce 98304 'Algo RING proto LL .*{0..1}'
expect AllReduce 1048576 'Algo TREE proto SIMPLE .*{0..2}'
expect AllReduce 6291456 'Algo RING proto SIMPLE .*{0..0}'
expect AllReduce 25165824 '{0..4}'
expect AllReduce 100663296 'Algo TREE'
# NCCL logs one rank's part of these two, and asks the tuner with all of it: the profile holds at 1 MiB exactly.
expect AllGather 524288 'proto LL '
expect ReduceScatter 524288 'proto LL .*{0..0}'
expect Broadcast 1048576 'Algo RING proto LL '
expect Reduce 1048576 'Algo RING proto LL .*{0..1}'

# A size that was not measured is what it is without the plugin.
own=$(decided AllReduce 4096 | sed 's/^ *[0-9]* //' | sort -u)
NCCL_TUNER_PLUGIN=none python3 test/gpu/torch_collectives.py >"$work/log" 2>&1 || { tail -n 40 "$work/log"; exit 1; }
without=$(decided AllReduce 4096 | sed 's/^ *[0-9]* //' | sort -u)
echo "4096 B with the plugin: $own; without: $without"
[ -n "$own" ] && [ "$own" = "$without" ] || status=1

# An environment setting that takes choices away is said once a process.
NCCL_ALGO=Ring NCCL_SIZEWISE_PROFILE="$SW_TEST_SOURCE/test/gpu/torch.yaml" python3 test/gpu/torch_collectives.py >"$work/log" 2>&1 ||
  { tail -n 40 "$work/log"; exit 1; }
grep -o 'sizewise: NCCL_ALGO.*' "$work/log"
[ "$(grep -c 'sizewise: NCCL_ALGO=Ring holds at every size' "$work/log")" -eq 2 ] || { echo "not one warning a process"; status=1; }

# The deterministic mode: one algorithm, protocol and channel count for every all-reduce of the log.
NCCL_SIZEWISE_DETERMINISTIC=1 NCCL_SIZEWISE_PROFILE="$SW_TEST_SOURCE/test/gpu/deterministic.yaml" \
  python3 test/gpu/torch_collectives.py >"$work/log" 2>&1 || { tail -n 40 "$work/log"; exit 1; }
grep -o 'sizewise: .*deterministic.*' "$work/log" | sort | uniq -c | cut -c1-300
grep -o ' AllReduce: [0-9]* Bytes -> .*' "$work/log" | sort | uniq -c >"$work/reduced"
cat "$work/reduced"
[ "$(wc -l <"$work/reduced")" -ge 5 ] || { echo "too few sizes"; status=1; }
if grep -v 'Algo TREE proto SIMPLE .*{0..0}' "$work/reduced"; then
  echo "NOT the same at every size"; status=1
fi

# A profile that was named and is not there stops the job, with one clear line.
if NCCL_SIZEWISE_PROFILE=no-such-profile python3 test/gpu/torch_collectives.py >"$work/log" 2>&1; then
  echo "a missing profile did not stop the job"; status=1
fi
grep -o "sizewise: .*SW-401.*" "$work/log" | head -n 1
grep -q 'sizewise: .*SW-401' "$work/log" || status=1
exit $status
