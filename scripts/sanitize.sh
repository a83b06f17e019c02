#!/usr/bin/env bash
# Runs tests where reads and writes outside of memory, and whatever else is undefined, are found.
#
#     scripts/sanitize.sh asan    AddressSanitizer: the JPEG decoders, the loader, hostile data sets
#     scripts/sanitize.sh miri    Miri: our JPEG decoder and the loader's kernel, portable and for AVX2; some minutes
#
# Needs a nightly toolchain; Miri needs its parts: rustup component add miri rust-src --toolchain nightly. Miri knows no
# C, so what calls libjpeg-turbo or maps files is left out, and no assembler, with which the kernel writes past the cache.
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc +nightly --version --verbose | sed -n 's/^host: //p')

# A target is named, so that the sanitizer is in the tests alone and not in build scripts.
asan() {
  local test=(cargo +nightly test --locked --no-default-features --target "$host" --target-dir target/asan)
  export RUSTFLAGS="-Zsanitizer=address" RUSTDOCFLAGS="-Zsanitizer=address"
  "${test[@]}" --lib -- jpeg loader map storage format
  "${test[@]}" --test loader -- batches decoder views
  "${test[@]}" --test library -- hostile jpeg
}

# Miri has the features that it is compiled with, and the portable code is run in any case.
miri() {
  # Proptest looks for its files of failures.
  MIRIFLAGS=-Zmiri-disable-isolation RUSTFLAGS="-C target-feature=+avx2,+bmi1,+bmi2" \
    cargo +nightly miri test --locked --no-default-features --lib --target-dir target/miri -- \
    jpeg::own::{bits,huffman,steps,blocks} jpeg::own::tests::alone \
    loader::kernel::tests::{a_slot,a_gray_picture,ycbcr_pictures}
}

case "${1:-}" in
  asan | miri) "$1" ;;
  *) echo "usage: scripts/sanitize.sh asan|miri" >&2; exit 2 ;;
esac
