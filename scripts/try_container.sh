#!/usr/bin/env bash
# Tests the Debian package and the Containerfile: builds the image on a bare Debian, which contains nothing but what dpkg needs,
# and packs videos in a container that has no network.
#
#     scripts/try_container.sh FILES VIDEOS EXPECTED      scripts/try_release.sh calls it
#
# FILES is the folder that scripts/release.sh filled. EXPECTED is a data set that the released program packed from VIDEOS with
# --frames 4 --size 64. Needs root, and Debian's debootstrap and buildah.
set -euo pipefail
(($# == 3)) || { echo "usage: scripts/try_container.sh FILES VIDEOS EXPECTED" >&2; exit 2; }
files=$(cd "$1" && pwd) videos=$(cd "$2" && pwd) expected=$(cd "$3" && pwd)
cd "$(dirname "$0")/.."
base=$(sed -n 's/^FROM //p' Containerfile)
release=${base#debian:} release=${release%-slim}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Nothing of this leaves the folder, and no daemon, name space or file system is needed that a container might lack.
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
image() { buildah --root "$work/storage" --runroot "$work/run" "$@"; }

debootstrap --variant=minbase "$release" "$work/bare" > "$work/log" || { tail -n 20 "$work/log" >&2; exit 1; }
container=$(image from scratch)
image add --quiet "$container" "$work/bare" / > /dev/null
image commit --quiet --rm "$container" "localhost/$base" > /dev/null
image build --quiet --pull-never --file Containerfile --tag vidrec "$files" > /dev/null
[ "$(image inspect --type image --format '{{.OCIv1.Config.Entrypoint}}' vidrec)" = "[vidrec]" ]

mkdir "$work/data"
cp -r "$videos" "$work/data/videos"
container=$(image from --pull-never vidrec)
inside() { image run --network none --user "$(id -u nobody):$(id -g nobody)" --volume "$work/data:/data" "$container" -- "$@"; }
chown -R nobody "$work/data"
inside vidrec pack videos -o train --frames 4 --size 64 > /dev/null
cmp "$work/data/train/dataset.json" "$expected/dataset.json"
inside vidrec verify --deep train
inside dpkg --verify vidrec
inside test -s /usr/share/doc/vidrec/third-party/NOTICE.txt
echo "the Debian package installs in $base and packs the same bytes"
