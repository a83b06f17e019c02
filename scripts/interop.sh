#!/usr/bin/env bash
# Runs tests/interop: other projects' readers on what vidrec writes, and vidrec on what their writers write.
#
# Their Python environments, about 2 GB, are in VIDREC_INTEROP_CACHE (default: ~/.cache/vidrec-interop); the script keeps
# those that are up to date. It skips an environment that it cannot create and reports it; if CI is set, that is an error.
# PYTHON names the interpreter; MXNet has no wheels for one newer than 3.11.
set -euo pipefail
cd "$(dirname "$0")/.."
tests=$PWD/tests/interop
cache=${VIDREC_INTEROP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vidrec-interop}
python=${PYTHON:-$(command -v python3.11 || command -v python3.10 || command -v python3)}
mkdir -p "$cache"

environment() { # NAME [REQUIREMENTS TO INSTALL WITHOUT THEIR DEPENDENCIES]
  local name=$1 alone=${2:-} wanted pip
  wanted=$("$python" --version | cat - "$tests/requirements-$name.txt" ${alone:+"$alone"} | sha256sum)
  [ "$(cat "$cache/$name/made-for" 2> /dev/null)" = "$wanted" ] && return
  echo "interop: setting up $name"
  rm -rf "${cache:?}/$name"
  "$python" -m venv "$cache/$name" || return
  pip=("$cache/$name/bin/pip" install --quiet --disable-pip-version-check)
  "${pip[@]}" --requirement "$tests/requirements-$name.txt" || return
  [ -z "$alone" ] || "${pip[@]}" --no-deps --requirement "$alone" || return
  echo "$wanted" > "$cache/$name/made-for"
}

ran=() left_out=()
check() { # ENVIRONMENT TEST...
  local name=$1 test
  shift
  if [ ! -e "$cache/$name/made-for" ]; then
    left_out+=("$name")
    return
  fi
  for test; do
    "$cache/$name/bin/python" -m pytest --quiet "$tests/test_$test.py"
    ran+=("$test")
  done
}

environment peers "$tests/requirements-alone.txt" || true
environment mxnet || true
environment dali || true
check peers peers streaming
check mxnet mxnet
check dali dali
echo "interop: ran ${ran[*]:-nothing}; skipped ${left_out[*]:-nothing}"
if ((${#left_out[@]})); then
  echo "interop: could not install ${left_out[*]} (see above), so their tests did not run" >&2
  [ -z "${CI:-}" ] || exit 1
fi
