#!/usr/bin/env bash
# Runs tests/interop: other projects' readers on what vidrec writes, and vidrec on what their writers write.
#
# Their Python environments take about 3 GB in VIDREC_INTEROP_CACHE (default: ~/.cache/vidrec-interop). The script makes
# them again only when their requirements change. If it cannot install one, it skips its tests and says so; with
# VIDREC_REQUIRE=1 it fails. PYTHON names the interpreter; MXNet has no wheels for one newer than 3.11.
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

# Gives an environment packages of Debian for its Python: those that the system has, and the others without installing them.
debian() { # NAME PACKAGE...
  local name=$1 folder=$cache/$1/debian missing site
  shift
  [ -e "$folder/complete" ] && return
  echo "interop: setting up Debian's $* for $name"
  # The tests of this environment are skipped without them.
  mv "$cache/$name/made-for" "$cache/$name/made-without" || return
  mkdir -p "$folder"
  missing=$(apt-get install --print-uris --yes --no-install-recommends "$@" | sed -n "s/^'[^']*' \([^_ ]*\)_.*/\1/p")
  if [ -n "$missing" ]; then
    (cd "$folder" && apt-get download --quiet=2 $missing) || return
    for package in "$folder"/*.deb; do
      dpkg --extract "$package" "$folder" || return
    done
    rm "$folder"/*.deb
  fi
  site=$("$cache/$name/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))') || return
  printf '%s\n' "$folder/usr/lib/python3/dist-packages" /usr/lib/python3/dist-packages > "$site/debian.pth"
  touch "$folder/complete"
  mv "$cache/$name/made-without" "$cache/$name/made-for"
}

# The Python package, for an example, where scripts/test.sh has built it.
package() { # NAME
  compgen -G "target/wheels/*.whl" > /dev/null || return 0
  "$cache/$1/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheels/*.whl
}

libraries() { # NAME: where the packages of an environment have their libraries
  local folder=$cache/$1/debian
  [ -d "$folder" ] && echo "$folder/usr/lib/$(uname -m)-linux-gnu:$folder/usr/lib:$folder/lib/$(uname -m)-linux-gnu"
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
    LD_LIBRARY_PATH=$(libraries "$name")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
      "$cache/$name/bin/python" -m pytest --quiet -r s "$tests/test_$test.py"
    ran+=("$test")
  done
}

environment peers "$tests/requirements-alone.txt" || true
environment mxnet || true
{ environment dali && package dali; } || true
{ environment lerobot "$tests/requirements-lerobot-alone.txt" && debian lerobot python3-torch python3-torchvision; } || true
check peers peers streaming
check mxnet mxnet
check dali dali dali_example
check lerobot lerobot
echo "interop: ran ${ran[*]:-nothing}; skipped: ${skipped[*]:-nothing}"
if ((${#skipped[@]})); then
  echo "interop: could not install ${skipped[*]} (see above), so nothing is proven of them" >&2
  case ${VIDREC_REQUIRE:-0} in 0) ;; *) exit 1 ;; esac
fi
