#!/usr/bin/env bash
# Builds the parts of FFmpeg that packing needs, for a vidrec that runs without an installed FFmpeg: static,
# position-independent, decoders only, with dav1d for AV1. No encoder, no muxer, no network, no program, and no code under
# the GPL, so the result is under the LGPL 2.1 or later.
#
#     scripts/build_ffmpeg.sh PREFIX [SOURCES]
#
# PREFIX gets lib/, include/ and licences/. SOURCES is a folder that scripts/ffmpeg_sources.sh filled; without it, this
# script runs that one. If PREFIX is up to date (same sources, same compiler), it exits at once. Then:
#
#     PKG_CONFIG_LIBDIR=PREFIX/lib/pkgconfig cargo build --release --features static-ffmpeg
#
# CC and CXX choose the compilers (default: cc, c++). TARGET=aarch64-linux says that they compile for another machine.
# Needs a C compiler, make, nasm (x86-64), pkg-config, Python 3 (for meson, which builds dav1d), tar and xz.
set -euo pipefail

(($# == 1 || $# == 2)) || { echo "usage: scripts/build_ffmpeg.sh PREFIX [SOURCES]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
export CC=${CC:-cc} CXX=${CXX:-c++} AR=${AR:-ar} RANLIB=${RANLIB:-ranlib}
target=${TARGET:-}
jobs=$(getconf _NPROCESSORS_ONLN)
# Videos are untrusted bytes: an overflow of a stack buffer or of a buffer of known size ends the process.
hardening="-O2 -g0 -fPIC -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"

sha256() { if command -v sha256sum > /dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }
say() { echo "build_ffmpeg: $*" >&2; }

if (($# == 2)); then
  sources=$(cd "$2" && pwd)
else
  sources=$prefix/sources
  compgen -G "$sources/zlib-*.tar.xz" > /dev/null || "$here/ffmpeg_sources.sh" "$sources"
fi
tarball() { # NAME: the one tarball of this name
  local found=("$sources/$1"-*.tar.xz)
  [[ ${#found[@]} == 1 && -f ${found[0]} ]] || { say "expected one $1-*.tar.xz in $sources"; exit 1; }
  echo "${found[0]}"
}
ffmpeg=$(tarball ffmpeg) dav1d=$(tarball dav1d) zlib=$(tarball zlib)

wanted=$({ (cd "$sources" && sha256 "${ffmpeg##*/}" "${dav1d##*/}" "${zlib##*/}")
  sha256 < "$0"; echo "$prefix $target $CC $CXX"; $CC --version; } 2> /dev/null)
if [ "$(cat "$prefix/made-for" 2> /dev/null)" = "$wanted" ]; then
  say "$prefix is up to date"
  exit 0
fi
rm -rf "$prefix"/{lib,include,share,licences,made-for}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run() { "$@" > "$work/log" 2>&1 || { grep --ignore-case --before-context 2 --after-context 4 error "$work/log" | tail -n 60 >&2; say "failed: $*"; exit 1; }; }
unpack() { mkdir "$work/$1" && tar --extract --file "$2" --directory "$work/$1" --strip-components 1; }
unpack ffmpeg "$ffmpeg"
unpack dav1d "$dav1d"
unpack zlib "$zlib"
# pkg-config finds only what is built here, nothing from the system.
export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig PKG_CONFIG_PATH=

say "zlib"
cd "$work/zlib"
CFLAGS=$hardening run ./configure --static --prefix="$prefix"
run make -j "$jobs" libz.a
run make install
rm -rf "$prefix/share"

say "dav1d"
cd "$work/dav1d"
run python3 -m venv "$work/tools"
run "$work/tools/bin/pip" install --disable-pip-version-check --require-hashes \
  --requirement "$here/requirements-ffmpeg.txt"
export PATH="$work/tools/bin:$PATH"
cross=()
if [ -n "$target" ]; then
  cat > "$work/cross" <<END
[binaries]
c = [$(printf "'%s', " $CC)]
ar = '$AR'
[host_machine]
system = '${target#*-}'
cpu_family = '${target%%-*}'
cpu = '${target%%-*}'
endian = 'little'
END
  cross=(--cross-file "$work/cross")
fi
CFLAGS=$hardening run meson setup build ${cross[@]+"${cross[@]}"} --prefix "$prefix" --libdir lib --buildtype release \
  --default-library static -D b_staticpic=true -D enable_tools=false -D enable_tests=false
run ninja -C build install

say "FFmpeg"
cd "$work/ffmpeg"
cross=()
[ -z "$target" ] || cross=(--enable-cross-compile --arch="${target%%-*}" --target-os="${target#*-}")
run ./configure --prefix="$prefix" --cc="$CC" --cxx="$CXX" --ar="$AR" --ranlib="$RANLIB" --pkg-config=pkg-config \
  --pkg-config-flags=--static ${cross[@]+"${cross[@]}"} \
  --enable-static --disable-shared --enable-pic --extra-cflags="$hardening -I$prefix/include" --extra-ldflags="-L$prefix/lib" \
  --disable-debug --disable-autodetect --disable-programs --disable-doc --disable-network \
  --disable-avdevice --disable-avfilter --disable-postproc \
  --disable-encoders --disable-muxers --disable-protocols --disable-devices --disable-filters --disable-hwaccels \
  --enable-zlib --enable-libdav1d
# glibc kept this function long after Linux dropped it, and Zig's headers lack its header.
[[ "$($CC -dumpmachine 2> /dev/null)" != *linux* ]] || sed -i 's/^#define HAVE_SYSCTL 1/#define HAVE_SYSCTL 0/' config.h
grep -q '^#define FFMPEG_LICENSE "LGPL version 2.1 or later"' config.h || { say "not under the LGPL alone"; exit 1; }
grep -q '^#define CONFIG_LIBDAV1D_DECODER 1' config_components.h || { say "dav1d was not found"; exit 1; }
run make -j "$jobs"
run make install
rm -rf "$prefix/share"

mkdir -p "$prefix/licences"
cp COPYING.LGPLv2.1 "$prefix/licences/FFmpeg-LGPL-2.1.txt"
cp LICENSE.md "$prefix/licences/FFmpeg-LICENSE.md"
cp "$work/dav1d/COPYING" "$prefix/licences/dav1d-BSD-2-Clause.txt"
cp "$work/zlib/LICENSE" "$prefix/licences/zlib.txt"
(cd "$sources" && sha256 "${ffmpeg##*/}" "${dav1d##*/}" "${zlib##*/}") > "$prefix/licences/sources.sha256"
echo "$wanted" > "$prefix/made-for"
say "$prefix is built from ${ffmpeg##*/}, ${dav1d##*/}, ${zlib##*/}"
