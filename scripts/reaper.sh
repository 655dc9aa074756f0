#!/bin/sh
# Ends the processes of a launcher after the launcher has stopped, crashed or been killed: in each case it closes our
# standard input.
#
# usage: reaper.sh [LOCK-FILE]
# Lines on standard input:   end SIGNAL PID   at the end, end this process; the latest first
#                            release PID      forget this process: it has ended
#                            remove PATH      after the processes, remove this file or folder
# Prints "ready", or "busy PID" if the launcher PID holds the lock. This script holds the lock, not the launcher, so that
# it lasts until the last process has ended.

trap '' HUP INT TERM

if [ -n "$1" ] && command -v flock >/dev/null; then
  exec 9>>"$1" || exit 1
  if ! flock -n 9; then
    holder=$(cat "$1")
    # The reaper of a launcher that is gone needs a moment to finish.
    if kill -0 "$holder" 2>/dev/null || ! flock -w 30 9; then
      echo "busy $holder"
      exit 1
    fi
  fi
  echo "$PPID" >"$1"
fi
echo ready

# A zombie counts as ended.
alive() {
  kill -0 "$1" 2>/dev/null && ! grep -qs '^State:.*Z' "/proc/$1/status"
}

end() {
  kill -s "$1" "$2" 2>/dev/null || return 0
  tenths=0
  while alive "$2"; do
    [ "$tenths" -lt 200 ] || kill -s KILL "$2"
    tenths=$((tenths + 1))
    sleep 0.1
  done
}

# All processes but the one with this PID.
without() {
  for process in $processes; do
    [ "${process#*:}" = "$1" ] || printf '%s ' "$process"
  done
}

processes='' # newest first, each as SIGNAL:PID
leftovers='' # paths, a line each
while read -r verb rest; do
  case $verb in
    end) processes="${rest% *}:${rest#* } $processes" ;;
    release) processes=$(without "$rest") ;;
    remove) leftovers="$leftovers$rest
" ;;
  esac
done

for process in $processes; do
  end "${process%%:*}" "${process#*:}"
done
printf '%s' "$leftovers" | while read -r path; do
  rm -rf -- "$path"
done
