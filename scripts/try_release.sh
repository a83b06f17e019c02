#!/usr/bin/env bash
# Tests what scripts/release.sh built. Neither the wheel nor the program may need a library that a bare machine lacks. Both
# must pack videos of several codecs to the same bytes, the wheel in a new virtual environment with only NumPy. The same for the
# Debian package, in a container, where this is root and debootstrap and buildah are installed.
#
#     scripts/try_release.sh [FOLDER]       default: target/release-files
#
# Needs the ffmpeg program, which generates the videos.
set -euo pipefail
cd "$(dirname "$0")/.."
files=$(cd "${1:-target/release-files}" && pwd)
scripts=$PWD/scripts
vectors=$PWD/format-spec/vectors/good/two-shards
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

wheel=$(echo "$files"/*.whl)
mkdir program
tar --extract --file "$(echo "$files"/vidrec-*-*-*.tar.gz)" --directory program --strip-components 1
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check "$wheel"
module=$(venv/bin/python -c "import vidrec._vidrec as m; print(m.__file__)")

for picture in $(grep --only-matching --extended-regexp '[a-z/-]+\.svg' program/README.md); do
  [ -e "program/$picture" ] || { echo "the program's README shows $picture, which is not there" >&2; exit 1; }
done

# The libraries on every machine that such a wheel can be installed on, and no others.
needed() { if [ "$(uname -s)" = Linux ]; then ldd "$1"; else otool -L "$1" | tail -n +2; fi; }
bare='linux-vdso|ld-linux|lib(c|m|dl|rt|util|pthread|gcc_s)\.so|/usr/lib/|/System/Library/'
for binary in "$module" program/vidrec; do
  if [ "$(uname -s)" = Linux ]; then bare=${bare%%|/usr*}; fi
  if needed "$binary" | grep --invert-match --extended-regexp "$bare"; then
    echo "$binary needs what a bare machine lacks" >&2
    exit 1
  fi
done

# The bill of materials names the libjpeg-turbo that is inside.
linked=$(grep --text --only-matching --max-count 1 'libjpeg-turbo version [0-9.]*' program/vidrec | cut -d ' ' -f 3)
python3 - "$linked" program/third-party/sbom.cdx.json <<'END'
import json
import sys

components = {part["name"]: part["version"] for part in json.load(open(sys.argv[2]))["components"]}
assert sys.argv[1] and components["libjpeg-turbo"].startswith(sys.argv[1]), (sys.argv[1], components["libjpeg-turbo"])
END

mkdir -p videos/a videos/b
make() { # FILE OPTIONS...
  local file=$1
  shift
  ffmpeg -nostdin -loglevel error -f lavfi -i testsrc2=size=192x144:rate=10:duration=2 -pix_fmt yuv420p "$@" "videos/$file"
}
make a/h264.mp4 -c:v libx264
make a/hevc.mp4 -c:v libx265 -x265-params log-level=none
make a/vp9.webm -c:v libvpx-vp9
make b/mpeg4.avi -c:v mpeg4
make b/prores.mov -c:v prores
make b/ffv1.mkv -c:v ffv1
av1=0
# Without --quiet: grep would end before ffmpeg, whose failure would then be the pipeline's.
if ffmpeg -hide_banner -encoders 2> /dev/null | grep libsvtav1 > /dev/null; then
  make b/av1.mkv -c:v libsvtav1 2> /dev/null
  av1=1
fi

export PYTHONDONTWRITEBYTECODE=1
venv/bin/python - "$((6 + av1))" "$vectors" <<'END'
import sys
import vidrec

report = vidrec.pack("videos", "by-wheel", frames=4, size=64)
assert (report.clips, report.failed) == (int(sys.argv[1]), 0), report
assert vidrec.verify("by-wheel", deep=True).ok
assert vidrec.verify(sys.argv[2], deep=True).ok
(batch,) = vidrec.Loader("by-wheel", batch_size=int(sys.argv[1]), frames=4, crop=56)
assert batch.frames.shape == (int(sys.argv[1]), 4, 3, 56, 56) and batch.frames.max() > 200
END
program/vidrec pack videos -o by-program --frames 4 --size 64 > /dev/null
venv/bin/vidrec pack videos -o together --frames 4 --size 64 --no-isolate > /dev/null
# File names contain digits of the digest, so equal listings mean equal record files.
cmp by-wheel/dataset.json by-program/dataset.json
cmp by-wheel/dataset.json together/dataset.json
venv/bin/vidrec verify --deep by-program
licences=$(venv/bin/python -c "import importlib.metadata as m; print(*m.files('vidrec'), sep='\n')" | grep --count /third-party/)
((licences > 5)) && [ -f program/third-party/NOTICE.txt ] || { echo "the notices are missing" >&2; exit 1; }
venv/bin/python - program/third-party/sbom.cdx.json <<'END'
import json
import sys

names = {component["name"] for component in json.load(open(sys.argv[1]))["components"]}
assert {"ffmpeg", "dav1d", "zlib", "libjpeg-turbo", "serde"} <= names, names
END
for site in "$files"/vidrec-*-docs.tar.gz; do
  [ -f "$site" ] || continue # scripts/release.sh --no-docs
  mkdir site
  tar --extract --file "$site" --directory site --strip-components 1
  [ -f site/index.html ] && [ -f site/rust/vidrec/index.html ] || { echo "$site lacks pages" >&2; exit 1; }
done
if [ "$(uname -s)" = Linux ]; then
  if ((EUID == 0)) && command -v debootstrap > /dev/null && command -v buildah > /dev/null; then
    "$scripts/try_container.sh" "$files" videos by-program
  else
    echo "not root, or no debootstrap or buildah: the Debian package and the Containerfile are not tested" >&2
    [ -z "${VIDREC_REQUIRE:-}" ]
  fi
fi
venv/bin/vidrec --version | tail -n 1
program/vidrec --version | tail -n 1
echo "$((6 + av1)) videos packed by the wheel and by the program, to the same bytes"
