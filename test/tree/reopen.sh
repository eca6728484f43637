#!/bin/sh
# The plugin is opened, used and closed 1,000 times; under valgrind 50 times, and then nothing may have been lost.
set -eu
plugin=$SW_BUILD/libnccl-tuner-sizewise.so
"$SW_TEST_BUILD/reopen" "$plugin" 1000
if [ -n "${SW_SANITIZE:-}" ]; then exit 0; fi
if ! command -v valgrind >/dev/null; then
  echo "SKIP: no valgrind"
  exit 77
fi
valgrind --quiet --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=all --error-exitcode=1 \
  "$SW_TEST_BUILD/reopen" "$plugin" 50
