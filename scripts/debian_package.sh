#!/usr/bin/env bash
# Makes a Debian package of a released program. It needs nothing but glibc.
#
#     scripts/debian_package.sh FOLDER OUT GLIBC       scripts/release.sh calls it
#
# FOLDER is the program's, as its archive has it: target/vidrec-VERSION-TARGET. OUT gets vidrec_VERSION_ARCHITECTURE.deb. GLIBC is
# the oldest version of glibc that the program runs with. With SOURCE_DATE_EPOCH, the same program gives the same bytes.
set -euo pipefail
(($# == 3)) || { echo "usage: scripts/debian_package.sh FOLDER OUT GLIBC" >&2; exit 2; }
program=$(cd "$1" && pwd) out=$(cd "$2" && pwd) glibc=$3
cd "$(dirname "$0")/.."

name=$(basename "$program")
target=${name#vidrec-*-}
version=${name#vidrec-} version=${version%"-$target"}
case $target in
  x86_64-*) architecture=amd64 ;;
  aarch64-*) architecture=arm64 ;;
  *) echo "debian_package: no name for the architecture of $target" >&2; exit 1 ;;
esac
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
put() { # FILE PLACE [MODE]
  install -D --mode "${3:-644}" "$1" "$tree/$2"
}

put "$program/vidrec" usr/bin/vidrec 755
put "$program/completions/vidrec.bash" usr/share/bash-completion/completions/vidrec
put "$program/completions/vidrec.fish" usr/share/fish/vendor_completions.d/vidrec.fish
put "$program/completions/vidrec.zsh" usr/share/zsh/vendor-completions/_vidrec
put CHANGELOG.md usr/share/doc/vidrec/CHANGELOG.md
gzip --best --no-name "$tree/usr/share/doc/vidrec/CHANGELOG.md"
for file in "$program"/third-party/*; do
  put "$file" "usr/share/doc/vidrec/third-party/${file##*/}"
done
cat "$program"/LICENSE-MIT - "$program"/third-party/NOTICE.txt <<'COPYRIGHT' | put /dev/stdin usr/share/doc/vidrec/copyright

Or, as you choose, under the Apache License, version 2.0, whose text is in /usr/share/common-licenses/Apache-2.0.
The files that the rest of this text names are in /usr/share/doc/vidrec/third-party.

COPYRIGHT

mkdir "$tree/DEBIAN"
cat > "$tree/DEBIAN/control" <<CONTROL
Package: vidrec
Version: $version
Architecture: $architecture
Maintainer: $(sed -n 's/^  - name: //p' CITATION.cff)
Installed-Size: $(du --summarize --apparent-size --block-size 1024 "$tree/usr" | cut -f 1)
Depends: libc6 (>= $glibc)
Section: video
Priority: optional
Description: video data sets for training, packed once
 $(sed -n 's/^description = "\(.*\)"$/\1/p' Cargo.toml | fold --spaces --width 76 | sed -e '2,$s/^/ /' -e 's/ $//').
 .
 FFmpeg's decoders are inside.
CONTROL
dpkg-deb --root-owner-group -Zxz --build "$tree" "$out/vidrec_${version}_$architecture.deb"
