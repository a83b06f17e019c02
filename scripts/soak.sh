#!/usr/bin/env bash
# Packs, edits, reads from storage, trains and damages data sets for hours, at random, with kills and faults; tests/soak does
# it, in target/soak, under 2 GB. It ends with 1 if anything was not as it should be.
#
#     scripts/soak.sh [MINUTES] [--seed N] [--round N]    120 minutes, or one round again
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --quiet --locked --bins --package vidrec --package fault-proxy
scripts/servers.sh
# With the Python package of `scripts/test.sh python`, or one that is built here.
if compgen -G "target/wheels/*.whl" > /dev/null; then
  target/remote/venv/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheels/*.whl
else
  target/remote/venv/bin/pip install --quiet --disable-pip-version-check ./python
fi
exec nice -n 10 target/remote/venv/bin/python tests/soak/soak.py --folder target/soak "$@"
