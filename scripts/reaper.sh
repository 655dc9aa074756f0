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
held='' # folder of the lock, where flock is missing

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
elif [ -n "$1" ]; then
  # Without flock, as on macOS, a folder is the lock. It names this script and the launcher.
  held=$1.held
  tenths=0
  until mkdir "$held" 2>/dev/null; do
    [ -d "$held" ] || exit 1
    read -r reaper holder 2>/dev/null <"$held/pids" || reaper=''
    if [ -n "$reaper" ] && ! kill -0 "$reaper" 2>/dev/null; then
      # It was killed.
      rm -rf -- "$held"
    elif [ -n "$reaper" ] && { kill -0 "$holder" 2>/dev/null || [ "$tenths" -ge 300 ]; }; then
      echo "busy $holder"
      exit 1
    else
      tenths=$((tenths + 1))
      sleep 0.1
    fi
  done
  echo "$$ $PPID" >"$held/pids"
fi
echo ready

# A zombie counts as ended.
alive() {
  kill -0 "$1" 2>/dev/null || return 1
  if [ -d /proc/self ]; then
    ! grep -qs '^State:.*Z' "/proc/$1/status"
  else
    case $(ps -o stat= -p "$1") in Z*) return 1 ;; esac
  fi
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
[ -z "$held" ] || rm -rf -- "$held"
