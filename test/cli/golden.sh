#!/bin/sh
# Each file of test/golden/cli holds command lines ("$ sizewise ...") and what they print, stderr included, with the
# exit status. UPDATE=1 writes the files anew; read the difference before it is committed.
set -eu
cd "$SW_TEST_SOURCE"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH="$SW_BUILD:$PATH"
# What is set here must not show: the doctor looks at it.
for name in $(env | sed -n 's/^\(NCCL_[A-Z0-9_]*\)=.*/\1/p') VLLM_BATCH_INVARIANT SGLANG_ENABLE_DETERMINISTIC_INFERENCE; do
  unset "$name"
done
export NCCL_SIZEWISE_PATH=/no/such/folder
status=0
for file in test/golden/cli/*.txt; do
  grep '^\$ ' "$file" | while IFS= read -r line; do
    printf '%s\n' "$line"
    code=0
    sh -c "${line#\$ }" </dev/null 2>&1 || code=$?
    echo "[exit $code]"
  done >"$work/got"
  if [ "${UPDATE:-}" ]; then
    cp "$work/got" "$file"
  elif ! diff -u "$file" "$work/got"; then
    status=1
  fi
done
exit $status
