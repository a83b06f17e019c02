#!/usr/bin/env bash
# Makes the Python environment of the peers, about 10 GB, in target/robots, builds the program and the wheel of vidrec, and
# installs the wheel there. PYTHON names the interpreter; 3.11 is what the pinned versions were run on.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
home=$root/target/robots
python=${PYTHON:-python3}
wanted=$("$python" --version | cat - "$here/requirements.txt" | sha256sum)
if [ "$(cat "$home/venv/made-for" 2> /dev/null)" != "$wanted" ]; then
  rm -rf "${home:?}/venv"
  mkdir -p "$home"
  "$python" -m venv "$home/venv"
  "$home/venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
  echo "$wanted" > "$home/venv/made-for"
fi
cargo build --quiet --release --locked --manifest-path "$root/Cargo.toml" --bin vidrec
rm -rf "$home/wheel"
"$home/venv/bin/maturin" build --quiet --release --locked --manifest-path "$root/python/Cargo.toml" --features pack \
  --auditwheel skip --out "$home/wheel"
"$home/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$home"/wheel/vidrec-*.whl
