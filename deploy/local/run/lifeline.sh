#!/bin/sh
# Ends child processes when their owner ends, however it ends. POSIX sh, for Linux and macOS.
#
#   lifeline.sh enter DIRECTORY COMMAND [ARGUMENT...]
#     Adds itself to DIRECTORY/register and becomes COMMAND. Has to be started as the leader of a process group.
#   lifeline.sh reap DIRECTORY
#     Waits for the end of standard input, whose other end only the owner holds. Then ends every running process group
#     in the register and removes DIRECTORY.
#
# A record is an empty file named "<pid> <start time>", so it is created atomically. The start time distinguishes the
# process from a later one with the same pid.
set -u
mode=$1
directory=$2
shift 2

# Prints the start time of process $1, or nothing when it does not run. A zombie does not run.
started() {
  if [ -r /proc/self/stat ]; then
    { IFS= read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
    set -f
    # Field 2 is the command in parentheses and may contain anything, so count from its end.
    set -- ${stat##*) }
    [ "$1" = Z ] || echo "${20}"
  else
    # By its path, because PATH may be the child's.
    stat=$(LC_ALL=C TZ=UTC /bin/ps -o stat= -o lstart= -p "$1" 2>/dev/null) || return 0
    set -f
    set -- $stat
    case $1 in Z*) ;; *) shift && echo "$*" ;; esac
  fi
}

# Succeeds when the process of record $1 still runs.
runs() {
  [ "$(started "${1%% *}")" = "${1#* }" ]
}

enter() {
  # Once the reaper has closed the register this fails, and the command never runs.
  : >"$directory/register/$$ $(started $$)" || exit 71
  exec "$@"
}

# Succeeds when one of the processes of these records still runs.
any_runs() {
  for record; do
    runs "$record" && return 0
  done
  return 1
}

# Sends signal $1 to the process groups of the records that follow.
signal_groups() {
  signal=$1
  shift
  for record; do
    kill -s "$signal" -- "-${record%% *}" 2>/dev/null
  done
}

# Waits until no process of these records runs, for at most two seconds.
await_ends() {
  left=20
  while [ "$left" -gt 0 ] && any_runs "$@"; do
    sleep 0.1 2>/dev/null || sleep 1
    left=$((left - 1))
  done
}

reap() {
  # A signal that ends the owner may go to its whole session or terminal. This process must outlive it.
  trap '' HUP INT TERM
  PATH=${PATH:-}:/usr/bin:/bin
  cat >/dev/null
  closed=$directory/register.closed
  # Atomic, so that a child that is being started is either in the register or never runs.
  mv "$directory/register" "$closed" 2>/dev/null
  # Only running processes: the pid of an ended one may belong to an unrelated process by now. The list is in memory,
  # because another process may remove the directory before all have ended.
  set --
  for record in "$closed"/*; do
    record=${record##*/}
    runs "$record" && set -- "$@" "$record"
  done
  signal_groups TERM "$@"
  await_ends "$@"
  # All of them again: a leader may have ended before its own children.
  signal_groups KILL "$@"
  await_ends "$@"
  # The owner file last, so that the next sweep finds and completes an interrupted removal.
  for entry in "$directory"/*; do
    case $entry in */owner.json) ;; *) rm -rf "$entry" ;; esac
  done
  rm -rf "$directory"
}

case $mode in
  enter) enter "$@" ;;
  reap) reap ;;
  *) echo "lifeline.sh: expected enter or reap, found $mode" >&2 && exit 64 ;;
esac
