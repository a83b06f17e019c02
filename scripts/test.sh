#!/usr/bin/env bash
# Runs all checks: format, imports, lints, tests, the reader without FFmpeg, documentation, Python on packed data sets,
# servers of object storage, other projects' readers and writers, and the site of the documentation. The last lines say how
# long each stage took.
#
#     scripts/test.sh            all of them
#     scripts/test.sh STAGE...   only these: fmt imports deny clippy test no-ffmpeg doc python package remote interop docs
#     scripts/test.sh frameworks trains with candle and burn, which take minutes to compile; not part of the above
#     scripts/test.sh cluster    installs Ray, Spark and Slurm, 2 GB, and packs with them; not part of the above
#     scripts/test.sh crates     builds each crate from what crates.io would get of it, and with the oldest Rust; not part of the above
#     scripts/test.sh release    builds and tests the release; slow, so not part of the above
#
# A test that cannot run on this machine says so and is skipped. With VIDREC_REQUIRE=1 it fails.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

# All crates but those of the Python package, which need Python.
RUST=(--workspace --exclude vidrec-python --exclude vidrec-cli)

formatted() {
  cargo fmt --all --check
  cargo fmt --check --manifest-path examples/rust-frameworks/Cargo.toml
}

imports() { timeout 60 python3 scripts/imports.py; }

# Nobody offers cargo-deny of today in built form but GitHub, so this compiles it, once, without optimization. If that fails,
# the check is skipped.
cargo_deny() {
  command -v cargo-deny && return
  local program=$PWD/target/tools/bin/cargo-deny
  [ -x "$program" ] || cargo install --quiet --locked --debug --root target/tools cargo-deny@0.20.2 >&2 || true
  [ -x "$program" ] && echo "$program"
}

# The versions of Cargo.lock that need a newer Rust than Cargo.toml promises. Lints find what our own code needs.
newer_rust() {
  cargo metadata --locked --format-version 1 --all-features | python3 -c '
import json, sys
def version(text): return [int(number) for number in text.split(".")[:2]]
packages = json.load(sys.stdin)["packages"]
(ours,) = [package["rust_version"] for package in packages if package["name"] == "vidrec"]
newer = [package for package in packages if version(package["rust_version"] or ours) > version(ours)]
for package in newer: print("{name} {version} needs Rust {rust_version}".format(**package), file=sys.stderr)
sys.exit(bool(newer))'
}

# Advisories where there is a database of them: .cargo/advisory-dbs is where cargo-deny keeps it.
dependencies() {
  local program
  newer_rust
  if ! program=$(cargo_deny); then
    echo "no cargo-deny: licenses, sources and duplicates of dependencies are not checked" >&2
    [ -z "${VIDREC_REQUIRE:-}" ]
    return
  fi
  "$program" --locked check --hide-inclusion-graph bans licenses sources
  if compgen -G "${CARGO_HOME:-$HOME/.cargo}/advisory-dbs/*" > /dev/null; then
    "$program" --locked --offline check --hide-inclusion-graph advisories
  fi
}

# Test programs are linted with all features: what they use of the library is there in each set.
lints() {
  cargo clippy --quiet --locked "${RUST[@]}" --all-targets -- -D warnings
  cargo clippy --quiet --locked --lib --bins --no-default-features --features cli -- -D warnings
  cargo clippy --quiet --locked --lib --bins --no-default-features --features cli,pack -- -D warnings
  cargo clippy --quiet --locked --lib --no-default-features -- -D warnings
}

tests() {
  cargo test --quiet --locked "${RUST[@]}"
}

