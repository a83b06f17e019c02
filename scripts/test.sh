#!/usr/bin/env bash
# Runs all checks: format, lints, tests, the reader without FFmpeg, documentation, Python on what was packed, and
# other projects' readers and writers.
#
#     scripts/test.sh            all of them
#     scripts/test.sh STAGE...   only these: fmt clippy test no-ffmpeg doc python interop
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

formatted() { cargo fmt --check; }

lints() {
  local features
  for features in --features=default --no-default-features "--no-default-features --features=cli"; do
    # Unquoted: two options.
    cargo clippy --quiet --locked --all-targets $features -- -D warnings
  done
}

tests() { cargo test --quiet --locked; }

# Its own folder, so that hiding pkg-config does not make the other builds stale.
without_ffmpeg() {
  if cargo tree --locked --edges normal,build --no-default-features --features cli | grep ffmpeg; then
    echo "the program without 'pack' depends on FFmpeg" >&2
    return 1
  fi
  PKG_CONFIG=/bin/false LIBCLANG_PATH=/nonexistent \
    cargo build --quiet --locked --no-default-features --features cli --target-dir target/no-ffmpeg
  if ldd target/no-ffmpeg/debug/vidrec | grep -E 'libav|libsw'; then
    echo "the program without 'pack' is linked to FFmpeg" >&2
    return 1
  fi
  target/no-ffmpeg/debug/vidrec verify --deep format-spec/vectors/good/two-shards
}

documentation() { RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps; }

python_environment() {
  local wanted
  wanted=$(python3 --version | cat - tests/python/requirements.txt | sha256sum)
  [ "$(cat target/venv/made-for 2> /dev/null)" = "$wanted" ] && return
  rm -rf target/venv
  python3 -m venv target/venv
  target/venv/bin/pip install --quiet --disable-pip-version-check --requirement tests/python/requirements.txt
  echo "$wanted" > target/venv/made-for
}

python_tests() {
  cargo build --quiet --locked --bins --examples
  python_environment
  target/venv/bin/python -m pytest --quiet -p no:cacheprovider tests/python
}

interop_tests() {
  cargo build --quiet --locked --bins --examples
  scripts/interop.sh
}

summary=()
stage() { # NAME FUNCTION DESCRIPTION
  local begin=$SECONDS took
  [[ -z "$chosen" || " $chosen " == *" $1 "* ]] || return 0
  echo "==> $1: $3"
  # In a shell of its own, because errexit does not hold in a function that is part of a condition.
  set +e
  (set -e; "$2") < /dev/null
  local status=$?
  set -e
  took="$((SECONDS - begin)) s"
  if ((status)); then
    echo "FAILED in stage $1 after $took" >&2
    exit 1
  fi
  summary+=("$(printf '%-10s %6s' "$1" "$took")")
}

chosen="$*"
for name in "$@"; do
  [[ " fmt clippy test no-ffmpeg doc python interop " == *" $name "* ]] || { echo "no stage $name" >&2; exit 2; }
done
stage fmt formatted "is the code formatted?"
stage clippy lints "lints, with all features, with none, and for the program without FFmpeg"
stage test tests "unit, integration and documentation tests"
stage no-ffmpeg without_ffmpeg "the reading half builds and runs where there is no FFmpeg"
stage doc documentation "the documentation builds without a warning"
stage python python_tests "the independent reader, and packed data sets against PyAV, Pillow and OpenCV"
stage interop interop_tests "other projects' readers and writers: MXNet, DALI, GulpIO2, WebDataset, streaming"
echo "==> all passed"
printf '%s\n' "${summary[@]}"
