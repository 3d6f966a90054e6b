#!/bin/bash
# Installs every Debian package that Heddle is built and tested with. Where all of
# them are there it only asks dpkg, which takes a few milliseconds; otherwise it
# needs root or sudo. `compiler/bootstrap.sh --list` prints the packages; `--sanitizers`
# adds what test/sanitize.sh links with, `--cross` what programs for aarch64 are built and
# tried with (libraries, an emulator; 25 MB).
set -euo pipefail

packages=(
  cmake ninja-build g++ clang-22                                         # the build
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools lld-22          # MLIR, lit, FileCheck, the linker
  libzstd-dev                                                            # what LLVM's archives need beside zlib
  nlohmann-json3-dev libabsl-dev libcli11-dev                            # readers of files, the command line
  libutf8proc-dev zlib1g-dev                                             # tokenizers
  libpng-dev libjpeg62-turbo-dev                                         # pictures in
  libevent-dev curl                                                      # a model as a server
  libgtest-dev python3 python3-numpy python3-psutil                      # tests
  clang-format-22                                                        # how sources look
)
if [[ ${1:-} == --list ]]; then
  printf '%s\n' "${packages[@]}"
  exit 0
fi
case ${1:-} in
  --sanitizers) packages+=(libclang-rt-22-dev) ;;
  --cross) packages+=(libstdc++-12-dev-arm64-cross qemu-user) ;;
esac

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $state == installed ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

echo "bootstrap: installing ${missing[*]}"
sudo=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "bootstrap: error: not root and there is no sudo; install these packages: ${missing[*]}" >&2
    exit 1
  fi
  sudo=(sudo)
fi
"${sudo[@]}" apt-get update -q
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
