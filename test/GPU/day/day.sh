#!/bin/bash
# What is run on the machine with a GPU, from the files of make_day.sh.
set -uo pipefail
usage() {
  cat << 'END'
usage: test/GPU/day/day.sh first|speed [OPTION...]
       test/GPU/day/day.sh kernel ARCHIVE PROGRAM INPUT [OPTION...]

first   is it right? Probes, the small pack, big shapes, the assembler's log, the whole pack
speed   how fast is it? Rivals, GPT-2, times of single kernels
kernel  which kernel is wrong? ARCHIVE is a file of the folder (gpu.pack, small.pack, programs.txz),
        PROGRAM a program in it, INPUT a file in it, or a length where the archive is programs.txz

  --folder DIR   what make_day.sh made (gpu-day)
  --device N     the GPU (0), or `emulator` for a rehearsal: short shapes, no limits of time
  --logs DIR     the output of each step, a file each (FOLDER/logs)
  --jobs N       cases that run at the same time (one a processor, at most 8)

Each step has a limit of time, and a step that fails ends no other. Exit status: 0 all right,
1 a step failed, 2 wrong arguments, 77 every step was skipped.
END
}
wrong() {
  echo "day.sh: $1" >&2
  usage >&2
  exit 2
}

day=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$day/../../.." && pwd)
folder=gpu-day device=0 logs='' jobs=$(nproc) words=()
((jobs <= 8)) || jobs=8
while (($#)); do
  case $1 in
    --folder | --device | --logs | --jobs)
      [[ $# -ge 2 ]] || wrong "$1 expects a value"
      case $1 in
        --folder) folder=$2 ;;
        --device) device=$2 ;;
        --logs) logs=$2 ;;
        --jobs) jobs=$2 ;;
      esac
      shift
      ;;
    -h | --help) usage && exit 0 ;;
    -*) wrong "unknown option $1" ;;
    *) words+=("$1") ;;
  esac
  shift
done
case ${words[0]:-} in
  first | speed) ((${#words[@]} == 1)) || wrong "unexpected argument ${words[1]}" ;;
  kernel) ((${#words[@]} == 4)) || wrong "kernel expects ARCHIVE PROGRAM INPUT" ;;
  '') wrong "expected first, speed or kernel" ;;
  *) wrong "expected first, speed or kernel, got ${words[0]}" ;;
esac
[[ $jobs =~ ^[1-9][0-9]*$ ]] || wrong "expected a number of jobs, got $jobs"
[[ -e $folder/programs.txz ]] || wrong "expected the files of make_day.sh in $folder"
python=''
for one in python3 /usr/bin/python3; do
  if [[ -z $python ]] && "$one" -c 'import numpy' 2> /dev/null; then python=$one; fi
done
[[ -n $python ]] || wrong "expected a python3 with numpy"
logs=${logs:-$folder/logs}
mkdir -p "$logs" || exit 2
more=: && [[ $device != *:* ]] || more=, # in front of another word of the device
emulated='' && [[ $device != emulator* ]] || emulated=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONUNBUFFERED=1 # a step that is ended by its limit has printed what it knows
for place in /usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/lib64 /usr/lib/x86_64-linux-gnu; do
  [[ -z $emulated && -e $place/libcuda.so.1 ]] || continue
  export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$place
  break
done
loads='import ctypes; ctypes.CDLL("libcuda.so.1")'
if [[ -z $emulated ]] && ! said=$("$python" -c "$loads" 2>&1); then
  echo "day.sh: skipped: no driver ($(tail -1 <<< "$said")); --device emulator rehearses"
  exit 77
fi

results=() passed=0 failed=0
skip() { # NAME WHY
  echo "== $1: skipped: $2"
  results+=("skipped  $1 ($2)")
}
step() { # NAME SECONDS COMMAND...
  local name=$1 limit=$2 start=$SECONDS status
  shift 2
  echo "== $name"
  if [[ -n $emulated ]]; then
    "$@" 2>&1 | tee "$logs/$name.log"
  else
    timeout -k 5 "$limit" "$@" 2>&1 | tee "$logs/$name.log"
  fi
  status=${PIPESTATUS[0]}
  local took="$((SECONDS - start)) s" why="exit status $status"
  case $status in
    0) passed=$((passed + 1)) && results+=("ok       $name ($took)") ;;
    77) results+=("skipped  $name ($(tail -1 "$logs/$name.log" | sed 's/^.*skipped: //'))") ;;
    *)
      [[ $status != 124 && $status != 137 ]] || why="ended by its limit of $limit s"
      failed=$((failed + 1)) && results+=("FAILED   $name ($why, $took)")
      ;;
  esac
  return "$status"
}
unpack() { # ARCHIVE, by Python: where a GPU is there may be no xz
  "$python" -W ignore - "$folder/$1" "$work/$1" << 'END'
import sys, tarfile
with tarfile.open(sys.argv[1]) as f:
    f.extractall(sys.argv[2])
END
}
pack() { # NAME SECONDS
  if [[ -e $folder/$1 ]]; then
    step "$1" "$2" "$root/test/GPU/on-device.sh" "$folder/$1" --device "$device" \
      --jobs "$jobs" --keep-going
  else
    skip "$1" "not made"
  fi
}

