#!/bin/bash
# Everything that reads what a stranger wrote, under ASan and UBSan: builds the tools
# with HEDDLE_SANITIZE into build-sanitize and runs the tests of the importer, the
# command line and the readers of files. Twenty minutes; not part of test/run.sh.
#   test/sanitize.sh [BUILD_DIR]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build-sanitize}

bash compiler/bootstrap.sh --sanitizers
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DHEDDLE_SANITIZE=ON "-DCMAKE_C_FLAGS=-O1 -g1" "-DCMAKE_CXX_FLAGS=-O1 -g1"
ninja -C "$build"
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
for unit in "$build"/bin/heddle_*_test; do
  [[ ! -x $unit ]] || "$unit" --gtest_brief=1
done
/usr/lib/llvm-22/bin/lit -sv "$build/test/Import" "$build/test/Driver"
