#!/bin/bash
# The kernels on a real GPU, step by step. Nothing is built there: a pack made on the machine that
# builds holds programs, inputs and what the emulated device answered.
#   test/GPU/on-device.sh --pack FILE [--heddle BIN] [--oracle DIR] [--times]
#     makes the pack, where Heddle is built
#   test/GPU/on-device.sh FILE [--device N|emulator] [--jobs N] [--keep-going]
#     runs it; needs python3 and a driver, nothing else
# Steps: small kernels in f32 (the emulator's bits) and bf16, with twins for sm_80; the oracle in f32;
# 20 runs, equal bits; the oracle in bf16 and its twins; 200 steps as graphs; times.
# Exit status: 0 all equal, 1 a difference, 2 wrong arguments, 77 no device.
set -euo pipefail
here=$(dirname "$0")
if [[ ${1:-} == --pack ]]; then
  exec /usr/bin/python3 "$here/on_device_pack.py" "${@:2}"
fi
exec python3 "$here/on_device.py" "$@"
