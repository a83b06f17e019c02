#!/usr/bin/env bash
# Runs tests under tools that detect out-of-bounds memory accesses and other undefined behavior.
#
#     scripts/sanitize.sh asan    AddressSanitizer: JPEG codecs, the loader, decoded frames in memory, hostile data sets
#     scripts/sanitize.sh miri    Miri: our JPEG decoder and the loader's kernel, portable and for AVX2; a few minutes
#
# Needs a nightly toolchain; Miri needs two components: rustup component add miri rust-src --toolchain nightly. Miri
# supports no C, so it excludes code that calls libjpeg-turbo or maps files, and no assembly, with which AVX-512 keeps
# constants in registers.
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc +nightly --version --verbose | sed -n 's/^host: //p')

# Naming a target keeps the sanitizer out of build scripts.
asan() {
  local test=(cargo +nightly test --locked --no-default-features --target "$host" --target-dir target/asan)
  # Some tests ask for more memory than there is, and expect an error. Threads that helped keep their stop when they end.
  export RUSTFLAGS="-Zsanitizer=address" RUSTDOCFLAGS="-Zsanitizer=address"
  export ASAN_OPTIONS="allocator_may_return_null=1:detect_leaks=0"
  "${test[@]}" --package vidrec-format --package vidrec-jpeg --package vidrec-core --lib -- --skip videos
  "${test[@]}" --test suite -- loader::batches loader::views decoded_cache:: library::hostile library::jpeg
}

# Miri supports the CPU features that it is compiled with; the portable code runs in any case.
miri() {
  # Proptest reads its files of earlier failures, hence no isolation.
  MIRIFLAGS=-Zmiri-disable-isolation RUSTFLAGS="-C target-feature=+avx2,+bmi1,+bmi2" \
    cargo +nightly miri test --locked --package vidrec-jpeg --package vidrec-core --lib --target-dir target/miri -- \
    tile_decoder::{bits,huffman,mcu} tile_decoder::tests::alone kernel::tests::{a_slot,a_gray_picture,ycbcr_pictures}
}

case "${1:-}" in
  asan | miri) "$1" ;;
  *) echo "usage: scripts/sanitize.sh asan|miri" >&2; exit 2 ;;
esac