# And without what reads from servers: the smallest program. Without pkg-config and libclang, which only FFmpeg's bindings need, so no other crate is built again for lack of them.
# With an example, because Cargo then chooses the features of the dependencies as it does for tests, and takes what it
# has compiled for those.
without_ffmpeg() {
  if cargo tree --locked --edges normal,build --no-default-features --features cli,interop,remote | grep ffmpeg; then
    echo "the program without the feature 'pack' depends on FFmpeg" >&2
    return 1
  fi
  PKG_CONFIG=/bin/false LIBCLANG_PATH=/nonexistent \
    cargo build --quiet --locked --no-default-features --features cli --bin vidrec --example train_loop
  # The next build with FFmpeg replaces the program.
  cp target/debug/vidrec target/vidrec-without-ffmpeg
  if ldd target/vidrec-without-ffmpeg | grep -E 'libav|libsw'; then
    echo "the program without the feature 'pack' is linked to FFmpeg" >&2
    return 1
  fi
  target/vidrec-without-ffmpeg verify --deep format-spec/vectors/good/two-shards
  if target/vidrec-without-ffmpeg pack videos -o train 2> target/vidrec-without-ffmpeg.txt; then return 1; fi
  grep --quiet "built without FFmpeg" target/vidrec-without-ffmpeg.txt
  if target/vidrec-without-ffmpeg import frames videos -o train 2> target/vidrec-without-ffmpeg.txt; then return 1; fi
  grep --quiet "feature \"interop\"" target/vidrec-without-ffmpeg.txt
  if target/vidrec-without-ffmpeg browse train 2> target/vidrec-without-ffmpeg.txt; then return 1; fi
  grep --quiet 'built without its feature "remote"' target/vidrec-without-ffmpeg.txt
  if target/vidrec-without-ffmpeg fetch https://example.org/train -o train 2> target/vidrec-without-ffmpeg.txt; then return 1; fi
  grep --quiet 'built without its feature "remote"' target/vidrec-without-ffmpeg.txt
  if target/vidrec-without-ffmpeg verify https://example.org/train 2> target/vidrec-without-ffmpeg.txt; then return 1; fi
  grep --quiet 'built without its feature "remote"' target/vidrec-without-ffmpeg.txt
}

documentation() {
  RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps "${RUST[@]}" --exclude fault-proxy
  scripts/public_api.py
}

python_environment() {
  local wanted
  wanted=$(python3 --version | cat - tests/python/requirements.txt | sha256sum)
  [ "$(cat target/venv/made-for 2> /dev/null)" = "$wanted" ] && return
  rm -rf target/venv
  python3 -m venv target/venv
  target/venv/bin/pip install --quiet --disable-pip-version-check --requirement tests/python/requirements.txt
  echo "$wanted" > target/venv/made-for
}

# The browser that opens the pages of `vidrec report` and of the documentation: if there is none, this installs Debian's
# (470 MB). If that fails, the tests that need it are skipped.
browser() {
  command -v chromium chromium-browser google-chrome > /dev/null && return
  command -v apt-get > /dev/null && install_packages chromium >&2 || true
}

python_tests() {
  cargo build --quiet --locked --bins --examples
  browser
  python_environment
  target/venv/bin/python -m pytest --quiet -r s -p no:cacheprovider --ignore tests/python/package tests/python
}

has_torch() { "$1" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("torch") is None)' 2> /dev/null; }

# A Python that has torch: VIDREC_PYTHON, python3, or the system's. PyPI's torch for Linux brings gigabytes of CUDA, so if
# no Python has torch, this installs Debian's, and torchvision (360 MB). If that fails, the tests that need torch are skipped.
python_with_torch() {
  local python
  for python in ${VIDREC_PYTHON:+"$VIDREC_PYTHON"} python3 /usr/bin/python3; do
    has_torch "$python" && { echo "$python"; return; }
  done
  if [ -z "${VIDREC_PYTHON:-}" ] && command -v apt-get > /dev/null; then
    install_packages python3-torch python3-torchvision python3-venv >&2 || true
    has_torch /usr/bin/python3 && { echo /usr/bin/python3; return; }
  fi
  echo "no Python with torch: tests that need it are skipped" >&2
  echo "${VIDREC_PYTHON:-python3}"
}

