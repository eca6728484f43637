#!/bin/sh
# What the plugin asks of a process that loads it: libc, no other library, no symbol but its own, no writable code.
set -eu
plugin=$SW_BUILD/libnccl-tuner-sizewise.so
failed=0

fail() {
  echo "$1"
  failed=1
}

exported=$(readelf -W --dyn-syms "$plugin" | awk '$7 != "UND" && ($5 == "GLOBAL" || $5 == "WEAK") {print $8}' |
  sed 's/@.*//' | sort)
tuners=$(echo "$exported" | grep -v '^sizewise_control$' | tr '\n' ' ')
expected="ncclTunerPlugin_v2 ncclTunerPlugin_v3 ncclTunerPlugin_v4 ncclTunerPlugin_v5 ncclTunerPlugin_v6 ncclTunerPlugin_v7 "
[ "$tuners" = "$expected" ] || fail "exported: $tuners"

# Data objects in memory that is read-only once it is relocated, as NCCL's dlsym expects them.
kinds=$(readelf -W --dyn-syms "$plugin" | awk '$8 ~ /^ncclTunerPlugin_v/ {print $4}' | sort -u)
[ "$kinds" = OBJECT ] || fail "kinds of exported symbols: $kinds"

if [ -z "${SW_SANITIZE:-}" ]; then
  needed=$(readelf -W -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-linux' | tr '\n' ' ')
  [ "$needed" = "libc.so.6 " ] || fail "needed: $needed"
  loaded=$(ldd "$plugin" | sed 's/^[[:space:]]*//; s/ .*//; s:.*/::' | grep -v '^linux-vdso\|^ld-linux\|^libc.so.6$' || true)
  [ -z "$loaded" ] || fail "ldd: $loaded"
  undefined=$(readelf -W --dyn-syms "$plugin" | awk '$7 == "UND" {print $8}' | sed 's/@.*//')
  for name in log log2 log10 exp exp2 pow sqrt floor ceil round lround fma fmod nearbyint rint trunc; do
    for kind in "$name" "${name}f" "${name}l"; do
      if echo "$undefined" | grep -qx "$kind"; then fail "it calls $kind of libm"; fi
    done
  done
fi

dynamic=$(readelf -W -d "$plugin")
if echo "$dynamic" | grep -q TEXTREL; then fail "text relocations"; fi
echo "$dynamic" | grep -q 'SONAME.*\[libnccl-tuner-sizewise.so\]' || fail "another soname"
echo "$dynamic" | grep -q 'BIND_NOW\|FLAGS_1.*NOW' || fail "lazy binding"
segments=$(readelf -W -l "$plugin")
echo "$segments" | grep -q GNU_RELRO || fail "no relro"
if echo "$segments" | awk '$1 == "LOAD" || $1 == "GNU_STACK"' | grep -q 'RWE'; then fail "a segment is writable and executable"; fi
exit $failed
