#!/bin/bash
# The kernels on a real GPU, step by step, stopping at the first difference. Nothing is built there: a pack made on the machine that
# builds holds programs, inputs and what the emulated device answered.
#   test/GPU/on-device.sh --pack FILE [--heddle BIN] [--oracle DIR] [--times]     make the pack, where Heddle is built
#   test/GPU/on-device.sh FILE [--device N|emulator]                                   run it; needs python3 and a driver, nothing else
# Steps: four smallest kernels; f32 of the oracle, the emulator's bits; 20 runs, equal bits; bf16; 200 steps as graphs; times.
# Exit status: 0 all equal, 1 a difference, 77 no device.
set -euo pipefail
here=$(dirname "$0")
if [[ ${1:-} == --pack ]]; then
  exec /usr/bin/python3 "$here/on_device_pack.py" "${@:2}"
fi
exec python3 "$here/on_device.py" "$@"
