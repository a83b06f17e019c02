"""Videos to pack: generated ones, and real ones where there are some."""
import shutil
import subprocess

X264 = ["-c:v", "libx264", "-preset", "veryfast"]
# Name, source of FFmpeg, encoder.
GENERATED = [
    ("reordered.mkv", "testsrc2=size=256x144:rate=30:duration=4,hue=h=40", [*X264, "-bf", "3", "-g", "250"]),
    ("counter.mp4", "testsrc=size=240x320:rate=30:duration=2", [*X264, "-g", "12"]),
    ("zoom.mkv", "mandelbrot=size=320x240:rate=24:end_scale=0.01,trim=duration=2", X264),
    ("orange.mp4", "gradients=size=240x180:rate=30:duration=3:seed=3:speed=0.2:n=5:c0=orange:c1=navy", X264),
    ("red.webm", "gradients=size=320x240:rate=25:duration=2:seed=11:speed=0.2:n=6:c0=red:c1=lime",
     ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "300k"]),
    ("cyan.avi", "gradients=size=322x182:rate=15:duration=3:seed=2:c0=cyan:c1=maroon", ["-c:v", "mpeg4", "-q:v", "3"]),
    ("life.mkv", "life=size=160x120:rate=20:mold=10:ratio=0.3:seed=7,trim=duration=3", X264),
    ("pictures.avi", "testsrc2=size=162x122:rate=10:duration=2,vflip", ["-c:v", "mjpeg", "-q:v", "3"]),
    ("blue.mpg", "gradients=size=320x240:rate=25:duration=2:seed=9:c0=blue:c1=white", ["-c:v", "mpeg2video", "-q:v", "4"]),
    ("one.mp4", "testsrc=size=128x96:rate=25:duration=0.04", X264),
]
SAME = ["-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact", "-map_metadata", "-1"]


def generate(folder):
    """All generated videos, with sound in every second one."""
    folder.mkdir(parents=True)
    for number, (name, source, encoder) in enumerate(GENERATED):
        sound = ["-f", "lavfi", "-i", f"sine=frequency={200 + 30 * number}:sample_rate=16000"] if number % 2 == 0 else []
        command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, *sound, *encoder, "-pix_fmt",
                   "yuvj420p" if encoder[1] == "mjpeg" else "yuv420p", *(["-shortest"] if sound else []), *SAME]
        subprocess.run([*command, folder / name], check=True, stdin=subprocess.DEVNULL)


def some(machine, pool, classes, name):
    """A random set of videos in a folder of classes."""
    rng, folder = machine.rng, machine.path(name)
    generated = rng.sample(sorted(pool.iterdir()), rng.randint(5, 9))
    for number, path in enumerate(generated):
        to = folder / classes[number % len(classes)] / f"{number:02} {path.name}"
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)
    return folder
