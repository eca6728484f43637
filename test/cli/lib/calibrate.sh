# For tests of sizewise calibrate: runs it on a simulated cluster of four ranks, each time in an empty folder, and looks
# at what it leaves. Source it; end with `exit $failed`.
PATH="$SW_BUILD:$PATH"
cluster=$SW_TEST_SOURCE/test/fixtures/cli/calibrate.yaml
export NCCL_SIZEWISE_PATH=/no/such/folder
unset NCCL_SIZEWISE_PROFILE NCCL_SIZEWISE_EXPECT NCCL_ALGO NCCL_PROTO || true
. "$SW_TEST_SOURCE/test/cli/lib/left_over.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
what=

fail() {
  echo "FAIL $what: $1"
  sed 's/^/  out: /' "$work/out" | tail -n 15
  sed 's/^/  err: /' "$work/err" | tail -n 15
  failed=1
}

fresh() {
  what=$*
  rm -rf "$work/run"
  mkdir "$work/run"
  cd "$work/run" || exit 1
}

# STATUS ARGUMENTS...: what calibrate ends with
calibrate() {
  expected=$1
  shift
  fresh "$@"
  status=0
  timeout -k 5 100 sizewise calibrate --simulate "$cluster" ${budget:-} "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
  [ $status -eq "$expected" ] || fail "status $status, not $expected"
}

has() { grep -qF -- "$2" "$work/$1" || fail "no \"$2\" in std$1"; }
lacks() { ! grep -qF -- "$2" "$work/$1" || fail "\"$2\" in std$1"; }
profile_has() { grep -qF -- "$1" cluster.yaml || fail "no \"$1\" in the profile"; }

# The profile is valid, and it is all that is left.
leaves_profile() {
  sizewise check cluster.yaml >"$work/check" 2>&1 || fail "$(cat "$work/check")"
  [ "$(ls)" = cluster.yaml ] || fail "left behind: $(ls | tr '\n' ' ')"
  grep -q '^  kind: simulated$' cluster.yaml || fail 'the profile does not say that it was simulated'
}
leaves_nothing() { [ -z "$(ls)" ] || fail "left behind: $(ls | tr '\n' ' ')"; }

# COLLECTIVE BYTES CHOICE...: what the profile decides there
decides() {
  collective=$1
  bytes=$2
  shift 2
  got=$(sizewise explain cluster.yaml --collective "$collective" --bytes "$bytes" --json | /usr/bin/python3 -c '
import json, sys
for size in json.load(sys.stdin)["sizes"][:1]:
    print(size["algo"] or "auto", size["proto"] or "auto", size["channels"] or "own")')
  [ "$got" = "$*" ] || fail "$collective at $bytes: $got, not $*"
}

# Calibrate's processes are found by the folder that they were started in.
none_left() { none_left_over cwd "$work/run" || fail "processes left behind:$left"; }
