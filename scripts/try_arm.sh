#!/usr/bin/env bash
# Tests what `scripts/release.sh --target aarch64-unknown-linux-gnu` built: runs scripts/try_release.sh in a bare 64-bit ARM
# Debian, under emulation and without network, and installs the Debian package there.
#
#     scripts/try_arm.sh [FOLDER]       default: target/release-files-aarch64-unknown-linux-gnu
#
# Needs root and Debian's packages binfmt-support, debootstrap and qemu-user-static.
set -euo pipefail
cd "$(dirname "$0")/.."
files=$(cd "${1:-target/release-files-aarch64-unknown-linux-gnu}" && pwd)
base=$(sed -n 's/^FROM debian:\(.*\)-slim$/\1/p' Containerfile)
work=$(mktemp -d)
root=$work/root
trap 'umount "$root/proc" 2> /dev/null || true; rm -rf "$work"' EXIT

debootstrap --arch arm64 --variant minbase --include ffmpeg,python3-venv "$base" "$root" > "$work/log" ||
  { tail -n 20 "$work/log" >&2; exit 1; }
mount -t proc proc "$root/proc"
inside() { unshare --net chroot "$root" env LANG=C.UTF-8 PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels "$@"; }

python=$(inside python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
python3 -m pip download --quiet --disable-pip-version-check --only-binary :all: --platform manylinux_2_28_aarch64 \
  --python-version "$python" --dest "$root/wheels" numpy
mkdir -p "$root/vidrec/format-spec" "$root/files"
cp -r scripts Containerfile "$root/vidrec"
cp -r format-spec/vectors "$root/vidrec/format-spec"
cp -r "$files/." "$root/files"

inside /vidrec/scripts/try_release.sh /files
inside dpkg --install "/files/$(cd "$files" && echo *.deb)" > "$work/log" || { cat "$work/log" >&2; exit 1; }
inside vidrec verify --deep /vidrec/format-spec/vectors/good/two-shards
echo "the files for $(inside uname -m) work in $base"
