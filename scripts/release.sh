#!/usr/bin/env bash
# Builds the release files for one kind of machine: a Python wheel and a `vidrec` program that pack and need no FFmpeg,
# because they contain FFmpeg's decoders (LGPL; scripts/build_ffmpeg.sh).
#
#     scripts/release.sh [--target TRIPLE] [--sources FOLDER] [--no-docs]
#
# target/release-files/ (with --target: target/release-files-TRIPLE/) gets
#     vidrec-VERSION-…-manylinux_2_28_….whl   for CPython 3.9 and newer
#     vidrec-VERSION-….tar.gz                 the program, with its notices and completions
#     vidrec_VERSION_….deb                    the same as a Debian package; on Linux only
#     vidrec-VERSION-….cdx.json               what both contain, for programs (CycloneDX)
#     vidrec-VERSION.tar.gz                   the source distribution
#     vidrec-VERSION-docs.tar.gz              the site of the documentation, as files; not with --no-docs or --target
#     sources/                                sources of FFmpeg and what is linked with it; the LGPL requires publishing them too
#     SHA256SUMS
#
# What is compiled names no folder of this machine, and files have the time of the commit, so two builds can be compared:
# docs/dev/release.md says which parts are the same.
#
# TRIPLE is Rust's name of the machine that the files are for, such as aarch64-unknown-linux-gnu; without it, this one. For
# another one, on Linux, you need its Rust target (rustup target add TRIPLE) and, because the program writes its own
# completions, Debian's packages binfmt-support, qemu-user-static and libc6-ARCHITECTURE-cross. scripts/try_arm.sh tests those files.
#
# FOLDER already contains those sources; without it, scripts/ffmpeg_sources.sh fetches them. On Linux, Zig (from PyPI) is
# the C compiler and the linker, because it links against an old glibc (2.28, from 2018) whatever version this machine has.
# On macOS it is the system's compiler, and you must have installed what setup.sh installs on Linux: Rust, CMake, NASM,
# pkg-config, Python.
set -euo pipefail
cd "$(dirname "$0")/.."
system=$(uname -s)
[ "$system" != Linux ] || . scripts/setup.sh

host=$(rustc -vV | sed -n 's/^host: //p')
target=$host sources= docs=yes
while (($#)); do
  case $1 in
    --target) target=$2; shift 2 ;;
    --sources) sources=$(cd "$2" && pwd); shift 2 ;;
    --no-docs) docs=; shift ;;
    *) echo "usage: scripts/release.sh [--target TRIPLE] [--sources FOLDER] [--no-docs]" >&2; exit 2 ;;
  esac
