# What tests need beside a compiler. Sourced by scripts/test.sh.

# A Python environment in target/NAME with all that FILES list, made anew when they change.
environment() { # NAME PYTHON FILE...
  local name=$1 python=$2 wanted
  shift 2
  wanted=$("$python" --version | cat - "$@" <(echo "$python") | sha256sum)
  [ "$(cat "target/$name/made-for" 2> /dev/null)" = "$wanted" ] && return
  rm -rf "target/$name"
  "$python" -m venv --system-site-packages "target/$name"
  "target/$name/bin/pip" install --quiet --disable-pip-version-check "${@/#/--requirement=}"
  echo "$wanted" > "target/$name/made-for"
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

# target/venv: what the Python tests of each change need, and what all of them need.
python_environment() { environment venv "$(python_with_torch)" tests/python/requirements.txt tests/remote/requirements.txt; }

full_environment() {
  local wanted
  python_environment
  wanted=$(sha256sum < tests/python/requirements-full.txt)
  [ "$(cat target/venv/made-for-full 2> /dev/null)" = "$wanted" ] && return
  target/venv/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement tests/python/requirements-full.txt
  echo "$wanted" > target/venv/made-for-full
}

# The browser that opens the pages of `vidrec browse` and of the documentation: if there is none, this installs Debian's
# (470 MB). If that fails, the tests that need it are skipped.
browser() {
  command -v chromium chromium-browser google-chrome > /dev/null && return
  command -v apt-get > /dev/null && install_packages chromium >&2 || true
}

# Downloads while the first stages compile. What it prints comes where a stage waits for it.
prepare() { # LIST OF STAGES
  mkdir -p target
  preparing=
  grep -qE '^(python|remote|pages|frameworks|servers|site) ' <<< "$1" || return 0
  (set -e; python_environment) > target/prepared.txt 2>&1 &
  preparing=$!
}

prepared() {
  [ -z "$preparing" ] || tail --pid="$preparing" -f /dev/null
  cat target/prepared.txt
  python_environment
}
