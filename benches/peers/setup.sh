#!/usr/bin/env bash
# Makes the Python environments of the peers, about 8 GB, below VIDREC_PEERS_CACHE (default: target/peers).
# What is there already and up to date is kept. PYTHON names the interpreter; MXNet has none newer than 3.11.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${VIDREC_PEERS_CACHE:-$here/../../target/peers}
python=${PYTHON:-python3}
mkdir -p "$cache"

environment() { # NAME
  local name=$1 wanted
  wanted=$("$python" --version | cat - "$here"/requirements-"$name".txt | sha256sum)
  [ "$(cat "$cache/$name/made-for" 2> /dev/null)" = "$wanted" ] && return
  echo "setup: $name"
  rm -rf "${cache:?}/$name"
  "$python" -m venv "$cache/$name"
  "$cache/$name/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements-$name.txt"
  echo "$wanted" > "$cache/$name/made-for"
}

environment mxnet
environment dali
environment main

"$cache/main/bin/python" -c 'import ffcv' 2> /dev/null && exit
# FFCV comes as source only.
if ! pkg-config --exists opencv4 libturbojpeg; then
  echo "setup: FFCV is left out; to have it, install g++, pkg-config, libopencv-dev and libturbojpeg0-dev" >&2
elif ! "$cache/main/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
  --requirement "$here/requirements-ffcv.txt"; then
  echo "setup: FFCV is left out: it did not build" >&2
fi
