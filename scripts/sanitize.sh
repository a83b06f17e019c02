#!/usr/bin/env bash
# Runs tests where reads and writes outside of memory, and whatever else is undefined, are found.
#
#     scripts/sanitize.sh asan    AddressSanitizer: the JPEG decoders, the loader, hostile data sets
#     scripts/sanitize.sh miri    Miri: our JPEG decoder and the loader's kernel, portable and for AVX2
#
# Needs a nightly toolchain; Miri needs its parts: rustup component add miri rust-src --toolchain nightly. Miri knows no
# C, so what calls libjpeg-turbo or maps files is left out.
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc +nightly --version --verbose | sed -n 's/^host: //p')

# A target is named, so that the sanitizer is in the tests alone and not in build scripts.
asan() {
  local test=(cargo +nightly test --locked --no-default-features --target "$host" --target-dir target/asan)
  export RUSTFLAGS="-Zsanitizer=address" RUSTDOCFLAGS="-Zsanitizer=address"
  "${test[@]}" --lib -- jpeg loader map storage format
  "${test[@]}" --test hostile --test loader --test loader_decoder --test loader_views --test jpeg
}

miri() {
  local avx2="-C target-feature=+avx2,+bmi1,+bmi2"
  # Proptest looks for its files of failures.
  export MIRIFLAGS=-Zmiri-disable-isolation
  for flags in "" "$avx2"; do
    RUSTFLAGS="$flags" cargo +nightly miri test --locked --no-default-features --lib --target-dir target/miri -- \
      jpeg::own::bits jpeg::own::huffman jpeg::own::tests::alone
  done
}

case "${1:-}" in
  asan | miri) "$1" ;;
  *) echo "usage: scripts/sanitize.sh asan|miri" >&2; exit 2 ;;
esac
