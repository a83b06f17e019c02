#!/usr/bin/env bash
# Makes the Python environment of the peers below VIDREC_PEERS_CACHE (default: target/peers) and builds vidrec.
# PYTHON names the interpreter; 3.11 is what the pinned versions were run on.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${VIDREC_PEERS_CACHE:-$here/../../target/peers}
python=${PYTHON:-python3}
wanted=$("$python" --version | cat - "$here/requirements.txt" | sha256sum)
if [ "$(cat "$cache/pack/made-for" 2> /dev/null)" != "$wanted" ]; then
  rm -rf "${cache:?}/pack"
  mkdir -p "$cache"
  "$python" -m venv "$cache/pack"
  "$cache/pack/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
  echo "$wanted" > "$cache/pack/made-for"
fi
cargo build --quiet --release --locked --manifest-path "$here/../../Cargo.toml" --package vidrec --bin vidrec --package vidrec-pack --example decode_bound