done
say() { echo "==> $*"; }
sha256() { if command -v sha256sum > /dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
machine=${target%%-*}
of_machine=
if [ "$target" != "$host" ]; then
  of_machine=-$target docs=
  # Where the program, which runs under emulation here, finds its libraries.
  export QEMU_LD_PREFIX=/usr/$machine-linux-gnu
  # For build_ffmpeg.sh and pkg-config.
  export TARGET=$machine-linux PKG_CONFIG_ALLOW_CROSS=1
fi
out=$PWD/target/release-files$of_machine
ffmpeg=$PWD/target/ffmpeg$of_machine
tools=$PWD/target/venv-release
rm -rf "$out"
mkdir -p "$out"

# The time that all files bear, and no folder of this machine in what is compiled.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export RUSTFLAGS="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo --remap-path-prefix=$PWD=/vidrec"
umask 022

# target/NAME as an archive.
archive() { # NAME
  python3 - "target/$1" "$out/$1.tar.gz" <<'END'
import gzip
import os
import sys
import tarfile

def plain(entry):
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mtime = int(os.environ["SOURCE_DATE_EPOCH"])
    return entry

folder, path = sys.argv[1:]
with open(path, "wb") as file, gzip.GzipFile("", "wb", mtime=0, fileobj=file) as packed:
    with tarfile.open(fileobj=packed, mode="w") as tar:
        tar.add(folder, os.path.basename(folder), filter=plain)
END
}

say "tools"
wanted=$(sha256 < scripts/requirements-release.txt)
if [ "$(cat "$tools/made-for" 2> /dev/null)" != "$wanted" ]; then
  rm -rf "$tools"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check --require-hashes \
    --requirement scripts/requirements-release.txt
  echo "$wanted" > "$tools/made-for"
fi
export PATH="$tools/bin:$PATH"

say "FFmpeg"
if [ -z "$sources" ]; then
  sources=$PWD/target/ffmpeg-sources
  # Fetch again each time: there may be a security update.
  scripts/ffmpeg_sources.sh "$sources"
fi
if [ "$system" = Linux ]; then
  glibc=2.28
  zig="$tools/bin/python -m ziglang"
  export CC="$zig cc -target $machine-linux-gnu.$glibc" CXX="$zig c++ -target $machine-linux-gnu.$glibc"
  feature=static-ffmpeg
  for_wheel=(--zig --compatibility "manylinux_${glibc/./_}")
  build=(cargo zigbuild --target "$target.$glibc")
else
  export MACOSX_DEPLOYMENT_TARGET=${MACOSX_DEPLOYMENT_TARGET:-11.0}
  # Not static-ffmpeg: for it, ffmpeg-sys-next requires a framework that macOS no longer has. This folder contains only
  # static libraries, so they are linked anyway.
  feature=pack
  for_wheel=()
  build=(cargo build --target "$target")
fi
[ "$target" = "$host" ] || for_wheel+=(--target "$target")
scripts/build_ffmpeg.sh "$ffmpeg" "$sources"
# For Rust crates, cargo and Zig find their compilers themselves.
unset CC CXX
export PKG_CONFIG_LIBDIR=$ffmpeg/lib/pkgconfig PKG_CONFIG_PATH=
export TURBOJPEG_SOURCE=explicit TURBOJPEG_STATIC=1 TURBOJPEG_LIB_DIR=$ffmpeg/lib TURBOJPEG_INCLUDE_DIR=$ffmpeg/include

say "notices"
scripts/third_party.py python/third-party --ffmpeg "$ffmpeg" --target "$target"

say "wheel"
export CARGO_PROFILE_RELEASE_STRIP=true CARGO_TARGET_DIR=$PWD/target/portable
# Run in a folder that does not contain Zig: otherwise Zig refers to its headers by relative paths, and crates are built in
# other folders.
cd python
maturin build --release --locked --features "$feature" ${for_wheel[@]+"${for_wheel[@]}"} \
  --sbom-include third-party/sbom.cdx.json --out "$out"

say "program"
"${build[@]}" --release --locked --package vidrec --no-default-features --features "cli,$feature"
cd ..
name=vidrec-$version-$target
rm -rf "target/$name"
mkdir "target/$name"
cp "target/portable/$target/release/vidrec" LICENSE-APACHE LICENSE-MIT "target/$name"
# With its pictures.
tar --create README.md docs/assets/logo.svg docs/pictures/batch.svg | tar --extract --directory "target/$name"
mkdir "target/$name/completions"
for shell in bash elvish fish powershell zsh; do
  "target/$name/vidrec" completions "$shell" > "target/$name/completions/vidrec.$shell"
done
cp -r python/third-party "target/$name/third-party"
cp python/third-party/sbom.cdx.json "$out/$name.cdx.json"
archive "$name"
[ "$system" != Linux ] || scripts/debian_package.sh "target/$name" "$out" "$glibc"

if [ -n "$docs" ]; then
  say "documentation"
  VIDREC_PROGRAM="$PWD/target/$name/vidrec" scripts/docs.sh
  rm -rf "target/vidrec-$version-docs"
  mv target/docs/site "target/vidrec-$version-docs"
  archive "vidrec-$version-docs"
  rm -rf "target/vidrec-$version-docs"
fi
rm -rf "target/$name"

say "source distribution"
# Without third-party/: whoever builds the source distribution includes other libraries, or none.
rm -rf python/third-party
maturin sdist --manifest-path python/Cargo.toml --out "$out"

mkdir "$out/sources"
cp "$sources"/{ffmpeg,dav1d,zlib,libjpeg-turbo}-*.tar.xz "$out/sources"
(cd "$out" && sha256 *.* sources/*) > target/SHA256SUMS
mv target/SHA256SUMS "$out"
say "$out"
ls -l "$out"
