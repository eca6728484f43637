#!/bin/sh
# install puts the files where the README says, they work from there, and uninstall leaves nothing.
set -eu
[ -z "$SW_SANITIZE" ] || { echo "SKIP: sanitizer build"; exit 77; }
cd "$SW_TEST_SOURCE"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make -s BUILD="$work/build" CC="$SW_TEST_CC" CFLAGS=-O0 DESTDIR="$work/root" PREFIX=/opt/sw install >/dev/null
find "$work/root" -type f | sed "s|$work/root||" | sort >"$work/files"
for file in /opt/sw/bin/sizewise /opt/sw/lib/libnccl-tuner-sizewise.so /opt/sw/share/sizewise/schema.json \
  /opt/sw/share/sizewise/shipped/gb10-roce-8x1.yaml /opt/sw/share/sizewise/workloads/gb10-m3-prefill.yaml; do
  grep -qx "$file" "$work/files" || { echo "not installed: $file"; exit 1; }
done
[ -d "$work/root/opt/sw/share/sizewise/profiles" ] || { echo "no folder for profiles"; exit 1; }
"$work/root/opt/sw/bin/sizewise" demo >/dev/null || { echo "the installed demo does not find its plugin"; exit 1; }
"$work/root/opt/sw/bin/sizewise" explain nothing 2>&1 | grep -q /opt/sw/share/sizewise/profiles ||
  { echo "the installed program does not search its PREFIX"; exit 1; }
make -s BUILD="$work/build" CC="$SW_TEST_CC" CFLAGS=-O0 DESTDIR="$work/root" PREFIX=/opt/sw uninstall >/dev/null
left=$(find "$work/root" -type f)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
[ ! -e "$work/root/opt/sw/share/sizewise" ] || { echo "folders left behind"; exit 1; }
