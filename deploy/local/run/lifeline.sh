#!/bin/sh
# Ties child processes to their owner, whatever ends the owner. POSIX sh, for Linux and macOS.
#
#   lifeline.sh enter DIRECTORY COMMAND [ARGUMENT...]
#     Signs DIRECTORY/register and becomes COMMAND. Started as the leader of its own process group.
#   lifeline.sh reap DIRECTORY
#     Waits for the end of standard input, whose other end only the owner holds. Then ends every process group
#     in the register that still runs and removes DIRECTORY.
#
# A record is an empty file named "<pid> <start time>": made in one step, so that it is never seen half-written. The
# start time tells the process from a later one with the same pid.
set -u
mode=$1
directory=$2
shift 2

# Prints when process $1 was started, or nothing when it does not run. A zombie does not run.
started() {
  if [ -r /proc/self/stat ]; then
    { IFS= read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
    set -f
    # The second field is the command in parentheses and may hold anything: count from behind it.
    set -- ${stat##*) }
    [ "$1" = Z ] || echo "${20}"
  else
    # By its path: the PATH may be one that was made for the child.
    stat=$(LC_ALL=C TZ=UTC /bin/ps -o stat= -o lstart= -p "$1" 2>/dev/null) || return 0
    set -f
    set -- $stat
    case $1 in Z*) ;; *) shift && echo "$*" ;; esac
  fi
}

# Does the process of record $1 still run?
runs() {
  [ "$(started "${1%% *}")" = "${1#* }" ]
}

enter() {
  # Once the reaper has closed the register this fails, and the command is never run.
  : >"$directory/register/$$ $(started $$)" || exit 71
  exec "$@"
}

# Does one of the processes of these records still run?
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

# Waits until none of these records' processes runs, for two seconds at most.
await_ends() {
  left=20
  while [ "$left" -gt 0 ] && any_runs "$@"; do
    sleep 0.1 2>/dev/null || sleep 1
    left=$((left - 1))
  done
}

reap() {
  # Whoever ends the owner may end its whole session or terminal; this process must outlive that.
  trap '' HUP INT TERM
  PATH=${PATH:-}:/usr/bin:/bin
  cat >/dev/null
  closed=$directory/register.closed
  # In one step, so that a child that is just being born is either in the register or not born at all.
  mv "$directory/register" "$closed" 2>/dev/null
  # Only those that still run: the pid of one that ended may belong to a foreign process by now. The list is in memory,
  # since the directory may be removed by another process before all have ended.
  set --
  for record in "$closed"/*; do
    record=${record##*/}
    runs "$record" && set -- "$@" "$record"
  done
  signal_groups TERM "$@"
  await_ends "$@"
  # To all of them once more: a leader may be gone and its own children not.
  signal_groups KILL "$@"
  await_ends "$@"
  # The owner's name last: a removal that is cut short is then found and finished by the next sweep.
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