environment() {
  if command -v nvidia-smi > /dev/null; then
    nvidia-smi --format=csv,noheader \
      --query-gpu=name,driver_version,memory.total,compute_mode,clocks.sm
  fi
  ldd --version | head -1
  "$python" --version
  command -v ncu compute-sanitizer cuda-gdb ptxas
}

first() {
  environment | tee "$logs/environment.log"
  step probe 60 "$python" "$day/probe.py"
  pack small.pack 90
  unpack programs.txz
  step big 150 "$python" "$day/big.py" "$work/programs.txz" --device "$device" ${emulated:+--small}
  # What the assembler says of kernels with tiles: the driver's own log, which may hold warnings.
  for model in linear attention64; do
    "$python" "$day/big_models.py" input $model 17 "$work/in"
    step "log-$model" 20 "$work/programs.txz/$model" run --input "$work/in" --output "$work/out" \
      --device "$device${more}log"
  done
  pack gpu.pack 330
}

# PROGRAM ARGUMENTS...: times of its kernels, by ncu, or by the program's own events.
kernel_times() {
  local bench=("$work/programs.txz/$1" bench "${@:2}" --device)
  if command -v ncu > /dev/null; then
    local ncu=(ncu --clock-control none --cache-control none --metrics gpu__time_duration.sum --csv)
    step "ncu-$1" 120 "${ncu[@]}" "${bench[@]}" "$device" > /dev/null
    "$python" "$day/times.py" "$logs/ncu-$1.log" && return
  fi
  step "timed-$1" 60 "${bench[@]}" "$device${more}timed"
}

# MODEL LENGTH
model_times() {
  "$python" "$day/big_models.py" input "$1" "$2" "$work/in"
  kernel_times "$1" --input "$work/in"
}

speed() {
  [[ -z $emulated ]] || { skip speed "an emulator has no speed" && return; }
  step rivals 150 "$python" "$day/rivals.py"
  unpack programs.txz
  for zeros in "$work"/programs.txz/*_zeros; do
    [[ ! -e $zeros ]] || "$python" "$day/fill_random.py" "$zeros"
  done
  if [[ -e $work/programs.txz/gpt2_zeros ]]; then
    step gpt2 60 "$work/programs.txz/gpt2_zeros" bench --device "$device" \
      --prompt-tokens 512 --new-tokens 128
    kernel_times gpt2_zeros --prompt-tokens 512 --new-tokens 4
    model_times linear4096_zeros 4096
    model_times gelu_zeros 1024
  else
    skip gpt2 "programs.txz was made with --small"
  fi
  model_times attention64 8192
  model_times attention128 8192
}

kernel() { # ARCHIVE PROGRAM INPUT
  [[ -e $folder/$1 ]] || wrong "expected a file of $folder, got $1"
  unpack "$1"
  local program=$work/$1/$2 input=$work/$1/$3
  [[ -x $program ]] || wrong "expected a program of $1, got $2"
  if [[ ! -e $input && $1 == programs.txz && $3 =~ ^[1-9][0-9]*$ ]]; then
    input=$work/in
    local model=${2%_sm80}
    "$python" "$day/big_models.py" input "${model%_O1}" "$3" "$input" || exit 2
  fi
  [[ -e $input ]] || wrong "expected a file of $1 or a length, got $3"
  local run=("$program" run --input "$input" --output "$work/out" --device)
  step log 60 "${run[@]}" "$device${more}log"
  step checked 60 "${run[@]}" "$device${more}checked"
  # In f32 a device has the emulator's bits; in bf16 the units of a chip may round otherwise.
  local rounded=--rounded
  if "$program" info | grep -q '^numbers: stored as f32'; then rounded=''; fi
  step digest 120 "$python" "$day/digests.py" "$program" --input "$input" \
    --device "$device" $rounded
  for tool in memcheck racecheck initcheck; do
    if [[ -n $emulated ]] || ! command -v compute-sanitizer > /dev/null; then
      skip $tool "no compute-sanitizer here"
    else
      step $tool 180 compute-sanitizer --error-exitcode 1 --tool $tool "${run[@]}" "$device"
    fi
  done
}

"${words[@]}"
printf '== %s\n' "${words[0]}"
printf '%s\n' "${results[@]}"
((failed == 0)) || exit 1
((passed > 0)) || exit 77
