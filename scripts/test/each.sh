# The stages of each change. Sourced by scripts/test.sh.

# All crates but those of the Python package, which need Python.
RUST=(--workspace --exclude vidrec-python)

stage_style() {
  cargo fmt --all --check
  cargo fmt --check --manifest-path examples/rust-frameworks/Cargo.toml
  python3 scripts/imports.py
}

stage_lint() { cargo clippy --quiet --locked --workspace --all-targets --features vidrec-python/pack -- -D warnings; }

# Many tests wait for processes and servers, so twice as many run as there are cores.
stage_rust() { RUST_TEST_THREADS=$((2 * $(nproc))) cargo test --quiet --locked "${RUST[@]}" --lib --bins --tests; }

# The program and the server of faults, which the tests of other languages start.
programs() { cargo build --quiet --locked "${RUST[@]}" --bins "$@"; } # OPTION...

pytest() { target/venv/bin/python -m pytest --quiet -r s -p no:cacheprovider "$@"; }

install_wheel() { # PYTHON
  "$1" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheels/*.whl
}

# As the program, with what is compiled for it.
wheel() {
  prepared
  rm -rf target/wheels
  target/venv/bin/maturin build --quiet --locked --profile dev --features pack --auditwheel skip \
    --manifest-path python/Cargo.toml --out target/wheels
  install_wheel target/venv/bin/python
}

stage_python() {
  programs
  wheel
  pytest -n 2 --dist loadfile -m "not full" tests/python
}

stage_remote() {
  programs
  prepared
  pytest -m "not full" tests/remote
}

stage_pages() {
  programs
  [ -e target/wheels ] || wheel
  VIDREC_PROGRAM="${CARGO_TARGET_DIR:-$PWD/target}/debug/vidrec" pytest -n 2 -m "not full" tests/docs
}
