#!/usr/bin/env bash
# Runs the reader's and loader's tests as 64-bit ARM code, under emulation on other machines. They compare the NEON loops
# with the portable ones, and decoded pictures with stored expectations.
#
#     scripts/test_arm.sh [ARGUMENTS OF cargo test]        default: the library's own tests and the loader's
#
# Needs the target (rustup target add aarch64-unknown-linux-gnu) and these system packages: gcc-aarch64-linux-gnu,
# g++-aarch64-linux-gnu, binfmt-support, qemu-user-static and cmake. If the kernel does not start ARM programs then, as in a
# container: mount -t binfmt_misc none /proc/sys/fs/binfmt_misc && update-binfmts --enable qemu-aarch64
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_BUILD_TARGET=aarch64-unknown-linux-gnu
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
# Where programs that the kernel starts under emulation, such as a test that starts itself, find their libraries.
export QEMU_LD_PREFIX=/usr/aarch64-linux-gnu
export CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc
export CXX_aarch64_unknown_linux_gnu=aarch64-linux-gnu-g++
if (($#)); then
  exec cargo test --locked --no-default-features "$@"
fi
packages=(format jpeg core)
cargo test --locked "${packages[@]/#/--package=vidrec-}" --lib
cargo test --locked --no-default-features --test suite -- loader::batches loader::views library::jpeg
