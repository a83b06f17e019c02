#!/usr/bin/env bash
# Compares two checkouts of vidrec: do both pack the same bytes, and do their loaders give the same batches?
#
#     scripts/same_bytes.sh OLD NEW VIDEOS
#
# OLD and NEW are the roots of two checkouts, VIDEOS is a folder of videos. Builds both in release mode, packs with many
# settings, and compares the SHA-256 of every file and of every batch. Prints what differs, and fails if anything does.
set -euo pipefail

(($# == 3)) || { sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2; }
old=$(realpath "$1") new=$(realpath "$2") videos=$(realpath "$3")
here=$(realpath "$(dirname "$0")/..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

settings=(
  "frames: --frames 4"
  "fps: --fps 4 --max-frames 16"
  "random: --frames 3 --sample random --draws 2 --seed 5"
  "keyframes: --keyframes --max-frames 4"
  "size: --frames 2 --size 96 --quality 75"
  "original: --frames 2 --size original --effort 0"
  "shards: --frames 4 --size 64 --shards 1MB"
)

build() { # ROOT
  # Versions before the example was there take today's.
  [ -e "$1/examples/batch_digests.rs" ] || cp "$here/examples/batch_digests.rs" "$1/examples/"
  (cd "$1" && cargo build --quiet --locked --release --bin vidrec --example batch_digests)
}

# Everything that a version makes: digests of files, without times and versions of tools, and of batches.
digests() { # ROOT
  local program=$1/target/release/vidrec line name
  rm -rf "$scratch/sets" && mkdir "$scratch/sets"
  cd "$scratch/sets"
  for line in "${settings[@]}"; do
    name=${line%%:*}
    # Some of the videos may be damaged: then the status is 3.
    read -ra options <<< "${line#*:}"
    "$program" pack "$videos" -o "$name" "${options[@]}" > "$scratch/log" 2>&1 || (($? == 3)) || { cat "$scratch/log"; exit 1; }
    "$program" verify "$name" > "$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
  done
  find . -type f ! -name '.*' -print0 | sort --zero-terminated | xargs --null sha256sum
  "$1/target/release/examples/batch_digests" "$here/tests/corpus/batches.txt" frames size original shards random
}

build "$old"
build "$new"
(digests "$old") > "$scratch/old"
(digests "$new") > "$scratch/new"
echo "$(wc -l < "$scratch/new") digests of files and batches"
diff "$scratch/old" "$scratch/new" && echo "the same bytes"
