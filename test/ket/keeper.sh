#!/bin/sh
# Removes the nodes of a run's kind cluster when the run ends for any reason. POSIX sh, for Linux and macOS.
#
#   keeper.sh CLUSTER MARK DIRECTORY
#
# Waits for the end of standard input, whose other end only the run holds. A run that ends normally writes "stopped" first.
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
  # kind may still be running. Its lifeline removes the run's directory after stopping it.
  left=60
  while [ -e "$directory" ] && [ "$left" -gt 0 ]; do
    sleep 1
    left=$((left - 1))
  done
  # Docker carries out a request that it has accepted even if the client was killed.
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
