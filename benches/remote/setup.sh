#!/usr/bin/env bash
# Makes the Python environment of the peers, about 7 GB, below VIDREC_PEERS_CACHE (default: target/peers), builds the
# programs and the wheel of vidrec, and installs the wheel there. PYTHON names the interpreter; the pinned versions were
# run on 3.11. `setup.sh WHEEL` installs that wheel and builds nothing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
cache=${VIDREC_PEERS_CACHE:-$root/target/peers}
python=${PYTHON:-python3}
wanted=$("$python" --version | cat - "$here/requirements.txt" | sha256sum)
if [ "$(cat "$cache/remote/made-for" 2> /dev/null)" != "$wanted" ]; then
  rm -rf "${cache:?}/remote"
  mkdir -p "$cache"
  "$python" -m venv "$cache/remote"
  "$cache/remote/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
  echo "$wanted" > "$cache/remote/made-for"
fi

for name in nginx curl taskset; do
  PATH="$PATH:/usr/sbin" command -v $name > /dev/null || echo "setup: install $name" >&2
done

wheel=${1:-}
if [ -z "$wheel" ]; then
  cargo build --quiet --release --locked --manifest-path "$root/Cargo.toml" --bin vidrec
  cargo build --quiet --release --locked --manifest-path "$root/Cargo.toml" --package fault-proxy
  rm -rf "$cache/remote-wheel"
  "$cache/remote/bin/maturin" build --quiet --release --locked --auditwheel skip --manifest-path "$root/python/Cargo.toml" \
    --features pack --out "$cache/remote-wheel"
  wheel=$(echo "$cache"/remote-wheel/vidrec-*.whl)
fi
"$cache/remote/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheel"