package_environment() {
  local python wanted
  python=$(python_with_torch)
  wanted=$("$python" --version | cat - tests/python/requirements-{package,frameworks}.txt <(echo "$python") | sha256sum)
  [ "$(cat target/venv-package/made-for 2> /dev/null)" = "$wanted" ] && return
  rm -rf target/venv-package
  "$python" -m venv --system-site-packages target/venv-package
  target/venv-package/bin/pip install --quiet --disable-pip-version-check \
    --requirement tests/python/requirements-package.txt
  if has_torch "$python"; then
    target/venv-package/bin/pip install --quiet --disable-pip-version-check --no-deps \
      --requirement tests/python/requirements-frameworks.txt
  fi
  echo "$wanted" > target/venv-package/made-for
}

package_tests() {
  cargo clippy --quiet --locked --no-deps --package vidrec-python --package vidrec-cli --features pack -- -D warnings
  cargo build --quiet --locked --package fault-proxy
  package_environment
  rm -rf target/wheels
  target/venv-package/bin/maturin build --quiet --locked --profile dev --features pack --auditwheel skip \
    --manifest-path python/Cargo.toml --out target/wheels
  target/venv-package/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheels/*.whl
  target/venv-package/bin/python -m pytest --quiet -r s -p no:cacheprovider tests/python/package
}

# The Python package of the stage "package", or one that is built here.
package_wheel() {
  compgen -G "target/wheels/*.whl" > /dev/null && return
  package_environment
  target/venv-package/bin/maturin build --quiet --locked --profile dev --features pack --auditwheel skip \
    --manifest-path python/Cargo.toml --out target/wheels
}

install_wheel() { # PYTHON
  "$1" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheels/*.whl
}

# With the Python package of the stage before, if that was built.
remote_tests() {
  cargo build --quiet --locked --bins --package vidrec --package fault-proxy
  scripts/servers.sh
  if compgen -G "target/wheels/*.whl" > /dev/null; then
    install_wheel target/remote/venv/bin/python
  fi
  target/remote/venv/bin/python -m pytest --quiet -r s -p no:cacheprovider tests/remote
}

# With the program that is in the Python package.
cluster_tests() {
  scripts/cluster.sh
  cargo build --quiet --locked --package fault-proxy
  package_wheel
  install_wheel target/cluster/venv/bin/python
  target/cluster/venv/bin/python -m pytest --quiet -r s -p no:cacheprovider tests/cluster
  target/cluster/venv/bin/python -m pytest --quiet -r s -p no:cacheprovider tests/docs \
    --page docs/cluster.md --page docs/cluster-ray.md --page docs/cluster-bucket.md
}

# Each program fails if it learns nothing from the clips that it makes. Then each takes data sets that were packed.
frameworks_tests() {
  local folder=target/frameworks program
  cargo build --quiet --locked --release --manifest-path examples/rust-frameworks/Cargo.toml --target-dir $folder
  rm -rf $folder/clips
  mkdir -p $folder/clips
  PYTHONPATH=tests/docs python3 -c "import pathlib, videos; videos.make_all(pathlib.Path('$folder/clips'))"
  cargo build --quiet --locked --bin vidrec --example train_loop
  target/debug/vidrec pack $folder/clips/videos -o $folder/clips/train --size 64
  target/debug/vidrec pack $folder/clips/more-videos -o $folder/clips/val --size 64
  for program in train_candle train_burn; do
    $folder/release/$program
    $folder/release/$program $folder/clips/train $folder/clips/val
  done
}

interop_tests() {
  cargo build --quiet --locked --bins --examples
  scripts/interop.sh
}

# A Python with JAX, Grain and TensorFlow, 1.9 GB. If they cannot be installed, pages that need them are skipped.
docs_environment() {
  local wanted
  wanted=$(python3 --version | cat - tests/docs/requirements-frameworks.txt | sha256sum)
  [ "$(cat target/venv-docs-run/made-for 2> /dev/null)" = "$wanted" ] && return
  rm -rf target/venv-docs-run
  python3 -m venv target/venv-docs-run
  if target/venv-docs-run/bin/pip install --quiet --disable-pip-version-check --no-deps \
    --requirement tests/docs/requirements-frameworks.txt; then
    echo "$wanted" > target/venv-docs-run/made-for
  fi
}

# Debian's torchvision, 0.6 MB, where its torch was there without it. If that fails, the page that needs it is skipped.
torchvision() {
  target/venv-package/bin/python -c 'import torchvision' 2> /dev/null && return
  command -v apt-get > /dev/null && install_packages python3-torchvision >&2 || true
}

# A page runs in the first of the Pythons that has what it needs.
docs_tests() {
  cargo build --quiet --locked --bins --examples
  browser
  package_environment
  torchvision
  docs_environment
  package_wheel
  install_wheel target/venv-package/bin/python
  install_wheel target/venv-docs-run/bin/python
  scripts/servers.sh
  export VIDREC_PROGRAM="${CARGO_TARGET_DIR:-$PWD/target}/debug/vidrec"
  scripts/docs.sh
  VIDREC_DOCS_PYTHONS="$PWD/target/venv-package/bin/python:$PWD/target/venv-docs-run/bin/python" \
    target/venv-docs/bin/python -m pytest --quiet -r s -p no:cacheprovider tests/docs
}

# From its package alone, with the packages of the crates that it needs. Cargo takes committed files only. And with the oldest
# Rust that Cargo.toml promises, which rustup installs.
crates_tests() {
  local oldest
  cargo publish --quiet --locked --dry-run --workspace
  oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
  rustup --quiet toolchain install --profile minimal --no-self-update "$oldest"
  cargo "+$oldest" check --quiet --locked "${RUST[@]}" --target-dir target/oldest-rust
}

release_tests() {
  if command -v apt-get > /dev/null && ! { command -v debootstrap && command -v buildah; } > /dev/null; then
    install_packages debootstrap buildah >&2 || true
  fi
  scripts/release.sh
  scripts/try_release.sh
}

summary=()
stage() { # NAME FUNCTION DESCRIPTION
  local begin=$SECONDS took
  [[ -z "$chosen" || " $chosen " == *" $1 "* ]] || return 0
  echo "==> $1: $3"
  # In a subshell, because errexit has no effect in a function that is part of a condition.
  set +e
  (set -e; "$2") < /dev/null
  local status=$?
  set -e
  took="$((SECONDS - begin)) s"
  if ((status)); then
    ((${#summary[@]} == 0)) || printf '%s\n' "${summary[@]}"
    echo "FAILED in stage $1 after $took" >&2
    exit 1
  fi
  summary+=("$(printf '%-15s %6s' "$1" "$took")")
}

chosen="$*"
for name in "$@"; do
  [[ " fmt imports deny clippy test no-ffmpeg doc python package remote cluster interop docs frameworks crates release " == *" $name "* ]] || { echo "no stage $name" >&2; exit 2; }
done
stage fmt formatted "is the code formatted?"
stage imports imports "do imports run one way?"
stage deny dependencies "licenses, sources and duplicates of the dependencies, and advisories where there is a database"
stage clippy lints "lints with all features, with none, and for the programs without FFmpeg or without servers"
stage test tests "unit, integration and documentation tests"
stage no-ffmpeg without_ffmpeg "the reading half builds and runs without FFmpeg"
stage doc documentation "the documentation builds without a warning, and the public interface is as listed"
stage python python_tests "the independent reader, and packed data sets against PyAV, Pillow and OpenCV"
stage package package_tests "the Python package, built, installed and used"
stage remote remote_tests "servers of object storage: S3, Azure, GCS and web servers"
[[ -z "$chosen" ]] || stage frameworks frameworks_tests "training in Rust, with candle and with burn"
[[ -z "$chosen" ]] || stage cluster cluster_tests "packing in parts by Ray, Spark, Slurm, and as Kubernetes runs it"
stage interop interop_tests "other projects' readers and writers: MXNet, DALI, GulpIO2, WebDataset, streaming"
stage docs docs_tests "the site of the documentation: its pages run, its links lead somewhere, a browser opens it"
[[ -z "$chosen" ]] || stage crates crates_tests "each crate builds from its package, and with the oldest Rust"
[[ -z "$chosen" ]] || stage release release_tests "the portable wheel and program, built, and tested without FFmpeg"
echo "==> all passed"
summary+=("$(printf '%-15s %6s' total "$SECONDS s")")
printf '%s\n' "${summary[@]}"
