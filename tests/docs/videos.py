"""The videos, and a list of some of them, that pages find in their folder: small, in two classes, with the same colors in each run."""
import subprocess

# Sources of FFmpeg that move; `gradients` takes other colors in each run unless it has a seed.
VIDEOS = {
    "juggling/a.mp4": "testsrc2=size=320x240:rate=25:duration=3",
    "juggling/b.mkv": "mandelbrot=size=320x240:rate=24:end_scale=0.01,trim=duration=2",
    "juggling/c.mp4": "gradients=size=240x320:rate=30:duration=2:seed=3:speed=0.2:n=5:c0=orange:c1=navy",
    "running/d.mp4": "testsrc=size=320x240:rate=30:duration=2,hue=h=60",
    "running/e.webm": "gradients=size=320x240:rate=25:duration=2:seed=11:speed=0.2:n=6:c0=red:c1=lime",
    "running/f.mp4": "mandelbrot=size=240x320:rate=25:start_x=-0.1:start_y=0.65,trim=duration=3,hue=h=180",
}
MORE_VIDEOS = {
    "juggling/g.mp4": "testsrc2=size=320x240:rate=30:duration=2,hue=h=120,hflip",
    "juggling/h.mp4": "gradients=size=320x240:rate=25:duration=3:seed=21:speed=0.2:n=4:c0=yellow:c1=blue",
    "juggling/i.mkv": "mandelbrot=size=320x240:rate=25:start_x=-1.25:start_y=0.02,trim=duration=2,hue=h=90",
    "running/j.mp4": "gradients=size=240x320:rate=25:duration=2:seed=31:speed=0.2:n=7:c0=cyan:c1=maroon",
    "running/k.webm": "testsrc=size=320x240:rate=24:duration=3,vflip,hue=h=200",
    "running/l.mp4": "mandelbrot=size=240x320:rate=30:start_x=0.28:start_y=0.53,trim=duration=2",
}
LIST = '''\
{"path": "juggling/a.mp4", "label": "juggling", "caption": "three balls and a hat", "views": 120}
{"path": "juggling/b.mkv", "label": "juggling", "caption": "two clubs", "views": 8}
{"path": "juggling/c.mp4", "label": "juggling", "caption": "a girl juggles in a kitchen", "views": 44}
{"path": "running/d.mp4", "label": "running", "caption": "a dog runs along a beach"}
{"path": "running/e.webm", "label": "running", "caption": "a race in the rain", "views": 9001}
{"path": "running/f.mp4", "label": "running", "caption": "somebody jogs", "views": 2}
'''
ENCODERS = {
    ".mp4": ["-c:v", "libx264", "-preset", "veryfast", "-crf", "23"],
    ".mkv": ["-c:v", "libx264", "-preset", "veryfast", "-crf", "23"],
    ".webm": ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "300k"],
}
# The same bytes on each run of one FFmpeg.
SAME = ["-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-map_metadata", "-1"]


def make(folder, sources):
    for name, source in sources.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, *ENCODERS[path.suffix], "-pix_fmt", "yuv420p", *SAME]
        subprocess.run([*command, path], check=True, stdin=subprocess.DEVNULL)


def make_all(folder):
    """`videos` and `more-videos`, 0.5 MB, and `list.jsonl`."""
    make(folder / "videos", VIDEOS)
    make(folder / "more-videos", MORE_VIDEOS)
    (folder / "list.jsonl").write_text(LIST)
