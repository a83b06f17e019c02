#!/usr/bin/env bash
# Builds what is given to users for this kind of machine: a Python wheel and a `vidrec` program that pack and need no
# FFmpeg, in which FFmpeg's decoders are inside (LGPL; scripts/build_ffmpeg.sh).
#
#     scripts/release.sh [--sources FOLDER]
#
# target/release-files/ gets
#     vidrec-VERSION-…-manylinux_2_28_….whl   for CPython 3.9 and newer
#     vidrec-VERSION-….tar.gz                 the program, with its notices
#     vidrec-VERSION.tar.gz                   the source distribution
#     sources/                                FFmpeg's, dav1d's and zlib's sources; the LGPL wants them given with the rest
#     SHA256SUMS
#
# FOLDER has those sources already; without it scripts/ffmpeg_sources.sh fetches them. On Linux, Zig (from PyPI) is the
# C compiler and the linker, because it links against an old glibc, whatever this machine has: 2.28, of 2018. On macOS
# the system's compiler is; what setup.sh installs on Linux has to be there: Rust, CMake, NASM, pkg-config, Python.
set -euo pipefail
cd "$(dirname "$0")/.."
system=$(uname -s)
[ "$system" != Linux ] || . scripts/setup.sh

sources=
while (($#)); do
  case $1 in
    --sources) sources=$(cd "$2" && pwd); shift 2 ;;
    *) echo "usage: scripts/release.sh [--sources FOLDER]" >&2; exit 2 ;;
  esac
done
say() { echo "==> $*"; }
sha256() { if command -v sha256sum > /dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }

host=$(rustc -vV | sed -n 's/^host: //p')
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
out=$PWD/target/release-files
ffmpeg=$PWD/target/ffmpeg
tools=$PWD/target/venv-release
rm -rf "$out"
mkdir -p "$out"

say "tools"
wanted=$(sha256 < scripts/requirements-release.txt)
if [ "$(cat "$tools/made-for" 2> /dev/null)" != "$wanted" ]; then
  rm -rf "$tools"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check --requirement scripts/requirements-release.txt
  echo "$wanted" > "$tools/made-for"
fi
export PATH="$tools/bin:$PATH"

say "FFmpeg"
if [ -z "$sources" ]; then
  sources=$PWD/target/ffmpeg-sources
  # Each time anew: there may be a security update.
  scripts/ffmpeg_sources.sh "$sources"
fi
if [ "$system" = Linux ]; then
  glibc=2.28
  zig="$tools/bin/python -m ziglang"
  export CC="$zig cc -target ${host%%-*}-linux-gnu.$glibc" CXX="$zig c++ -target ${host%%-*}-linux-gnu.$glibc"
  feature=static-ffmpeg
  for_wheel=(--zig --compatibility "manylinux_${glibc/./_}")
  build=(cargo zigbuild --target "$host.$glibc")
else
  export MACOSX_DEPLOYMENT_TARGET=${MACOSX_DEPLOYMENT_TARGET:-11.0}
  # Not static-ffmpeg, for which ffmpeg-sys-next asks for a framework that macOS has no more. There are only static
  # libraries in this folder, so they are linked all the same.
  feature=pack
  for_wheel=()
  build=(cargo build --target "$host")
fi
scripts/build_ffmpeg.sh "$ffmpeg" "$sources"
# Those that build Rust crates are found by cargo and Zig themselves.
unset CC CXX
export PKG_CONFIG_LIBDIR=$ffmpeg/lib/pkgconfig PKG_CONFIG_PATH=

say "notices"
scripts/third_party.py python/third-party --ffmpeg "$ffmpeg" --target "$host"

say "wheel"
export CARGO_PROFILE_RELEASE_STRIP=true CARGO_TARGET_DIR=$PWD/target/portable
# In a folder that Zig is not below: it would name its headers by relative paths, and builds of crates run elsewhere.
cd python
maturin build --release --locked --features "$feature" ${for_wheel[@]+"${for_wheel[@]}"} --out "$out"

say "program"
"${build[@]}" --release --locked --package vidrec --no-default-features --features "cli,$feature"
cd ..
name=vidrec-$version-$host
rm -rf "target/$name"
mkdir "target/$name"
cp "target/portable/$host/release/vidrec" LICENSE-APACHE LICENSE-MIT README.md "target/$name"
cp -r python/third-party "target/$name/third-party"
tar --create --gzip --file "$out/$name.tar.gz" --directory target "$name"
rm -rf "target/$name"

say "source distribution"
# Without third-party/: who builds it makes other libraries part of it, or none.
rm -rf python/third-party
maturin sdist --manifest-path python/Cargo.toml --out "$out"

mkdir "$out/sources"
cp "$sources"/{ffmpeg,dav1d,zlib}-*.tar.xz "$out/sources"
(cd "$out" && sha256 ./*.whl ./*.tar.gz sources/*) > target/SHA256SUMS
mv target/SHA256SUMS "$out"
say "$out"
ls -l "$out"
