#!/bin/sh
# `exits.sh STATUS[-STATUS] command...` runs the command and succeeds if it ends with that status. The output passes through.
# A shell starts in a millisecond; half of the suite's command lines go through this.
wanted=$1
shift
timeout --foreground 100 "$@"
status=$?
if [ $status -lt "${wanted%-*}" ] || [ $status -gt "${wanted#*-}" ]; then
  echo "exits.sh: expected exit status $wanted, found $status" >&2
  exit 1
fi
