#!/bin/sh
# Removes the nodes of a run's kind cluster when the run ends, whatever ends it. POSIX sh, for Linux and macOS.
#
#   keeper.sh CLUSTER MARK DIRECTORY
#
# Waits for the end of standard input, whose other end only the run holds. A run that ends in order writes "stopped" first.
#
# A node belongs to the run if MARK is mounted in it. Docker starts a container with its mounts in one step, so another
# cluster of the same name never has the mark, and containers are removed by id. `kind delete cluster` goes by name alone.
set -u
cluster=$1
mark=$2
directory=$3

# The end of a session or terminal must not end this process.
trap '' HUP INT TERM PIPE
last=
while read -r line; do last=$line; done

nodes() {
  docker ps --all --quiet --no-trunc --filter "label=io.x-k8s.kind.cluster=$cluster" --filter "volume=$mark"
}

remove() {
  found=$(nodes) || return 1
  # Ids, one a line.
  [ -z "$found" ] || docker rm --force --volumes $found >/dev/null
}

looks=1
if [ "$last" != stopped ]; then
  # kind may be at work. What ends it removes the run's directory afterwards.
  left=60
  while [ -e "$directory" ] && [ "$left" -gt 0 ]; do
    sleep 1
    left=$((left - 1))
  done
  # A request that Docker has accepted is carried out although the program that made it was killed.
  looks=10
fi
while :; do
  tries=10
  until remove; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || exit 1
    sleep 1
  done
  looks=$((looks - 1))
  [ "$looks" -gt 0 ] || exit 0
  sleep 1
done
