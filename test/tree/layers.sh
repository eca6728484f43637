#!/bin/sh
# Includes point down: a file of plugin/ includes its own layer and those above it in plugin/layers, nothing of bench/.
# Every header compiles alone.
set -eu
cd "$SW_TEST_SOURCE"
layers=$(grep -v '^#' plugin/layers)
rank() { echo "$layers" | grep -nx "$1" | cut -d: -f1; }
status=0
for file in plugin/*.[ch] plugin/*/*.[ch]; do
  own=${file#plugin/}
  own=${own%%/*}
  own=${own%.*}
  here=$(rank "$own") || { echo "$file: layer $own is not in plugin/layers"; status=1; continue; }
  for included in $(sed -n 's/^#include "\(.*\)"/\1/p' "$file"); do
    [ "$included" = nccl_tuner.h ] && continue
    layer=${included%%/*}
    layer=${layer%.*}
    there=$(rank "$layer") || { echo "$file includes $included, which is in no layer"; status=1; continue; }
    [ "$there" -le "$here" ] || { echo "$file includes $included, which is above it"; status=1; }
  done
done
for header in include/*.h plugin/*.h plugin/*/*.h bench/*.h bench/*/*.h; do
  [ -e "$header" ] || continue
  printf "#include \"%s\"\nextern int sw_alone;\n" "${header#*/}" |
    ${SW_TEST_CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror -Iinclude -Iplugin -Ibench -fsyntax-only -x c - ||
    { echo "$header does not compile alone"; status=1; }
done
exit $status
