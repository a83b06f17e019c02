#!/usr/bin/env bash
# Installs what tests/cluster packs with: Ray and Spark in target/cluster, 1.2 GB, again only when their requirements change,
# and Debian's Slurm with munge. Spark needs a Java runtime, which Debian has as default-jre-headless.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh

cluster_environment() {
  local wanted
  wanted=$(python3 --version | cat - tests/cluster/requirements.txt | sha256sum)
  [ "$(cat target/cluster/made-for 2> /dev/null)" = "$wanted" ] && return
  rm -rf target/cluster
  mkdir -p target/cluster
  python3 -m venv target/cluster/venv
  target/cluster/venv/bin/pip install --quiet --disable-pip-version-check --requirement tests/cluster/requirements.txt
  echo "$wanted" > target/cluster/made-for
}

# PROGRAM PACKAGE...
debian_has() {
  local program=$1
  shift
  PATH="$PATH:/usr/sbin" command -v "$program" > /dev/null && return
  command -v apt-get > /dev/null && install_packages "$@" && return
  echo "cluster: no $program: its tests are skipped" >&2
}

cluster_environment
debian_has java default-jre-headless
debian_has slurmctld slurm-wlm munge
