#!/bin/bash
# The whole test suite, from a clean clone: installs what is missing, builds, and
# runs the unit tests, the lit suite, the examples, runs that must agree bit for bit,
# random models, a model of real size, hostile configs and tokenizers and, where ../shared/oracle
# and ../shared/configs are there, the oracle and published configs. The last line is the total; any failure makes the exit status 1.
#   test/run.sh [BUILD_DIR]        (default: build)
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
build=${1:-build}
[[ $build == /* ]] || build=$root/$build
oracle=${HEDDLE_ORACLE:-$root/../shared/oracle}
configs=${HEDDLE_CONFIGS:-$root/../shared/configs}
jobs=$(nproc)
passed=0 failed=0 skipped=0
start=$SECONDS

say() { printf '== %s (%d s)\n' "$1" $((SECONDS - start)); }

finish() {
  local line="$passed passed, $failed failed"
  ((skipped == 0)) || line+=", $skipped skipped"
  echo "$line"
  ((failed == 0 && passed > 0))
  exit
}

# tally LABEL STATUS FILE: adds the `N passed, N failed[, N skipped]` in which FILE ends.
# A part that ends in no such line, or in failure without naming one, counts as a failure.
tally() {
  local line
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$3" | tail -n 1)
  if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)? ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    skipped=$((skipped + ${BASH_REMATCH[4]:-0}))
    if (($2 != 0 && BASH_REMATCH[2] == 0)); then
      echo "FAIL $1: exit status $2"
      failed=$((failed + 1))
    fi
  else
    echo "FAIL $1: exit status $2, and no total in its output"
    failed=$((failed + 1))
  fi
}

say "packages"
if ! bash compiler/bootstrap.sh; then
  echo "FAIL compiler/bootstrap.sh"
  failed=1
  finish
fi

say "build"
if ! { cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release >"$build.log" 2>&1 &&
       ninja -C "$build" >>"$build.log" 2>&1; }; then
  grep -E 'error|FAILED' "$build.log" | head -n 40
  tail -n 20 "$build.log"
  echo "FAIL build: the whole log is in $build.log"
  failed=1
  finish
fi
mv "$build.log" "$build/build.log"
log=$build/test-logs
rm -rf "$log"
mkdir -p "$log"

say "unit tests"
for unit in "$build"/bin/heddle_*_test; do
  [[ -x $unit ]] || continue
  name=$(basename "$unit")
  timeout 600 "$unit" --gtest_brief=1 --gtest_output="json:$log/$name.json" >"$log/$name.log" 2>&1 </dev/null
  status=$?
  /usr/bin/python3 test/support/totals.py gtest "$log/$name.json" >"$log/$name.total"
  ((status == 0)) || tail -n 40 "$log/$name.log"
  echo "$name: $(tail -n 1 "$log/$name.total")"
  tally "$name" $status "$log/$name.total"
done

say "lit"
timeout 1200 /usr/lib/llvm-22/bin/lit -s -v -j "$jobs" --timeout 120 --output "$log/lit.json" "$build/test" >"$log/lit.log" 2>&1 </dev/null
status=$?
((status == 0)) || head -c 60000 "$log/lit.log"
/usr/bin/python3 test/support/totals.py lit "$log/lit.json" >"$log/lit.total"
echo "lit: $(tail -n 1 "$log/lit.total")"
tally lit $status "$log/lit.total"

say "examples"
timeout 600 /usr/bin/python3 examples/run.py --bin "$build/bin" 2>&1 </dev/null | tee "$log/examples.log"
tally examples "${PIPESTATUS[0]}" "$log/examples.log"

say "the same bits in any company"
timeout 600 /usr/bin/python3 test/Execution/determinism.py --heddle "$build/bin/heddle" 2>&1 </dev/null | tee "$log/determinism.log"
tally determinism "${PIPESTATUS[0]}" "$log/determinism.log"

say "generation"
timeout 600 /usr/bin/python3 test/Execution/generation.py --heddle "$build/bin/heddle" 2>&1 </dev/null | tee "$log/generation.log"
tally generation "${PIPESTATUS[0]}" "$log/generation.log"

say "pictures and speech"
timeout 600 /usr/bin/python3 test/Execution/media.py --heddle "$build/bin/heddle" 2>&1 </dev/null | tee "$log/media.log"
tally media "${PIPESTATUS[0]}" "$log/media.log"

say "words, answers, classes"
timeout 600 /usr/bin/python3 test/Execution/texts.py --heddle "$build/bin/heddle" 2>&1 </dev/null | tee "$log/texts.log"
tally texts "${PIPESTATUS[0]}" "$log/texts.log"

say "the same bits for every mask and modifier"
timeout 600 /usr/bin/python3 test/Execution/mask_determinism.py --heddle "$build/bin/heddle" 2>&1 </dev/null | tee "$log/mask-determinism.log"
tally "mask determinism" "${PIPESTATUS[0]}" "$log/mask-determinism.log"

say "numbers stored as bf16"
timeout 600 /usr/bin/python3 test/Execution/mask_determinism.py --dtype bf16 --heddle "$build/bin/heddle" 2>&1 </dev/null | tee "$log/mask-determinism-bf16.log"
tally "mask determinism of bf16" "${PIPESTATUS[0]}" "$log/mask-determinism-bf16.log"
timeout 600 /usr/bin/python3 test/Execution/determinism.py --dtype bf16 --heddle "$build/bin/heddle" 2>&1 </dev/null | tee "$log/determinism-bf16.log"
tally "determinism of bf16" "${PIPESTATUS[0]}" "$log/determinism-bf16.log"
timeout 600 /usr/bin/python3 test/Execution/storage.py --heddle "$build/bin/heddle" 2>&1 </dev/null | tee "$log/storage.log"
tally "what bf16 costs" "${PIPESTATUS[0]}" "$log/storage.log"

say "rows of padding"
timeout 600 /usr/bin/python3 test/Execution/padding.py --heddle "$build/bin/heddle" 2>&1 </dev/null | tee "$log/padding.log"
tally padding "${PIPESTATUS[0]}" "$log/padding.log"

say "random models"
timeout 600 /usr/bin/python3 test/Fuzz/random_models.py --heddle "$build/bin/heddle" --count 100 --jobs "$jobs" 2>&1 </dev/null | tee "$log/random.log"
tally "random models" "${PIPESTATUS[0]}" "$log/random.log"

say "real size"
timeout 600 /usr/bin/python3 test/Bench/real_size.py --heddle "$build/bin/heddle" 2>&1 </dev/null | tee "$log/real-size.log"
tally "real size" "${PIPESTATUS[0]}" "$log/real-size.log"

say "hostile configs"
timeout 600 /usr/bin/python3 test/Configs/hostile.py --heddle "$build/bin/heddle" 2>&1 </dev/null | tee "$log/hostile-configs.log"
tally "hostile configs" "${PIPESTATUS[0]}" "$log/hostile-configs.log"

say "odd tokenizers"
timeout 600 /usr/bin/python3 test/Fuzz/tokenizers.py --heddle "$build/bin/heddle" 2>&1 </dev/null | tee "$log/tokenizers.log"
tally "odd tokenizers" "${PIPESTATUS[0]}" "$log/tokenizers.log"

say "published configs"
found=("$configs")
if [[ ! -f $configs/index.json ]]; then
  echo "no configs at ${configs#"$root/"}: skipped"
  found=() skipped=$((skipped + 1))
fi
timeout 600 /usr/bin/python3 test/Configs/published.py --heddle "$build/bin/heddle" "${found[@]}" 2>&1 </dev/null | tee "$log/published-configs.log"
tally "published configs" "${PIPESTATUS[0]}" "$log/published-configs.log"

say "oracle"
if [[ -f $oracle/index.json ]]; then
  timeout 1200 /usr/bin/python3 test/Oracle/run.py --heddle "$build/bin/heddle" --jobs "$jobs" "$oracle" 2>&1 </dev/null | tee "$log/oracle.log"
  tally oracle "${PIPESTATUS[0]}" "$log/oracle.log"
  timeout 600 /usr/bin/python3 test/Oracle/run.py --heddle "$build/bin/heddle" --jobs "$jobs" --binary --dtype bf16 "$oracle" 2>&1 </dev/null | tee "$log/oracle-bf16.log"
  tally "oracle in bf16" "${PIPESTATUS[0]}" "$log/oracle-bf16.log"
else
  echo "no oracle at ${oracle#"$root/"}: skipped"
  skipped=$((skipped + 1))
fi

say "done"
finish
