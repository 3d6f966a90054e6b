#!/bin/bash
# The whole test suite, from a clean clone: installs what is missing, builds, and
# runs the unit tests, the lit suite, the examples, runs that must agree bit for bit,
# random models, a model of real size, hostile configs and tokenizers and, where ../shared/oracle
# ../shared/configs and ../shared/quantised-cases are there, the oracle, published configs and quantised checkpoints.
# The last line is the total; any failure makes the exit status 1.
#   test/run.sh [quick] [BUILD_DIR]        (default: build)
# quick: the build, the unit tests, and lit without Docs, GPU, Fuzz and programs for aarch64.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
quick=
if [[ ${1:-} == quick ]]; then
  quick=yes
  shift
fi
if (($# > 1)) || [[ ${1:-} == -* ]]; then
  echo "usage: test/run.sh [quick] [BUILD_DIR]" >&2
  exit 2
fi
build=${1:-build}
[[ $build == /* ]] || build=$root/$build
oracle=${HEDDLE_ORACLE:-$root/../shared/oracle}
newer=$oracle-newer
configs=${HEDDLE_CONFIGS:-$root/../shared/configs}
templates=${HEDDLE_TEMPLATES:-$root/../shared/chat-templates}
coded=${HEDDLE_QUANTISED:-$root/../shared/quantised-cases}
jobs=$(nproc)
slots=$((jobs + 1)) # of tests, some of which wait: for a server, a signal, a limit of time
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

# beside LABEL COMMAND...: starts a command when there is a slot; all_beside waits for those that
# were started, shows what each said and adds its total.
started=()
beside() {
  local label=$1 file=$log/${1// /-}.log
  shift
  while (($(jobs -rp | wc -l) >= slots)); do wait -n; done
  started+=("$label")
  { SECONDS=0; timeout 1800 "$@" >"$file" 2>&1 </dev/null; echo "$? $SECONDS" >"$file.status"; } &
}
all_beside() {
  local label file status seconds
  wait
  for label in "${started[@]}"; do
    file=$log/${label// /-}.log
    read -r status seconds <"$file.status"
    echo "-- $label ($seconds s)"
    cat "$file"
    tally "$label" "$status" "$file"
  done
  started=()
}
python=/usr/bin/python3

# unit NAME PROGRAM: runs a gtest program, shows what failed and its total.
unit() {
  "$2" --gtest_brief=1 --gtest_output="json:$log/$1.json" >"$log/$1.out" 2>&1
  local status=$?
  ((status == 0)) || tail -n 40 "$log/$1.out"
  $python test/support/totals.py gtest "$log/$1.json"
  return $status
}
export -f unit
export log python

say "packages"
if ! bash compiler/bootstrap.sh; then
  echo "FAIL compiler/bootstrap.sh"
  failed=1
  finish
fi

# What programs for aarch64 need is fetched while the cores build.
if [[ -z $quick ]]; then
  bash compiler/bootstrap.sh --cross >"$build.cross.log" 2>&1 &
  crossing=$!
fi

say "build"
# A build that is there stays configured as it is.
if ! { { [[ -f $build/build.ninja ]] || cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON; } >"$build.log" 2>&1 &&
       ninja -C "$build" >>"$build.log" 2>&1; }; then
  grep -E 'error|FAILED' "$build.log" | head -n 40
  tail -n 20 "$build.log"
  echo "FAIL build: the whole log is in $build.log"
  failed=1
  finish
fi
mv "$build.log" "$build/build.log"
# From here on memory that is freed, or not yet written, holds a pattern: who reads it fails every time, not once in a while.
export MALLOC_PERTURB_=165
log=$build/test-logs
rm -rf "$log" "$build/code-cache"
# Scripts keep the machine code of functions, which small models share, and most of them have LLVM make it quickly
# (support/cached.py). Without this folder they compile as users do: so does test/nightly.sh.
mkdir -p "$log" "$build/code-cache"

# Programs for aarch64 are built and tried where its libraries and an emulator can be had.
arm=
cross() {
  say "the runtime for aarch64"
  wait $crossing
  local status=$?
  mv "$build.cross.log" "$log/cross.log"
  if ((status != 0)); then
    echo "no libraries or no emulator of aarch64 (compiler/bootstrap.sh --cross): its programs are skipped"
    skipped=$((skipped + 1))
  elif ! ninja -C "$build" runtime-aarch64 >>"$log/cross.log" 2>&1; then
    grep -E 'error|FAILED' "$log/cross.log" | head -n 40
    echo "FAIL runtime-aarch64: the whole log is in $log/cross.log"
    failed=$((failed + 1))
  else
    arm=neoverse-n1
  fi
}
left_out=()
if [[ -n $quick ]]; then
  left_out=(--filter-out ' :: (Docs|GPU|Fuzz)/| :: Targets/aarch64')
else
  cross
fi

# Beside each other: the longest program of unit tests keeps one core busy.
say "unit tests and lit"
{
  timeout 2400 /usr/lib/llvm-22/bin/lit -s -v -j "$slots" --timeout 300 "${left_out[@]}" --output "$log/lit.json" "$build/test" >"$log/lit.log" 2>&1 </dev/null
  echo $? >"$log/lit.status"
} &
for program in "$build"/bin/heddle_*_test; do
  [[ -x $program ]] && beside "$(basename "$program")" bash -c 'unit "$@"' unit "$(basename "$program")" "$program"
done
all_beside
status=$(<"$log/lit.status")
((status == 0)) || head -c 60000 "$log/lit.log"
/usr/bin/python3 test/support/totals.py lit "$log/lit.json" >"$log/lit.total"
echo "lit: $(tail -n 1 "$log/lit.total")"
tally lit $status "$log/lit.total"
if [[ -n $quick ]]; then
  say "done"
  finish
fi

# Parts that compile one small model after another keep one core busy: they run beside each other, the longest first.
emulated=(--target cuda --device emulator)
judged=("$python" test/Oracle/run.py --heddle "$build/bin/heddle")
say "the oracle, examples, generation, texts, pictures and sound, the same bits, random models, servers, configs"
if [[ -f $oracle/index.json ]]; then
  # On the emulated device: 12 cases in f32, with the check for races, 25 in bf16, 12 as an sm_90a. All: test/nightly.sh.
  beside "oracle of published models" "${judged[@]}" --kind hf_model "$oracle"
  beside "oracle on the emulated device" "${judged[@]}" --binary "${emulated[@]}" --races --alone --only att_alibi_decode,att_bigbird,att_document,att_longformer,att_sink_logits,bart,bert,gemma2_softcap,gpt2,llama_gqa,mixtral,whisper "$oracle"
  beside "bf16 on the emulated device" "${judged[@]}" --binary --dtype bf16 "${emulated[@]}" --alone --listed "$oracle"
else
  echo "no oracle at ${oracle#"$root/"}: skipped"
  skipped=$((skipped + 1))
fi
beside "what 16 bits cost" $python test/Execution/storage.py --heddle "$build/bin/heddle"
beside "random models" $python test/Fuzz/random_models.py --heddle "$build/bin/heddle" --count 100
beside "mask determinism" $python test/Execution/mask_determinism.py --heddle "$build/bin/heddle" --only "mask causal,mask window,mask chunk,mask grid,mask dilated,mask keys,mask global,mask document,mask labels,mask prefix,mask blocks,mask counted,mask nested,modifier softcap,modifier buckets,modifier shaw,modifier sum,modifier sinks,modifier rotary,ring"
if [[ -f $oracle/index.json ]]; then
  beside "oracle for AVX2" "${judged[@]}" --binary --mcpu x86-64-v3 --listed "$oracle"
  beside "oracle in bf16" "${judged[@]}" --binary --dtype bf16 --listed "$oracle"
  beside "bf16 on an emulated sm_90a" "${judged[@]}" --binary --dtype bf16 "${emulated[@]}" --alone --chip sm_90a --only gpt2,llama_gqa,t5,vit,gpt_neox,t5_v1_1,att_causal,att_all_masked,att_padding_left_causal,att_window_symmetric,att_sink_logits,att_value_dim_differs "$oracle"
  beside "oracle of attention and modules" "${judged[@]}" --kind attention --kind seed_module "$oracle"
  [[ -z $arm ]] || beside "oracle for aarch64" "${judged[@]}" --binary --mcpu $arm --runner "qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu" --only gpt2,t5,deberta_v2,longformer,whisper,wav2vec2,mixtral,att_bigbird,att_alibi_decode "$oracle"
  beside "slots of the oracle's models" $python test/Serve/slots.py --heddle "$build/bin/heddle" --oracle "$oracle" --least 4 --only bloom,falcon_alibi,opt,gemma2_softcap,bert
fi
if [[ -f $newer/index.json ]]; then
  beside "oracle of newer families" "${judged[@]}" "$newer"
else
  echo "no oracle of newer families at ${newer#"$root/"}: skipped"
  skipped=$((skipped + 1))
fi
if [[ -f $coded/gptq_sym/meta.json ]]; then
  beside "quantised cases" "${judged[@]}" --math wide "$coded"
else
  echo "no cases at ${coded#"$root/"}: skipped"
  skipped=$((skipped + 1))
fi
beside "mask determinism of bf16" $python test/Execution/mask_determinism.py --dtype bf16 --heddle "$build/bin/heddle" --only "mask causal,mask grid,mask global,mask document,mask counted,mask nested,modifier softcap,modifier shaw,modifier sinks,modifier rotary"
beside "odd tokenizers" $python test/Fuzz/tokenizers.py --heddle "$build/bin/heddle" --jobs 1
beside "determinism on the emulated device" $python test/Execution/determinism.py --heddle "$build/bin/heddle" "${emulated[@]}"
beside "masks on the emulated device" $python test/Execution/mask_determinism.py --heddle "$build/bin/heddle" "${emulated[@]}" --only "mask causal,modifier softcap"
beside examples $python examples/run.py --bin "$build/bin"
beside determinism $python test/Execution/determinism.py --heddle "$build/bin/heddle"
beside "determinism of bf16" $python test/Execution/determinism.py --dtype bf16 --heddle "$build/bin/heddle"
if [[ -d $templates ]]; then
  beside "chat templates" $python test/Chat/run.py --heddle "$build/bin/heddle" "$templates"
else
  echo "no chat templates in $templates: their cases are skipped"
  skipped=$((skipped + 1))
fi
beside "determinism of int8" $python test/Execution/determinism.py --weights-dtype int8 --only stories --heddle "$build/bin/heddle"
beside "determinism of int4" $python test/Execution/determinism.py --weights-dtype int4 --only stories --heddle "$build/bin/heddle"
beside "quantised checkpoints" $python test/Execution/quantised.py --heddle "$build/bin/heddle"
beside padding $python test/Execution/padding.py --heddle "$build/bin/heddle"
beside generation $python test/Execution/generation.py --heddle "$build/bin/heddle"
beside "pictures and speech" $python test/Execution/media.py --heddle "$build/bin/heddle"
beside texts $python test/Execution/texts.py --heddle "$build/bin/heddle"
beside "talking to a model" $python test/Chat/talk.py --heddle "$build/bin/heddle"
beside "a server's API" $python test/Serve/api.py --heddle "$build/bin/heddle"
beside "a server of encoders" $python test/Serve/encoders.py --heddle "$build/bin/heddle"
beside "a server's page" $python test/Serve/page.py --heddle "$build/bin/heddle"
beside "a server's company" $python test/Serve/company.py --requests 40 --heddle "$build/bin/heddle"
beside "a server and strangers" $python test/Serve/abuse.py --heddle "$build/bin/heddle"
for file in test/Execution/*families.py; do
  beside "$(basename "$file" .py | tr _ ' ')" $python "$file" --heddle "$build/bin/heddle"
done
beside "hostile configs" $python test/Configs/hostile.py --heddle "$build/bin/heddle"
beside "what lies beside them" $python test/Configs/beside.py --heddle "$build/bin/heddle"
found=("$configs")
if [[ ! -f $configs/index.json ]]; then
  echo "no configs at ${configs#"$root/"}: skipped"
  found=() skipped=$((skipped + 1))
fi
beside "published configs" $python test/Configs/published.py --heddle "$build/bin/heddle" "${found[@]}"
all_beside

say "real size" # alone: it is timed
beside "real size" $python test/Bench/real_size.py --heddle "$build/bin/heddle"
all_beside

say "done"
finish
