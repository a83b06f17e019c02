#!/usr/bin/env bash
# Runs tests/interop: other projects' readers on what vidrec writes, and vidrec on what their writers write.
#
# Their Python environments take about 10 GB in VIDREC_INTEROP_CACHE (default: ~/.cache/vidrec-interop), 6 GB of them for the
# PyTorch that LeRobot needs. The script makes them again only when their requirements change. If it cannot install one, it
# skips its tests and says so; with VIDREC_REQUIRE=1 it fails. PYTHON names the interpreter; MXNet has no wheels for one newer
# than 3.11. PYTHON_NEWER names that of LeRobot, which needs 3.12.
set -euo pipefail
cd "$(dirname "$0")/.."
tests=$PWD/tests/interop
cache=${VIDREC_INTEROP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/vidrec-interop}
python=${PYTHON:-$(command -v python3.11 || command -v python3.10 || command -v python3)}
newer=$python
for candidate in "${PYTHON_NEWER:-}" python3.12 python3.13 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[23].*/bin/python; do
  if "$candidate" -c '' 2> /dev/null; then
    newer=$candidate
    break
  fi
done
mkdir -p "$cache"

# In a variable `venv`: an option of its command.
environment() { # NAME [REQUIREMENTS TO INSTALL WITHOUT THEIR DEPENDENCIES]
  local name=$1 alone=${2:-} wanted pip
  wanted=$("$python" --version | cat - "$tests/requirements-$name.txt" ${alone:+"$alone"} | sha256sum)
  [ "$(cat "$cache/$name/made-for" 2> /dev/null)" = "$wanted" ] && return
  echo "interop: setting up $name"
  rm -rf "${cache:?}/$name"
  "$python" -m venv ${venv:-} "$cache/$name" || return
  pip=("$cache/$name/bin/pip" install --quiet --disable-pip-version-check)
  "${pip[@]}" --requirement "$tests/requirements-$name.txt" || return
  [ -z "$alone" ] || "${pip[@]}" --no-deps --requirement "$alone" || return
  echo "$wanted" > "$cache/$name/made-for"
}

# The Python package, where scripts/test.sh has built it.
package() { # NAME
  compgen -G "target/wheels/*.whl" > /dev/null || return 0
  "$cache/$1/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheels/*.whl
}

ran=() skipped=()
check() { # ENVIRONMENT TEST...
  local name=$1 test
  shift
  if [ ! -e "$cache/$name/made-for" ]; then
    skipped+=("$name")
    return
  fi
  for test; do
    "$cache/$name/bin/python" -m pytest --quiet -r s "$tests/test_$test.py"
    ran+=("$test")
  done
}

{ environment peers "$tests/requirements-alone.txt" && package peers; } || true
environment mxnet || true
{ environment dali && package dali; } || true
{ python=$newer environment lerobot "$tests/requirements-lerobot-alone.txt" && package lerobot; } || true
torch=$(. scripts/setup.sh > /dev/null; . scripts/test/environments.sh; python_with_torch)
{ python=$torch venv=--system-site-packages environment trainers "$tests/requirements-trainers-alone.txt" && package trainers; } || true
check peers peers streaming
check mxnet mxnet
check dali dali
check lerobot lerobot
check trainers trainers
echo "interop: ran ${ran[*]:-nothing}; skipped: ${skipped[*]:-nothing}"
if ((${#skipped[@]})); then
  echo "interop: could not install ${skipped[*]} (see above), so nothing is proven of them" >&2
  case ${VIDREC_REQUIRE:-0} in 0) ;; *) exit 1 ;; esac
fi
