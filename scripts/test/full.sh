# The stages that run before a release and each night, or by their names. Sourced by scripts/test.sh.

# Without pkg-config and libclang, which only FFmpeg's bindings
# need, so no other crate is built again for lack of them.
stage_features() {
  cargo clippy --quiet --locked --lib --bins --no-default-features --features cli,pack -- -D warnings
  cargo clippy --quiet --locked --lib --bins --tests --no-default-features --features cli -- -D warnings
  cargo clippy --quiet --locked --lib --tests --no-default-features -- -D warnings
  if cargo tree --locked --edges normal,build --no-default-features --features cli | grep ffmpeg; then
    echo "the program without the feature 'pack' depends on FFmpeg" >&2
    return 1
  fi
  # With an example, because Cargo then chooses the features of the dependencies as it does for tests, and takes what it has
  # compiled for those.
  PKG_CONFIG=/bin/false LIBCLANG_PATH=/nonexistent \
    cargo build --quiet --locked --no-default-features --features cli --bin vidrec --example train_loop
  # The next build with FFmpeg replaces the program.
  cp target/debug/vidrec target/vidrec-without-ffmpeg
  if ldd target/vidrec-without-ffmpeg | grep -E 'libav|libsw'; then
    echo "the program without the feature 'pack' is linked to FFmpeg" >&2
    return 1
  fi
  target/vidrec-without-ffmpeg verify --deep format-spec/vectors/good/two-shards
  refuses "built without FFmpeg" pack videos -o train
}

# The program of the stage "features" does not do what it was built without, and says so.
refuses() { # WORDS ARGUMENT...
  local words=$1
  shift
  if target/vidrec-without-ffmpeg "$@" 2> target/vidrec-without-ffmpeg.txt; then return 1; fi
  grep --quiet "$words" target/vidrec-without-ffmpeg.txt
}

stage_doc() {
  cargo test --quiet --locked "${RUST[@]}" --doc
  RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps "${RUST[@]}" --exclude fault-proxy
  scripts/public_api.py
}

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
stage_deny() {
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

stage_exhaustive() {
  cargo test --quiet --locked "${RUST[@]}" --lib --bins --tests -- --ignored
  VIDREC_SOAK=1 cargo test --quiet --locked --test suite -- faults::
}

stage_frameworks() {
  programs --examples
  [ -e target/wheels ] || wheel
  full_environment
  browser
  pytest -n 2 --dist loadfile -m full tests/python
  rust_frameworks
}

# Each program fails if it learns nothing from the clips that it makes. Then each takes data sets that were packed.
rust_frameworks() {
  local folder=target/frameworks program
  cargo build --quiet --locked --release --manifest-path examples/rust-frameworks/Cargo.toml --target-dir $folder
  rm -rf $folder/clips
  mkdir -p $folder/clips
  PYTHONPATH=tests/docs python3 -c "import pathlib, videos; videos.make_all(pathlib.Path('$folder/clips'))"
  target/debug/vidrec pack $folder/clips/videos -o $folder/clips/train --size 64
  target/debug/vidrec pack $folder/clips/more-videos -o $folder/clips/val --size 64
  for program in train_candle train_burn; do
    $folder/release/$program
    $folder/release/$program $folder/clips/train $folder/clips/val
  done
}

stage_servers() {
  programs
  [ -e target/wheels ] || wheel
  scripts/servers.sh
  install_wheel target/remote/venv/bin/python
  target/remote/venv/bin/python -m pytest --quiet -r s -p no:cacheprovider tests/remote
}

stage_interop() {
  programs --examples
  [ -e target/wheels ] || wheel
  scripts/interop.sh
}

# JAX, Grain and TensorFlow, 1.9 GB. If they cannot be installed, pages that need them are skipped.
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

# A page runs in the first of the Pythons that has what it needs.
stage_site() {
  programs --examples
  [ -e target/wheels ] || wheel
  browser
  full_environment
  docs_environment
  install_wheel target/venv-docs-run/bin/python
  export VIDREC_PROGRAM="${CARGO_TARGET_DIR:-$PWD/target}/debug/vidrec"
  scripts/docs.sh
  VIDREC_DOCS_PYTHONS="$PWD/target/venv/bin/python:$PWD/target/venv-docs-run/bin/python" pytest -n 2 tests/docs
}

# With the program that is in the Python package.
stage_cluster() {
  scripts/cluster.sh
  programs
  [ -e target/wheels ] || wheel
  install_wheel target/cluster/venv/bin/python
  target/cluster/venv/bin/python -m pytest --quiet -r s -p no:cacheprovider tests/cluster
  target/cluster/venv/bin/python -m pytest --quiet -r s -p no:cacheprovider tests/docs --page docs/cluster-ray.md
}

# From its package alone, with the packages of the crates that it needs. Cargo takes committed files only. And with the oldest
# Rust that Cargo.toml promises, which rustup installs.
stage_crates() {
  local oldest
  cargo publish --quiet --locked --dry-run --workspace
  oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
  rustup --quiet toolchain install --profile minimal --no-self-update "$oldest"
  cargo "+$oldest" check --quiet --locked "${RUST[@]}" --target-dir target/oldest-rust
}

stage_release() {
  if command -v apt-get > /dev/null && ! { command -v debootstrap && command -v buildah; } > /dev/null; then
    install_packages debootstrap buildah >&2 || true
  fi
  scripts/release.sh
  scripts/try_release.sh
}
