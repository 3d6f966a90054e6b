#!/bin/bash
# What reads what a stranger wrote, under sanitizers; not part of test/run.sh.
#   test/sanitize.sh [tools|programs] [BUILD_DIR]        both parts, into build-sanitize
# tools: the compiler and the fuzzers' readers, with ASan and UBSan: unit tests, importer, command line. Twenty minutes.
# programs: the runtime alone is built with ASan and UBSan, and with TSan; models that the ordinary compiler (build/) links
# with it make their first tokens, serve and chat. Ten minutes. What of a model is compiled from its description is not instrumented.
set -euo pipefail
cd "$(dirname "$0")/.."
what=all
case ${1:-} in tools | programs) what=$1; shift ;; esac
build=${1:-build-sanitize}
bash compiler/bootstrap.sh --sanitizers

tools() {
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DHEDDLE_SANITIZE=address,undefined "-DCMAKE_C_FLAGS=-O1 -g1" "-DCMAKE_CXX_FLAGS=-O1 -g1"
  ninja -C "$build"
  export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  for unit in "$build"/bin/heddle_*_test; do
    [[ ! -x $unit ]] || "$unit" --gtest_brief=1
  done
  /usr/lib/llvm-22/bin/lit -sv "$build/test/Import" "$build/test/Driver"
}

# programs_with SANITIZERS: a runtime, and a copy of the compiler beside it, which takes the archives of its own lib/.
programs_with() {
  local dir=$build/${1%%,*} failed=0 test
  cmake -S . -B "$dir" -G Ninja -DCMAKE_BUILD_TYPE=None -DHEDDLE_RUNTIME_ONLY=ON -DHEDDLE_SANITIZE="$1"
  ninja -C "$dir"
  mkdir -p "$dir/bin"
  cp build/bin/heddle "$dir/bin/heddle"
  rm -rf "$dir/reports"
  mkdir "$dir/reports"
  local log=log_path=$PWD/$dir/reports/report
  for test in Execution/first_tokens.py Serve/api.py Serve/encoders.py Serve/company.py Serve/abuse.py Chat/talk.py; do
    echo "-- $test with $1"
    ASAN_OPTIONS=$log UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:$log TSAN_OPTIONS=$log \
      /usr/bin/python3 "test/$test" --heddle "$dir/bin/heddle" || failed=1
  done
  if [[ -n $(ls -A "$dir/reports") ]]; then # of a server that a test killed, too
    head -n 60 "$dir"/reports/*
    failed=1
  fi
  return $failed
}

[[ $what == programs ]] || tools
if [[ $what != tools ]]; then
  [[ -f build/build.ninja ]] || cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release
  ninja -C build heddle
  failed=0
  programs_with address,undefined || failed=1
  programs_with thread || failed=1
  exit $failed
fi
