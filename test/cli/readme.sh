#!/bin/sh
# Runs every command line of the README's sh blocks; one that this script does not know fails the test.
set -eu
cd "$SW_TEST_SOURCE"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH="$SW_BUILD:$PATH"
awk '/^```sh$/ {on=1; next} /^```/ {on=0} on' README.md >"$work/lines"
sed -n 's/^    \(make [a-z ]*[a-z]\) .*#.*/\1/p' README.md >>"$work/lines"
[ "$(wc -l <"$work/lines")" -ge 12 ] || { echo "only $(wc -l <"$work/lines") command lines found"; exit 1; }
while read -r line; do
  line=$(printf '%s\n' "$line" | sed "s|/tmp/|$work/|g")
  case $line in
    'make install PREFIX=/usr/local') ;; # test/tree/install.sh installs and uninstalls below DESTDIR
    make*) # building and testing inside a test would not end; that make knows the goals is what is tested here
      make -n BUILD="$work/build" ${line#make} >/dev/null || { echo "failed: $line"; exit 1; } ;;
    sizewise*) sh -c "$line" >"$work/out" || { echo "failed: $line"; cat "$work/out"; exit 1; }
      [ -s "$work/out" ] || { echo "printed nothing: $line"; exit 1; } ;;
    *) echo "the README has a command that no test runs: $line"; exit 1 ;;
  esac
done <"$work/lines"

# The profile of the README is valid, and the digest in it is the shipped profile's.
awk '/^```yaml$/ {on=1; next} /^```/ {on=0} on' README.md >"$work/readme.yaml"
sizewise check "$work/readme.yaml"
digest=$(sed -n 's/^ *NCCL_SIZEWISE_EXPECT=//p' README.md)
sizewise check gb10-roce-8x1 | grep -q "digest $digest\$" || { echo "the README's digest is not gb10-roce-8x1's"; exit 1; }
