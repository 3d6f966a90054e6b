#!/bin/bash
# What test/run.sh has no time for: planted faults, sanitizers, long fuzzing, hours of a server, and
# whole the parts of which run.sh runs a sample (test/commands.md has both counts). Hours, at low priority.
#   test/nightly.sh [BUILD_DIR] [--against BUILD] [--only NAME] [--minutes N] [--list]       (BUILD_DIR: build)
# --against BUILD   another build, whose programs must be the same byte for byte
# --only NAME       the parts whose name has NAME in it
# --minutes N       begins no part after N minutes; the part that ran longest ago comes first, so short nights get round
# --list            names, limits in seconds and commands
# A part has passed if it ends with 0 within its limit; with 77 it is skipped and its last line says why.
# After each part its row in the page nightly.md of test/results is replaced; the first line of the page is of this run.
# What each part said is in BUILD_DIR/nightly. Exit status 1 if a part failed.
set -uo pipefail
cd "$(dirname "$0")/.."
export root=$PWD build=build against='' python=/usr/bin/python3
only='' list='' minutes=''
wrong() {
  echo "nightly.sh: $1" >&2
  sed -n 's/^#   /usage: /p' test/nightly.sh >&2
  exit 2
}
while (($#)); do
  case $1 in
    --against | --only | --minutes)
      [[ $# -ge 2 ]] || wrong "$1 expects a value"
      case $1 in
        --only) only=$2 ;;
        --against) against=$(realpath "$2") ;;
        *) minutes=$2 ;;
      esac
      shift
      ;;
    --list) list=yes ;;
    -*) wrong "there is no option $1" ;;
    *) build=$1 ;;
  esac
  shift
