#!/usr/bin/env bash
# Builds the parts of FFmpeg that packing needs, for a vidrec that runs without an installed FFmpeg: static,
# position-independent, with the demuxers and decoders below and dav1d for AV1. No encoder, no muxer, no protocol, no
# network, no program, and no code under the GPL, so the result is under the LGPL 2.1 or later.
#
#     scripts/build_ffmpeg.sh PREFIX [SOURCES]
#
# PREFIX gets lib/, include/ and licences/. SOURCES is a folder that scripts/ffmpeg_sources.sh filled; without it, this
# script runs that one. If PREFIX is up to date (same sources, same compiler), it exits at once. Then:
#
#     PKG_CONFIG_LIBDIR=PREFIX/lib/pkgconfig cargo build --release --features static-ffmpeg
#
# PREFIX also gets libjpeg-turbo, newer than what the crate turbojpeg-sys brings: TURBOJPEG_SOURCE=explicit,
# TURBOJPEG_LIB_DIR=PREFIX/lib and TURBOJPEG_INCLUDE_DIR=PREFIX/include have the crate take it.
#
# CC and CXX choose the compilers (default: cc, c++). TARGET=aarch64-linux says that they compile for another machine.
# Needs a C compiler, make, CMake, nasm (x86-64), pkg-config, Python 3 (for meson, which builds dav1d), tar and xz.
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

# What is in here parses bytes of strangers. So only the formats of videos that people collect, as docs/install.md names
# them: no game formats, no subtitles, no playlists, no containers of sound alone, no pictures that make no clip.
demuxers=(
  apng asf av1 avi cavsvideo cine dhav dirac dnxhd dv flv gif gxf h261 h263 h264 hevc image_jpeg_pipe image_png_pipe ivf
  m4v matroska mjpeg mov mpegps mpegts mpegvideo mxf nut obu ogg rm vc1 wtv yuv4mpegpipe
)
# Of decoders that FFmpeg has twice, the ones that it prefers.
decoders=(
  # video of today and of the web
  av1 gif h261 h263 h263i h263p h264 hevc libdav1d mpeg1video mpeg2video mpeg4 mpegvideo theora vc1 vp3 vp6 vp6a vp6f vp7 vp8 vp9
  # older video
  cinepak flv indeo2 indeo3 indeo4 indeo5 msmpeg4v1 msmpeg4v2 msmpeg4v3 msvideo1 rv10 rv20 rv30 rv40 svq1 svq3 wmv1 wmv2 wmv3
  # cameras and editing
  aic avui cavs cfhd dirac dnxhd dvvideo jpeg2000 jpegls mjpeg mjpegb pixlet prores snow
  # without loss, and without compression
  apng ayuv bmp ffv1 ffvhuff huffyuv hymt lagarith magicyuv png qtrle r10k r210 rawvideo targa tiff utvideo v210 v210x v308 v408
  v410 y41p yuv4 zlib
  # screens
  cscd eightbps flashsv flashsv2 fraps g2m mss1 mss2 msrle mts2 rpza smc tscc tscc2 vp4 webp zmbv
  # sound
  aac aac_latm ac3 adpcm_g722 adpcm_g726 adpcm_ima_qt adpcm_ima_wav adpcm_ms adpcm_swf adpcm_yamaha alac amrnb amrwb ape atrac3
  atrac3p cook dca eac3 flac gsm gsm_ms ilbc imc mace3 mace6 mlp mp1float mp2float mp3float nellymoser opus pcm_alaw pcm_bluray
  pcm_dvd pcm_f32be pcm_f32le pcm_f64be pcm_f64le pcm_mulaw pcm_s16be pcm_s16be_planar pcm_s16le pcm_s16le_planar pcm_s24be
  pcm_s24daud pcm_s24le pcm_s24le_planar pcm_s32be pcm_s32le pcm_s32le_planar pcm_s64be pcm_s64le pcm_s8 pcm_s8_planar pcm_u16be
  pcm_u16le pcm_u24be pcm_u24le pcm_u32be pcm_u32le pcm_u8 qcelp qdm2 qdmc ra_144 ra_288 ralf s302m sipr speex truehd truespeech
  tta vorbis wavpack wmalossless wmapro wmav1 wmav2 wmavoice
)
parsers=(
  aac aac_latm ac3 amr av1 bmp cavsvideo cook dca dirac dnxhd dvaudio flac gif gsm h261 h263 h264 hevc jpeg2000 mjpeg mlp
  mpeg4video mpegaudio mpegvideo opus png rv30 rv40 sipr vc1 vorbis vp3 vp8 vp9 webp
)

sha256() { if command -v sha256sum > /dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }
say() { echo "build_ffmpeg: $*" >&2; }

