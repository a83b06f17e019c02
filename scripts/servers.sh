#!/usr/bin/env bash
# Installs the servers that all of tests/remote starts: S3 (moto), Azure (Azurite), GCS (fake-gcs-server) and the web server
# nginx. All but nginx go to target/remote, 700 MB, again only when their requirements change. Tests that are not marked `full` need moto
# alone: `pip install --requirement tests/remote/requirements.txt`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh

remote_environment() {
  local wanted
  wanted=$(python3 --version | cat - tests/remote/{requirements,requirements-full}.txt tests/remote/package.json | sha256sum)
  [ "$(cat target/remote/made-for 2> /dev/null)" = "$wanted" ] && return
  rm -rf target/remote
  mkdir -p target/remote/azurite
  python3 -m venv target/remote/venv
  target/remote/venv/bin/pip install --quiet --disable-pip-version-check --requirement tests/remote/requirements-full.txt
  cp tests/remote/package.json target/remote/azurite/
  if ! PATH="$PWD/target/remote/venv/bin:$PATH" npm install --silent --no-audit --no-fund --prefix target/remote/azurite; then
    echo "servers: npm could not install Azurite: its tests are skipped" >&2
    return 0
  fi
  echo "$wanted" > target/remote/made-for
}

# Debian starts the server that it installs, on port 80; the tests start one of their own, on the loopback.
remote_nginx() {
  PATH="$PATH:/usr/sbin" command -v nginx > /dev/null && return
  command -v apt-get > /dev/null && install_packages nginx-light && return
  echo "servers: no nginx: its tests are skipped" >&2
}

remote_environment
remote_nginx
