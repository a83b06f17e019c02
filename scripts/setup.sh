#!/usr/bin/env bash
# Installs everything needed to build and test vidrec on Debian or Ubuntu. If nothing is missing, it exits at once and needs
# no network. Other scripts source it.
set -euo pipefail

# rustup's folder is on the PATH of login shells only.
command -v cargo > /dev/null || export PATH="$HOME/.cargo/bin:$PATH"

# Installs Debian packages as root, or with sudo if that asks for no password.
install_packages() {
  local as_root=()
  ((EUID == 0)) || as_root=(sudo -n)
  "${as_root[@]}" apt-get update --quiet &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@"
}

missing=()
program() { command -v "$1" > /dev/null || missing+=("$2"); }
library() { pkg-config --exists "$1" 2> /dev/null || missing+=("$2"); }

program gcc gcc
program g++ g++
program make make
program pkg-config pkg-config
program cmake cmake # libjpeg-turbo is built from source,
program nasm nasm   # with its assembly
program ffmpeg ffmpeg # generates the videos of tests and demo
for part in codec format util; do library "libav$part" "libav$part-dev"; done
library libswscale libswscale-dev
# bindgen reads FFmpeg's headers through libclang.
program clang clang
compgen -G '/usr/lib/llvm-*/lib/libclang*.so*' > /dev/null || missing+=(libclang-dev)
program python3 python3
# Linux alone has it; tests count a program's system calls with it.
[ "$(uname -s)" != Linux ] || program strace strace
python3 -c 'import ensurepip, venv' 2> /dev/null || missing+=(python3-venv python3-pip)

if ((${#missing[@]})); then
  if ! command -v apt-get > /dev/null; then
    echo "setup: missing packages, by their Debian names: ${missing[*]}" >&2
    exit 1
  elif ((EUID != 0)) && ! sudo -n true 2> /dev/null; then
    echo "setup: some packages are missing; to install them, run:" >&2
    echo "    sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  echo "setup: installing ${missing[*]}"
  install_packages "${missing[@]}"
fi

rust_needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "${BASH_SOURCE[0]}")/../Cargo.toml")
rust_found=$(rustc --version 2> /dev/null | cut -d ' ' -f 2) || true
if [ "$(printf '%s\n' "$rust_needed" "${rust_found:-0}" | sort --version-sort | head -n 1)" != "$rust_needed" ]; then
  echo "setup: needs Rust $rust_needed or newer, found ${rust_found:-none}; see https://rustup.rs or run 'rustup update'" >&2
  exit 1
fi
