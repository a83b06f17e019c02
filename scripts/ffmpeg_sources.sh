#!/usr/bin/env bash
# Fetches the sources of FFmpeg, dav1d and zlib in the versions of this Debian or Ubuntu, including security updates, and
# those of libjpeg-turbo from Debian unstable: stable releases have version 2, and the crate turbojpeg-sys brings 3.1.0. It
# uses the machine's own apt, which checks their signatures. It needs no root and changes none of apt's settings.
#
#     scripts/ffmpeg_sources.sh FOLDER
#
# FOLDER gets ffmpeg-VERSION.tar.xz, dav1d-VERSION.tar.xz, zlib-VERSION.tar.xz and libjpeg-turbo-VERSION.tar.xz, with the
# distribution's patches applied. scripts/build_ffmpeg.sh builds from them, here or on a machine without apt. Whoever receives the libraries must
# receive these sources too.
set -euo pipefail

folder=${1:?usage: scripts/ffmpeg_sources.sh FOLDER}
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -f "$keys" ] || { echo "ffmpeg_sources: $keys is missing (Debian's package debian-archive-keyring)" >&2; exit 1; }
for program in apt-get dpkg-source; do
  command -v "$program" > /dev/null || { echo "ffmpeg_sources: $program is missing (Debian's package dpkg-dev)" >&2; exit 1; }
done
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# This machine's package lists, changed to request sources instead of packages.
mkdir -p "$work"/{own,unstable}/{parts,lists,cache} "$work/unpacked"
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
  [ -f "$list" ] || continue
  sed -E -e 's/^deb(-src)? /deb-src /' -e 's/^Types:.*/Types: deb-src/' "$list" > "$work/own/parts/$(basename "$list")"
done
echo "deb-src [signed-by=$keys] http://deb.debian.org/debian unstable main" > "$work/unstable/parts/debian.list"
apt_from() { # DISTRIBUTION ARGUMENTS...
  local place=$work/$1
  shift
  apt-get --quiet=2 -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$place/parts" \
    -o Dir::State::Lists="$place/lists" -o Dir::Cache="$place/cache" "$@"
}
apt_from own update
apt_from unstable update

for name in ffmpeg dav1d zlib libjpeg-turbo; do
  mkdir "$work/unpacked/$name"
  from=own
  [ "$name" != libjpeg-turbo ] || from=unstable
  (cd "$work/unpacked/$name" && apt_from "$from" source "$name" > "$work/log" 2>&1) || { cat "$work/log" >&2; exit 1; }
  description=$(echo "$work/unpacked/$name"/*.dsc)
  version=$(sed -n 's/^Version: \([0-9]*:\)\?//p' "$description" | head -n 1)
  tree=$(find "$work/unpacked/$name" -mindepth 1 -maxdepth 1 -type d)
  mv "$tree" "$work/unpacked/$name-$version"
  rm -f "$folder/$name"-*.tar.xz
  # Reproducible: the same bytes each time.
  tar --create --xz --file "$folder/$name-$version.tar.xz" --directory "$work/unpacked" --sort=name --owner=0 --group=0 \
    --numeric-owner --mtime="@$(dpkg-parsechangelog -l "$work/unpacked/$name-$version/debian/changelog" -S Timestamp)" \
    "$name-$version"
  echo "$folder/$name-$version.tar.xz"
done
