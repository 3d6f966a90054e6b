#!/bin/bash
# From a fresh clone to a generated story and a normalised date: installs what is
# missing, builds, compiles the two trained examples and runs what came out.
#   examples/quickstart.sh [BUILD_DIR]        (default: build)
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}

say() { printf '\n== %s\n' "$*"; }

say "packages"
bash compiler/bootstrap.sh

say "build, in $build (a few minutes the first time)"
[[ -f $build/build.ninja ]] || cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON >"$build.log" 2>&1 && ninja -C "$build" heddle >>"$build.log" 2>&1 ||
  { tail -n 30 "$build.log"; echo "quickstart: error: the build failed, see $build.log" >&2; exit 1; }
mv "$build.log" "$build/build.log"

out=$build/quickstart
mkdir -p "$out"

# expected FILE FIELD...: a field of the first case of an expected.json
expected() {
  /usr/bin/python3 -c 'import json, sys; c = json.load(open(sys.argv[1]))["cases"][0]; print("".join(c[k] for k in sys.argv[2:]))' "$@"
}

# check WHAT EXPECTED FOUND
check() {
  if [[ $2 != "$3" ]]; then
    printf 'quickstart: error: %s is not what it should be. Expected:\n%s\n' "$1" "$2" >&2
    exit 1
  fi
}

say "heddle compile examples/stories -o $out/stories"
"$build/bin/heddle" compile examples/stories -o "$out/stories"
prompt=$(expected examples/stories/expected.json prompt)
say "$out/stories \"$prompt\" -n 200 --greedy"
story=$("$out/stories" "$prompt" -n 200 --greedy)
echo "$story"
check "the story" "$(expected examples/stories/expected.json prompt generated_text)" "$story"

say "heddle compile examples/dates/model.json -o $out/dates"
"$build/bin/heddle" compile examples/dates/model.json -o "$out/dates"
text=$(expected examples/dates/expected.json text)
say "$out/dates \"$text\""
date=$("$out/dates" "$text")
echo "$date"
check "the date" "$(expected examples/dates/expected.json output)" "$date"

say "both are exactly what their expected.json says"