done
[[ -z $minutes || $minutes =~ ^[0-9]+$ ]] || wrong "--minutes expects a number, got '$minutes'"
[[ $build == /* ]] || build=$root/$build
export heddle=$build/bin/heddle oracle=${HEDDLE_ORACLE:-$root/../shared/oracle} templates=${HEDDLE_TEMPLATES:-$root/../shared/chat-templates}

# need PATH...: the part is skipped where one of them is missing.
need() {
  local path
  for path; do
    [[ -e $path ]] || { echo "there is no ${path#"$root/"}"; exit 77; }
  done
}
export -f need

# name | limit in seconds | command, with the variables above and $work, an empty folder of its own
parts() {
  cat << 'END'
build | 5400 | bash compiler/bootstrap.sh && { [[ -f $build/build.ninja ]] || cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON; } && ninja -C "$build"
faults of the lowering | 1800 | $python test/Conversion/Lowering/faults.py "$build"
faults of the emulator | 1800 | $python test/Emulator/faults.py "$build"
faults of tiles | 10800 | $python test/Conversion/TileToNVVM/faults.py "$build"
faults of digests | 1800 | $python test/GPU/digest_faults.py "$build"
faults of lengths | 3600 | $python test/Execution/length_faults.py "$build"
faults of masks | 14400 | $python test/Mask/faults.py "$build"
faults of slots | 5400 | $python test/Serve/faults.py "$build"
faults of the system | 5400 | $python test/support/spoil.py test/Driver/faults-memory.test "$work/model" && $python test/Driver/faults.py "$heddle" "$work/model" "$work/faults" --all
sanitized tools | 10800 | bash test/sanitize.sh tools "$build-sanitize"
sanitized programs | 7200 | bash test/sanitize.sh programs "$build-sanitize"
identical programs | 7200 | [[ -n $against ]] || { echo "no other build is given (--against)"; exit 77; }; $python test/Driver/identical.py "$against" "$build" --cases 25
lit | 7200 | /usr/lib/llvm-22/bin/lit -sv --timeout 1200 "$build/test"
numbers | 7200 | for file in test/Execution/*families.py test/Execution/{storage,generation,media,quantised,texts,mask_determinism}.py; do $python "$file" --heddle "$heddle" || exit 1; done
oracle | 7200 | need "$oracle" "$oracle-newer"; $python test/Oracle/run.py --heddle "$heddle" --binary "$oracle" && $python test/Oracle/run.py --heddle "$heddle" --binary "$oracle-newer"
replayed passes | 7200 | need "$oracle"; for model in examples/*/model.json examples/{sentiment,stories} "$oracle"/{bert,gpt2,llama_gqa,longformer,mixtral,t5,vit,wav2vec2,whisper}; do for how in --mcpu=x86-64-v3 --mcpu=x86-64-v4 --target=cuda; do rm -rf "$work/ir" && "$heddle" compile "$model" $how --emit=llvm -o "$work/llvm.mlir" --dump-ir="$work/ir" && "$build/bin/heddle_replay" "$work/ir" || exit 1; done; done
differences of passes | 7200 | need "$oracle"; for model in examples/*/model.json examples/{sentiment,stories} "$oracle"/{bert,gpt2,llama_gqa,longformer,mixtral,t5,vit,wav2vec2,whisper}; do for how in --mcpu=x86-64-v3 --mcpu=x86-64-v4 --target=cuda; do $python test/Driver/dump_index.py "$heddle" "$model" "$work/dump" $how --emit=llvm || exit 1; done; done
remarks | 1800 | need "$oracle"; for model in examples/*/model.json examples/stories $(dirname "$oracle"/*/config.json); do for how in "cpu native f32" "cpu sapphirerapids bf16" "cuda sm_80 bf16"; do echo "$model $how"; done; done | "$build/bin/heddle_remark_rule"
code with lines | 3600 | need "$oracle"; $python test/Driver/debug_text.py "$heddle" "$work" /usr/lib/llvm-22/bin examples/*/model.json examples/{sentiment,shapes,stories} "$oracle"/{bert,gpt2,llama_gqa,longformer,mixtral,t5,vit,wav2vec2,whisper}
random models | 7200 | $python test/Fuzz/random_models.py --heddle "$heddle" --first 1001 --count 3000
stages | 7200 | $python test/Fuzz/stages.py "$build/bin" --count 10000 --seed 11 --keep "$work/crashes"
tokenizers | 3600 | $python test/Fuzz/tokenizers.py --heddle "$heddle" --count 5000 --seed 11 --jobs 1
hostile configs | 3600 | $python test/Configs/hostile.py --heddle "$heddle" --first 1000 --count 5000
files beside configs | 3600 | $python test/Configs/beside.py --heddle "$heddle" --first 1000 --count 5000
nulls of configs | 3600 | $python test/Configs/nulls.py --heddle "$heddle" --all
check is compile | 5400 | $python test/Driver/check_is_compile.py "$build/bin/heddle_check_is_compile" "$work" --count 10000
damaged binaries | 3600 | $python test/Driver/damage.py "$heddle" "$work" --count 5000 --seed 11
fuzzed templates | 3600 | "$build/bin/heddle_fuzz_templates" --runs=500000 --seed=11 && "$build/bin/heddle_fuzz_templates" --runs=500000 --seed=11 --what=messages
fuzzed readers | 3600 | "$build/bin/heddle_fuzz_readers" --examples=examples --runs=50000 --seed=11
fuzzed safetensors | 3600 | "$build/bin/heddle_fuzz_safetensors" --runs=1000000 --seed=11 --dump="$work/dump" && $python test/Fuzz/safetensors_oracle.py "$work/dump"
fuzzed arrays | 3600 | g++ -std=c++17 -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -I. -Iruntime/include test/Fuzz/Arrays.cpp runtime/Base/{ArrayFile,ArrayHeader,ByteSource,Crc32,ZipDirectory,Inflate}.cpp -lz -o "$work/fuzz" && "$work/fuzz" --runs=20000000 --seed=11
fuzzed quantised files | 3600 | "$build/bin/heddle_fuzz_coded" --runs=1000000 --seed=11
fuzzed GGUF files | 3600 | "$build/bin/heddle_fuzz_gguf" --runs=1000000 --seed=11 && "$build/bin/heddle_fuzz_gguf" --what=blocks --runs=1000000 --seed=11
fuzzed vocabularies | 3600 | "$build/bin/heddle_fuzz_vocabularies" --runs=1000000 --seed=11
GGUF files alone | 3600 | need "$root/../shared/gguf-cases"; $python test/Gguf/models.py --heddle "$heddle" --all
vocabularies of GGUF files | 3600 | need "$root/../shared/gguf-cases"; $python test/Gguf/vocabularies.py --heddle "$heddle" --count 3000
fuzzed adapters | 3600 | "$build/bin/heddle_fuzz_adapters" --runs=1000000 --seed=11
adapters | 1800 | need "$root/../shared/lora-cases"; $python "$root/../shared/lora-cases/check.py" "$heddle"
chat campaign | 3600 | need "$templates/judge.py"; $python -c 'import jinja2' || { echo "there is no python3-jinja2"; exit 77; }; $python test/Chat/campaign.py "$templates/judge.py" --heddle "$heddle" --count 5000 --seed 11
masks | 7200 | "$build/bin/heddle_mask_test" --expressions=20000 --seed=11 && "$build/bin/heddle_mask_kernel_test" --expressions=5000 --seed=11
abuse | 3600 | $python test/Serve/abuse.py --heddle "$heddle" --fuzz 50000
company | 3600 | $python test/Serve/company.py --heddle "$heddle" --requests 200
slots of all models | 7200 | need "$oracle"; $python test/Serve/slots.py --heddle "$heddle" --oracle "$oracle" --least 20
injected errors | 3600 | $python test/Serve/injected.py --heddle "$heddle" --every 2,3,5,7,11,17,31
soak | 4200 | $python test/Serve/soak.py --heddle "$heddle" --minutes 60
vectors | 3600 | $python test/Execution/vectors.py --heddle "$heddle" --long && $python test/Execution/vector_layouts.py --heddle "$heddle" --long
first tokens | 3600 | $python test/Execution/first_tokens.py --heddle "$heddle"
lengths on the emulated device | 3600 | $python test/Execution/length_conditions.py --heddle "$heddle" --device emulator
masks on the emulated device | 7200 | $python test/Execution/mask_determinism.py --heddle "$heddle" --target cuda --device emulator
masks on the emulated device, bf16 | 7200 | $python test/Execution/mask_determinism.py --heddle "$heddle" --target cuda --device emulator --dtype bf16
masks in bf16 | 3600 | $python test/Execution/mask_determinism.py --heddle "$heddle" --dtype bf16
oracle in bf16 | 3600 | need "$oracle"; $python test/Oracle/run.py --heddle "$heddle" --binary --dtype bf16 "$oracle"
oracle on the emulated device, races | 10800 | need "$oracle"; $python test/Oracle/run.py --heddle "$heddle" --binary --target cuda --device emulator --races "$oracle"
oracle on the emulated device, bf16 | 10800 | need "$oracle"; $python test/Oracle/run.py --heddle "$heddle" --binary --target cuda --device emulator --dtype bf16 "$oracle"
oracle on an emulated sm_90a, bf16 | 10800 | need "$oracle"; $python test/Oracle/run.py --heddle "$heddle" --binary --target cuda --device emulator --dtype bf16 --chip sm_90a "$oracle"
oracle for AVX2 | 3600 | need "$oracle"; $python test/Oracle/run.py --heddle "$heddle" --binary --mcpu x86-64-v3 "$oracle"
oracle for aarch64 | 7200 | bash compiler/bootstrap.sh --cross && ninja -C "$build" runtime-aarch64 && need "$oracle" && $python test/Oracle/run.py --heddle "$heddle" --binary --mcpu neoverse-n1 --runner "qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu" "$oracle"
reports | 7200 | need "$oracle"; models=(examples/{stories,masks/model.json,dates/model.json,conformer/model.json} "$oracle"/{gpt2,t5,whisper,longformer,mixtral,wav2vec2,vit,bert}); $python test/Report/report.py "$heddle" "$work/reports" --all "${models[@]}" && $python test/Report/page.py --all --pictures "$work/pictures" "$work"/reports/*.html
ptxas | 3600 | PATH=$PATH:/usr/local/cuda/bin; command -v ptxas || { echo "there is no ptxas"; exit 77; }; $python test/GPU/ptxas.py --heddle "$heddle" --tiles examples/*/model.json
day with a GPU | 10800 | need "$oracle"; test/GPU/day/make_day.sh "$work/day" --heddle "$heddle" --oracle "$oracle" && test/GPU/day/day.sh first --folder "$work/day" --device emulator
END
}

page=test/results/nightly.md
machine="$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, $(awk '/MemTotal/ {print int($2 / 1048576 + 0.5)}' /proc/meminfo) GiB"
commit=$(git rev-parse --short HEAD)
[[ -z $(git status --porcelain --untracked-files=no -- . ":!$page") ]] || commit+=', changed'
declare -A row=() ran=() # of each part: its row, and when it ran; none where it never did
if [[ -f $page ]]; then
  while IFS='|' read -r _ name verdict checks seconds at when _; do
    name=${name# } name=${name% }
    [[ $when == *[0-9]:[0-9]* ]] && row[$name]="|$verdict|$checks|$seconds|$at|$when|" ran[$name]=$when
  done <"$page"
fi

# keep: writes the page, with the rows of all parts that ever ran.
keep() {
  local name
  mkdir -p "${page%/*}"
  {
    printf '# Nightly of %s, %s, on %s\n\n' "$commit" "$(date +%F)" "$machine"
    printf '| part | verdict | checks | seconds | commit | began |\n|---|---|---:|---:|---|---|\n'
    parts | while IFS='|' read -r name _; do
      name=${name% }
      [[ -z ${row[$name]:-} ]] || echo "| $name ${row[$name]}"
    done
  } >"$page.new"
  mv "$page.new" "$page"
}

# The build first, then what never ran, then what ran longest ago.
by_age() {
  parts | while IFS= read -r line; do
    name=${line%%|*} name=${name% }
    when=${ran[$name]:-0}
    [[ $name != build ]] || when=''
    printf '%s\t%s\n' "$when" "$line"
  done | sort -s -t $'\t' -k1,1 | cut -f 2-
}

chosen=0 failed=0 left=0 part='' work=''
stop() { # a part is a process group of its own, which its `timeout` ends
  [[ -z $part ]] || kill "$part"
  [[ -z $work ]] || rm -rf "$work"
  exit 130
}
trap stop INT TERM HUP
log=$build/nightly
if [[ -z $list ]]; then
  mkdir -p "$log"
  rm -rf "$build/code-cache" # models are compiled as users compile them (support/cached.py)
fi
while IFS='|' read -r name limit command; do
  name=${name% } limit=${limit// /} command=${command# }
  [[ $name == *"$only"* ]] || continue
  if [[ -n $minutes ]] && ((SECONDS >= 60 * minutes)); then
    left=$((left + 1))
    continue
  fi
  chosen=$((chosen + 1))
  if [[ -n $list ]]; then
    printf '%-36s %6d  %s\n' "$name" "$limit" "$command"
    continue
  fi
  file=$log/${name//[ ,]/-}.log began=$SECONDS when=$(date '+%F %H:%M')
  work=$(mktemp -d)
  export work
  nice timeout -k 10 "$limit" bash -c "$command" >"$file" 2>&1 </dev/null &
  part=$!
  wait "$part"
  status=$?
  rm -rf "$work"
  case $status in
    0) verdict=passed ;;
    77) verdict="skipped: $(tail -n 1 "$file")" ;;
    124 | 137) verdict="FAILED: ended by its limit of $limit s" ;;
    *) verdict="FAILED: exit status $status" ;;
  esac
  [[ $verdict != FAILED* ]] || failed=$((failed + 1))
  row[$name]="| $verdict | $($python test/support/totals.py log "$file") | $((SECONDS - began)) | $commit | $when |"
  echo "| $name ${row[$name]}"
  keep
done < <(if [[ -n $list ]]; then parts; else by_age; fi)
((chosen > 0)) || wrong "no part has '$only' in its name"
[[ -z $list ]] || exit 0
echo "$((chosen - failed)) of $chosen parts did not fail$( ((left == 0)) || echo ", $left were left for another night")"
exit $((failed > 0))
