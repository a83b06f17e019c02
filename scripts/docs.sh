#!/usr/bin/env bash
# Builds the site of the documentation in target/docs/site: open its index.html, from the disk or a server. It asks for nothing
# from elsewhere.
#
#     scripts/docs.sh             guide, reference, and rustdoc's pages of the crate and of those that have its code
#     scripts/docs.sh --no-rust   without rustdoc's pages; links to Rust items are then plain text
#     scripts/docs.sh --serve     without them, on a port of this machine, again at each change of a page
#
# VIDREC_PROGRAM names the program that the pages of commands describe, and VIDREC_RUST_DOCS a folder of rustdoc's pages.
# Without them, this takes what was built here if it is newer than all sources, and otherwise builds it. What it needs from
# PyPI goes to target/venv-docs, 190 MB.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

rust=yes serve=
for option in "$@"; do
  case $option in
    --no-rust) rust= ;;
    --serve) rust= serve=yes ;;
    *) echo "usage: scripts/docs.sh [--no-rust | --serve]" >&2; exit 2 ;;
  esac
done

target=${CARGO_TARGET_DIR:-target}

# Whether a file is newer than all that the program and rustdoc's pages are made of.
is_newest() { # FILE
  [ -f "$1" ] && [ -z "$(find Cargo.toml Cargo.lock src crates -type f -newer "$1" -print -quit)" ]
}

# A program that has all commands, and their options for servers. Tests also build smaller ones.
built_program() {
  local program
  for program in "$target"/{release,debug}/vidrec; do
    if is_newest "$program" && "$program" pack --help 2> /dev/null | grep '^Object storage' > /dev/null; then
      echo "$program"
      return
    fi
  done
}

# rustdoc links to the sources of another crate if pages of that crate are there when it begins, so the crate that lists the
# names is last. The stamp is older than pages that something else made later.
rust_pages() {
  local others=(crates/vidrec-*)
  rust_pages_of "${others[@]/#crates\//--package=}" --package=vidrec
  rm -rf "$target/doc/vidrec"
  rust_pages_of --package=vidrec
  touch "$target/doc/made-for-site"
}

rust_pages_of() { RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps --lib "$@"; } # OPTION...

has_rust_pages() {
  local stamp=$target/doc/made-for-site
  is_newest "$stamp" && [ -z "$(find "$target/doc" -name '*.html' -newer "$stamp" -print -quit)" ]
}

wanted=$(python3 --version | cat - scripts/requirements-docs.txt | sha256sum)
if [ "$(cat target/venv-docs/made-for 2> /dev/null)" != "$wanted" ]; then
  rm -rf target/venv-docs
  python3 -m venv target/venv-docs
  target/venv-docs/bin/pip install --quiet --disable-pip-version-check --require-hashes \
    --requirement scripts/requirements-docs.txt
  echo "$wanted" > target/venv-docs/made-for
fi

if [ -z "${VIDREC_PROGRAM:-}" ]; then
  VIDREC_PROGRAM=$(built_program)
  if [ -n "$VIDREC_PROGRAM" ]; then
    echo "docs: $VIDREC_PROGRAM is newer than the sources, and describes its commands"
  else
    cargo build --quiet --locked --bins --examples
    VIDREC_PROGRAM=$target/debug/vidrec
  fi
fi
if [ -z "$rust" ]; then
  VIDREC_RUST_DOCS=
elif [ -z "${VIDREC_RUST_DOCS:-}" ]; then
  VIDREC_RUST_DOCS=$target/doc
  if has_rust_pages; then
    echo "docs: rustdoc's pages in $VIDREC_RUST_DOCS are newer than the sources"
  else
    rust_pages
  fi
fi
export VIDREC_PROGRAM VIDREC_RUST_DOCS
# It advertises; ruff, which formats signatures, is beside it.
export NO_MKDOCS_2_WARNING=1 PATH="$PWD/target/venv-docs/bin:$PATH"

if [ -n "$serve" ]; then
  exec mkdocs serve
fi
mkdocs build --quiet --strict --site-dir target/docs/site
echo "docs: target/docs/site/index.html"
