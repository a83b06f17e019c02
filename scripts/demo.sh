#!/usr/bin/env bash
# Shows what vidrec does, from videos to training, in some minutes, most of which it compiles. It writes everything to demo-out/.
#
#     scripts/demo.sh            with small videos that it generates
#     scripts/demo.sh VIDEOS     with your own folder; the first folder level is the class
set -euo pipefail
if (($# > 1)); then
  sed -n 's/^# \{0,1\}//; 3,5p' "$0" >&2
  exit 2
fi
videos=${1:+$(realpath -- "$1")}
cd "$(dirname "$0")/.."
. scripts/setup.sh

say() { printf '\n\033[1m%s\033[0m\n' "$1"; }
[ -t 1 ] || say() { printf '\n%s\n' "$1"; }

# Shows a command, then runs it. Arguments before "--" are further exit statuses that count as success.
try() {
  local fine=" 0 " status=0
  while [ "$1" != -- ]; do fine+="$1 "; shift; done
  shift
  echo "\$ ${*/#target\/demo\//}"
  "$@" || status=$?
  [[ "$fine" == *" $status "* ]] || { echo "demo: stopped, exit status $status" >&2; exit 1; }
}

# NAME SOURCE [FFMPEG OPTION...]
make_video() {
  mkdir -p "$(dirname "demo-out/videos/$1")"
  nice ffmpeg -nostdin -v error -y -f lavfi -i "$2" -pix_fmt yuv420p -preset veryfast "${@:3}" "demo-out/videos/$1"
}

make_videos() {
  rm -rf demo-out/videos
  make_video fractal/zoom.mp4       mandelbrot=size=640x480:rate=30 -t 3
  make_video fractal/slow.mkv       mandelbrot=size=320x240:rate=15:end_scale=0.1 -t 3
  make_video fractal/triangle.mp4   sierpinski=size=480x360:rate=25 -t 3
  make_video fractal/triangle2.mp4  sierpinski=size=320x320:rate=25:seed=7 -t 2
  make_video life/large.mp4         life=size=640x360:mold=10:rate=25:ratio=0.1:seed=1:death_color=#C83232:life_color=#00ff00 -t 3
  make_video life/small.avi         life=size=160x120:mold=20:rate=12:ratio=0.2:seed=2:death_color=#C83232:life_color=#00ff00 -t 4 -c:v mpeg4 -q:v 3
  make_video life/ntsc.mp4          life=size=352x240:mold=10:rate=30000/1001:ratio=0.1:seed=3:death_color=#C83232:life_color=#00ff00 -t 3
  make_video life/short.mp4         life=size=320x240:mold=10:rate=25:ratio=0.1:seed=4:death_color=#C83232:life_color=#00ff00 -frames:v 5
  make_video pattern/counter.mp4    testsrc2=size=640x480:rate=25 -t 3
  make_video pattern/film.mov       testsrc2=size=720x304:rate=24 -t 3
  make_video pattern/old.mpg        testsrc=size=352x288:rate=25 -t 3 -c:v mpeg2video -q:v 3
  # As a phone held upright records it: sideways frames, and metadata that says to rotate them.
  make_video pattern/lying.mp4      testsrc2=size=640x360:rate=30 -t 2
  local lying=demo-out/videos/pattern/lying.mp4 upright=demo-out/videos/pattern/upright.mp4
  ffmpeg -nostdin -v error -y -display_rotation 90 -i $lying -c copy $upright 2> /dev/null ||
    ffmpeg -nostdin -v error -y -i $lying -c copy -metadata:s:v rotate=90 $upright
  rm $lying
  # A truncated download.
  head -c 20000 demo-out/videos/fractal/zoom.mp4 > demo-out/videos/fractal/cut-off.mp4
  touch demo-out/videos/.complete
}

mkdir -p demo-out
making=
if [ -z "$videos" ]; then
  videos=demo-out/videos
  # Meanwhile: Cargo does not keep all cores busy to its end.
  { [ -e $videos/.complete ] || make_videos; } &
  making=$!
fi

say "Building vidrec for the demo, which takes some minutes. The complete program, as fast as it can be: cargo build --release"
# Without other formats, and hardly optimized: both take most of the time of a release build.
CMAKE=$PWD/scripts/demo_cmake.sh cargo build --profile demo --locked --no-default-features --features pack,cli --lib --bins
vidrec=target/demo/vidrec

if [ -n "$making" ]; then
  wait "$making"
  say "The videos: 12 small ones in 3 classes, and a broken one, in $videos/"
  find $videos -type f -not -name '.*' | sort
fi

say "1. Pack: 8 frames of each video, evenly spread, as JPEGs with a short side of 128 pixels.
   vidrec skips a video it cannot read and lists it; the exit status is then 3."
try 3 -- $vidrec pack "$videos" -o demo-out/set --frames 8 --size 128 --if-exists replace
for list in demo-out/set/failures-*.jsonl; do [ ! -e "$list" ] || try -- cat "$list"; done

say "2. Inspect: show what is in the data set, and what is known about one clip."
try -- $vidrec inspect demo-out/set --stats
try -- $vidrec inspect demo-out/set --clip 0

say "3. Verify: check structure, ids and every checksum, and decode every frame."
try -- $vidrec verify demo-out/set --deep

say "4. Look: draw some clips, and write the frames of one as files, byte for byte as stored."
try -- $vidrec view demo-out/set -o demo-out/sheet.png
rm -rf demo-out/frames
try -- $vidrec export frames demo-out/set --clips 0 -o demo-out/frames

say "5. Measure: load shuffled batches of random crops, as a training loop does, for 3 seconds.
   Of the demo's build, only what decodes is optimized, and only a little."
try -- $vidrec bench demo-out/set batch_size=4 crop=112 shuffle=true --seconds 3

classes=$($vidrec inspect demo-out/set --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["classes"]))')
if ((classes > 1)); then
  say "6. Train: a small model on the packed clips (examples/train_loop.rs). With so few, it only memorizes them."
  # Without Cargo, which would first compile everything that tests need.
  rustc --edition 2024 -C panic=abort -L target/demo/deps --extern vidrec=target/demo/libvidrec.rlib -o target/demo/train_loop examples/train_loop.rs
  # The demo succeeds even if the model learns nothing from your own videos.
  try ${1:+1} -- target/demo/train_loop demo-out/set
fi

say "Done. The data set is in demo-out/set, the contact sheet is demo-out/sheet.png. Next:
   * your own videos:         scripts/demo.sh FOLDER, with a subfolder for each class
   * Python and the program:  pip install ./python in a virtual environment, then docs/first-data-set.md
   * the complete program:    cargo install --path .
   * how large and how good:  docs/quality.md
   * all tests:               scripts/test.sh"
