# Processes that a test may have left. An end takes a moment: it is waited for, two seconds at most.
#
# none_left_over exe PATH: those that run this program; none_left_over cwd FOLDER: those that were started there. False
# with what is left in `left`; the caller itself does not count.
none_left_over() {
  for attempt in 1 2 3 4 5 6 7 8 9 10; do
    left=
    for process in /proc/[0-9]*; do
      [ "$(readlink "$process/$1" 2>/dev/null)" != "$2" ] || [ "$process" = "/proc/$$" ] || left="$left $process"
    done
    [ "$left" ] || return 0
    sleep 0.2
  done
  return 1
}
