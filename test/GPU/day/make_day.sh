#!/bin/bash
# Makes everything that travels to a machine with a GPU, into one folder.
set -euo pipefail
usage() {
  cat << 'END'
usage: test/GPU/day/make_day.sh [FOLDER] [--heddle BIN] [--oracle DIR] [--small]

FOLDER (gpu-day) gets small.pack, gpu.pack and programs.txz, which `day.sh` runs.
  --heddle BIN   the compiler (build/bin/heddle)
  --oracle DIR   recorded cases of published models for gpu.pack; without them there is no gpu.pack
  --small        for a rehearsal, in seconds: no gpu.pack, no models of zeros, no -O1 twins
END
}
wrong() {
  echo "make_day.sh: $1" >&2
  usage >&2
  exit 2
}

day=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$day/../../.." && pwd)
folder='' heddle=$root/build/bin/heddle oracle='' small=''
while (($#)); do
  case $1 in
    --heddle | --oracle)
      [[ $# -ge 2 ]] || wrong "$1 expects a path"
      if [[ $1 == --heddle ]]; then heddle=$2; else oracle=$2; fi
      shift
      ;;
    --small) small=1 ;;
    -h | --help) usage && exit 0 ;;
    -*) wrong "unknown option $1" ;;
    *)
      [[ -z $folder ]] || wrong "expected one folder, got $folder and $1"
      folder=$1
      ;;
  esac
  shift
done
folder=${folder:-gpu-day}
[[ -x $heddle && ! -d $heddle ]] ||
  wrong "expected the compiler at $heddle: build it, or give --heddle BIN"
[[ -z $oracle || -d $oracle ]] || wrong "expected a folder of cases, got --oracle $oracle"
heddle=$(realpath "$heddle")
mkdir -p "$folder"
folder=$(realpath "$folder")
rm -f "$folder"/{small.pack,gpu.pack,programs.txz}

# Everything is made in `work`; only what is whole gets into the folder.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
programs=$work/programs
mkdir "$programs"
/usr/bin/python3 "$day/big_models.py" models "$work"
cache=() && [[ ! -d $(dirname "$heddle")/../code-cache ]] || cache=(--code-cache="$(dirname "$heddle")/../code-cache") # of test/run.sh
compile() { # MODEL PROGRAM FLAG...
  "$heddle" compile "$work/$1" --target=cuda --dtype=bf16 -o "$programs/$2" "${cache[@]}" "${@:3}" > "$work/log"
}

# Programs for both chips, whose emulated kernels are those of sm_90a, and twins for sm_80 alone.
for model in linear attention64 attention128; do
  compile $model.json $model --mcpu=sm_90a+sm_80 --emulate
  compile $model.json ${model}_sm80 --mcpu=sm_80 --emulate
done
cp "$work/linear.safetensors" "$programs"

if [[ -z $small ]]; then
  # The same PTX assembled with -O1: another machine code of a kernel that is suspected.
  if assembler=$(command -v ptxas); then
    mkdir "$work/O1"
    printf '#!/bin/sh\nexec %q -O1 "$@"\n' "$assembler" > "$work/O1/ptxas"
    chmod +x "$work/O1/ptxas"
    for model in linear attention64 attention128; do
      PATH=$work/O1:$PATH compile $model.json ${model}_O1 --mcpu=sm_90a --cubin
    done
  else
    echo "make_day.sh: no ptxas on the path, so there are no -O1 twins"
  fi
  compile linear4096_zeros.json linear4096_zeros
  compile gelu_zeros.json gelu_zeros
  "$root/test/Bench/make_gpt2.py" "$work/gpt2" --zeros > "$work/log"
  compile gpt2 gpt2_zeros
fi
# By Python, as packs are: not every machine has xz.
if [[ -n $small ]]; then preset=3; else preset=9; fi
/usr/bin/python3 - "$work/programs.txz" "$programs" $preset << 'END'
import sys, tarfile
archive, programs, preset = sys.argv[1:]
with tarfile.open(archive, "w:xz", preset=int(preset)) as f:
    f.add(programs, ".")
END

[[ -z $oracle ]] || oracle=$(realpath "$oracle")
cd "$work"
"$root/test/GPU/on-device.sh" --pack small.pack --heddle "$heddle"
if [[ -z $small && -n $oracle ]]; then
  "$root/test/GPU/on-device.sh" --pack gpu.pack --heddle "$heddle" --oracle "$oracle" --times
elif [[ -z $small ]]; then
  echo "make_day.sh: without --oracle there is no gpu.pack; day.sh skips its step"
fi
for file in "$work"/{small.pack,gpu.pack,programs.txz}; do
  [[ ! -e $file ]] || mv "$file" "$folder"
done

# At most 64 MiB travel: this folder and the tracked files.
mib() { echo $((($(du -cb "$@" | tail -1 | cut -f1) + 1048575) >> 20)); }
du -m "$folder"/*.{pack,txz}
tracked=''
if git -C "$root" ls-files -z > "$work/tracked" 2> /dev/null; then
  tracked=", $(cd "$root" && mib --files0-from="$work/tracked") MiB of tracked files travel with it"
fi
echo "$folder: $(mib "$folder") MiB$tracked"