if (($# == 2)); then
  sources=$(cd "$2" && pwd)
else
  sources=$prefix/sources
  compgen -G "$sources/libjpeg-turbo-*.tar.xz" > /dev/null || "$here/ffmpeg_sources.sh" "$sources"
fi
tarball() { # NAME: the one tarball of this name
  local found=("$sources/$1"-*.tar.xz)
  [[ ${#found[@]} == 1 && -f ${found[0]} ]] || { say "expected one $1-*.tar.xz in $sources"; exit 1; }
  echo "${found[0]}"
}
ffmpeg=$(tarball ffmpeg) dav1d=$(tarball dav1d) zlib=$(tarball zlib) jpeg=$(tarball libjpeg-turbo)

wanted=$({ (cd "$sources" && sha256 "${ffmpeg##*/}" "${dav1d##*/}" "${zlib##*/}" "${jpeg##*/}")
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
unpack jpeg "$jpeg"
# pkg-config finds only what is built here, nothing from the system.
export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig PKG_CONFIG_PATH=

say "zlib"
cd "$work/zlib"
CFLAGS=$hardening run ./configure --static --prefix="$prefix"
run make -j "$jobs" libz.a
run make install
rm -rf "$prefix/share"

say "libjpeg-turbo"
# CMake takes a compiler of one word.
for compiler in CC CXX; do
  printf '#!/bin/sh\nexec %s "$@"\n' "${!compiler}" > "$work/$compiler"
  chmod +x "$work/$compiler"
done
cross=()
[ -z "$target" ] || cross=(-D CMAKE_SYSTEM_NAME="$(case ${target#*-} in darwin) echo Darwin ;; *) echo Linux ;; esac)"
  -D CMAKE_SYSTEM_PROCESSOR="${target%%-*}")
run env -u CC -u CXX cmake -S "$work/jpeg" -B "$work/jpeg/build" ${cross[@]+"${cross[@]}"} -D CMAKE_C_COMPILER="$work/CC" \
  -D CMAKE_CXX_COMPILER="$work/CXX" -D CMAKE_BUILD_TYPE=Release -D CMAKE_C_FLAGS="$hardening" -D CMAKE_INSTALL_PREFIX="$prefix" \
  -D CMAKE_INSTALL_DEFAULT_LIBDIR=lib -D ENABLE_SHARED=OFF -D ENABLE_STATIC=ON -D REQUIRE_SIMD=ON \
  -D BUILD=vidrec
run cmake --build "$work/jpeg/build" --parallel "$jobs" --target install
# FFmpeg must not take it for something that it needs.
rm -rf "$prefix/share" "$prefix/lib/cmake" "$prefix"/bin "$prefix"/lib/libjpeg.a "$prefix"/lib/pkgconfig/lib{jpeg,turbojpeg}.pc

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
  --disable-demuxers "${demuxers[@]/#/--enable-demuxer=}" --disable-decoders "${decoders[@]/#/--enable-decoder=}" \
  --disable-parsers "${parsers[@]/#/--enable-parser=}" --enable-zlib --enable-libdav1d
# glibc kept this function long after Linux dropped it, and Zig's headers lack its header.
[[ "$($CC -dumpmachine 2> /dev/null)" != *linux* ]] || sed -i 's/^#define HAVE_SYSCTL 1/#define HAVE_SYSCTL 0/' config.h
# The libraries contain it. Without folders of this machine, they are the same whoever builds them.
sed -e "/^#define FFMPEG_CONFIGURATION /{s|$CC|cc|g; s|$CXX|c++|g;}" -e "s|$prefix|/ffmpeg|g" config.h > "$work/config.h"
cp "$work/config.h" config.h
grep -q '^#define FFMPEG_LICENSE "LGPL version 2.1 or later"' config.h || { say "not under the LGPL alone"; exit 1; }
# A decoder that lacks what it needs is left out without a word.
for kind in demuxer decoder parser; do
  list="${kind}s[@]"
  for name in "${!list}"; do
    grep -q "^#define CONFIG_$(echo "${name}_$kind" | tr a-z A-Z) 1" config_components.h || { say "FFmpeg has no $kind $name"; exit 1; }
  done
done
# Bytes come from vidrec; FFmpeg opens nothing.
! grep -q '^#define CONFIG_.*_PROTOCOL 1' config_components.h || { say "a protocol was built in"; exit 1; }
run make -j "$jobs"
run make install
rm -rf "$prefix/share"

mkdir -p "$prefix/licences"
cp COPYING.LGPLv2.1 "$prefix/licences/FFmpeg-LGPL-2.1.txt"
cp LICENSE.md "$prefix/licences/FFmpeg-LICENSE.md"
cp "$work/dav1d/COPYING" "$prefix/licences/dav1d-BSD-2-Clause.txt"
cp "$work/zlib/LICENSE" "$prefix/licences/zlib.txt"
cp "$work/jpeg/LICENSE.md" "$prefix/licences/libjpeg-turbo-LICENSE.md"
cp "$work/jpeg/README.ijg" "$prefix/licences/libjpeg-turbo-README.ijg"
(cd "$sources" && sha256 "${ffmpeg##*/}" "${dav1d##*/}" "${zlib##*/}" "${jpeg##*/}") > "$prefix/licences/sources.sha256"
echo "$wanted" > "$prefix/made-for"
say "$prefix is built from ${ffmpeg##*/}, ${dav1d##*/}, ${zlib##*/}, ${jpeg##*/}"
