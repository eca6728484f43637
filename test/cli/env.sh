#!/bin/sh
# `sizewise env`: what it prints is read back by those that it is for, with a path that each of them has to quote.
set -eu
cd "$SW_TEST_SOURCE"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH="$SW_BUILD:$PATH"
export NCCL_SIZEWISE_PATH="$work/none"
unset NCCL_TUNER_PLUGIN NCCL_SIZEWISE_PROFILE NCCL_SIZEWISE_EXPECT NCCL_SIZEWISE_DETERMINISTIC || true
mkdir "$work/a b'c,d"
profile="$work/a b'c,d/e\"f \$x \\y#z.yaml"
cp test/fixtures/cli/deterministic.yaml "$profile"
digest=$(sizewise check "$profile" | sed 's/.*digest //')
plugin=$(readlink -f "$SW_BUILD/libnccl-tuner-sizewise.so")
printf '%s\n' "$plugin" "$profile" "$digest" >"$work/expected"
same() { cmp "$work/expected" "$work/got" || { echo "$1:"; cat "$work/got"; exit 1; }; }
variables='printf "%s\n" "$NCCL_TUNER_PLUGIN" "$NCCL_SIZEWISE_PROFILE" "$NCCL_SIZEWISE_EXPECT"'

# sh, and the same lines in a batch script.
for format in shell slurm; do
  sizewise env "$profile" --format $format >"$work/lines"
  sh -euc ". '$work/lines'; $variables" >"$work/got"
  same $format
done

# Words of a docker line, split by sh: two mounts of the same path inside and out, three variables.
sizewise env "$profile" --format docker >"$work/lines"
sh -euc "words() { printf '%s\n' \"\$@\"; }; words $(sed '/^#/d' "$work/lines")" >"$work/words"
sed -n 's/^NCCL_[A-Z_]*=//p' "$work/words" >"$work/got"
same docker
/usr/bin/python3 - "$work/words" "$work/expected" <<'EOF'
import csv, sys
words = open(sys.argv[1]).read().splitlines()
plugin, profile, _ = open(sys.argv[2]).read().splitlines()
mounts = [next(csv.reader([words[i + 1]])) for i, word in enumerate(words) if word == "--mount"]
assert mounts == [["type=bind", "readonly", f"source={p}", f"target={p}"] for p in (plugin, profile)], mounts
assert words.count("-e") == 3, words
EOF

# YAML, and nccl.conf as NCCL reads it: up to the first '=', then all the rest of the line.
sizewise env "$profile" --format k8s | /usr/bin/python3 -c '
import sys, yaml
for item in yaml.safe_load(sys.stdin)["env"]:
    print(item["value"].replace("$$", "$"))
' >"$work/got"
same k8s
sizewise env "$profile" --format nccl.conf | sed -n '/^#/d; s/^[^=]*=//p' >"$work/got"
same nccl.conf
sizewise env "$profile" --json | /usr/bin/python3 -c '
import json, sys
for value in json.load(sys.stdin)["environment"].values():
    print(value)
' >"$work/got"
same json

# Kubernetes takes $(NAME) for a reference unless it is written $$(NAME), and $$ for $ everywhere.
sizewise env gb10-roce-8x1 --format k8s --plugin '/opt/$(HOME)/x.so' | grep -qF 'value: "/opt/$$(HOME)/x.so"'

# A profile found by its name stands there with its full path; a relative path, too.
mkdir "$work/none"
cp test/fixtures/cli/deterministic.yaml "$work/none/found.yaml"
sizewise env found | grep -qx "export NCCL_SIZEWISE_PROFILE=$work/none/found.yaml"
(cd "$work/none" && sizewise env ./found.yaml) | grep -qx "export NCCL_SIZEWISE_PROFILE=$work/none/found.yaml"

# With the mode, the digest is the mode's.
mode=$(sizewise check --deterministic "$profile" | sed 's/.*digest //')
[ "$mode" != "$digest" ]
(eval "$(sizewise env "$profile" --deterministic)"; [ "$NCCL_SIZEWISE_EXPECT" = "$mode" ]; [ "$NCCL_SIZEWISE_DETERMINISTIC" = 1 ])

# A line cannot carry a line break, and a simulated profile says what it is.
cp "$profile" "$work/two
lines.yaml"
code=0
sizewise env "$work/two
lines.yaml" >"$work/got" 2>&1 || code=$?
[ "$code" = 2 ] && grep -q 'control character' "$work/got"
sed 's/kind: measured/kind: simulated/' "$profile" >"$work/simulated.yaml"
sizewise env "$work/simulated.yaml" | grep -q '^# Simulated: '

# A plugin's relative path means something else to every rank.
mkdir "$work/lib"
touch "$work/lib/x.so"
(cd "$work" && sizewise env "$profile" --plugin lib/x.so) | grep -qx "export NCCL_TUNER_PLUGIN=$work/lib/x.so"

# Latin-1 in a path: sh takes it, JSON and YAML cannot.
latin="$work/$(printf 'l\351').yaml"
cp "$profile" "$latin"
(eval "$(sizewise env "$latin")"; [ "$NCCL_SIZEWISE_PROFILE" = "$latin" ])
for option in --json '--format k8s'; do
  code=0
  sizewise env "$latin" $option >"$work/got" 2>&1 || code=$?
  [ "$code" = 2 ] && grep -q 'not UTF-8' "$work/got" || { cat "$work/got"; exit 1; }
done
