#!/bin/sh
# A short calibration on real GPUs in each shape of shapes.sh, and its profile verified in the same shape right after;
# the tables come last. A gain that does not hold a second time is shown and is no failure of the program: what has to
# be right is that both ran to their end, that all ranks agreed, and that passing everything through changed nothing
# that could be seen. SW_BUDGET (90s) is for each calibration; SW_SHAPES picks shapes.
set -eu
command -v nvidia-smi >/dev/null && [ "$(nvidia-smi -L | wc -l)" -ge 2 ] || { echo "SKIP: no two GPUs"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$(cd "$(dirname "$0")" && pwd)
program=$SW_BUILD/sizewise
budget=${SW_BUDGET:-90s}
status=0

complain() {
  echo "$1"
  status=1
}

calibrate() { # shape, options...
  shape=$1
  shift
  echo "== $shape: calibrate"
  if sh "$here/shapes.sh" "$shape" "$program" calibrate -o "$work/$shape.yaml" --name "$shape" --budget "$budget" "$@" \
    >"$work/$shape.calibrated" 2>"$work/$shape.err" </dev/null; then
    grep -F 'passing everything through' "$work/$shape.calibrated" || complain "$shape: nothing is said of passing through"
  else
    tail -n 20 "$work/$shape.err"
    complain "$shape: calibrate failed"
  fi
}

# 1 says that something does not hold: that is told at the end. Ranks that differ, a crash or misuse are faults.
verify() { # shape
  shape=$1
  code=0
  echo "== $shape: verify"
  sh "$here/shapes.sh" "$shape" "$program" verify "$work/$shape.yaml" >"$work/$shape.verified" 2>"$work/$shape.err" </dev/null ||
    code=$?
  if [ $code -gt 1 ] || grep -qE 'was not verified|^Rank |does not fit' "$work/$shape.verified"; then
    tail -n 20 "$work/$shape.verified" "$work/$shape.err"
    complain "$shape: verify failed with status $code"
  fi
  grep -cE '  (holds|does not hold|left to NCCL)$' "$work/$shape.verified" >/dev/null || complain "$shape: no size was judged"
}

# Comparing with no tuner takes six starts of the ranks, so a budget of which a tenth has room for them.
pass_through() { # shape
  echo "== $1: with the plugin passing everything through, and without any tuner"
  sh "$here/shapes.sh" "$1" "$program" calibrate -o "$work/passed.yaml" --sizes 12KiB,1MiB,24MiB --budget 6m \
    >"$work/out" 2>"$work/err" </dev/null || { tail -n 20 "$work/err"; complain "$1: calibrate failed"; }
  grep -F 'passing everything through' "$work/out" || complain "$1: nothing is said of passing through"
}

# The wrong number of ranks for a profile is misuse, in words.
refuse() { # shape
  code=0
  sh "$here/shapes.sh" "$1" "$program" verify gb10-roce-8x1 >"$work/out" 2>&1 </dev/null || code=$?
  [ $code -eq 2 ] && grep -q 'gb10-roce-8x1 has nothing for communicators of\|does not fit' "$work/out" ||
    { tail -n 5 "$work/out"; complain "$1: another shape's profile was not refused (status $code)"; }
}

for shape in ${SW_SHAPES:-nvlink pcie nodes}; do
  sizes='--sizes 12KiB,96KiB,1MiB,6MiB,24MiB,96MiB'
  if [ "$shape" = nodes ]; then
    command -v nvidia-cuda-mps-control >/dev/null && command -v mpirun >/dev/null || { echo "$shape: no MPS or mpirun here"; continue; }
    sizes='--sizes 12KiB,256KiB,6MiB'
  fi
  calibrate "$shape" $sizes
  [ -s "$work/$shape.yaml" ] || continue
  verify "$shape"
  [ "$shape" = nodes ] || refuse "$shape"
  [ "$shape" = nodes ] || pass_through "$shape"
done
for shape in ${SW_SHAPES:-nvlink pcie nodes}; do
  [ -e "$work/$shape.verified" ] || continue
  echo
  echo "== $shape"
  cat "$work/$shape.calibrated" "$work/$shape.verified"
done
exit $status
