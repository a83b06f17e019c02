"""The data set that is measured: a given one, videos that are packed, or clips that FFmpeg makes."""
import subprocess
from pathlib import Path

import vidrec

# Pictures of FFmpeg that move, with as much noise as makes a JPEG of 256 pixels about as large as one of real clips.
SOURCES = ("testsrc2", "mandelbrot", "gradients", "life=mold=10:ratio=0.3")


def data_set(given, home, quick):
    """Where it is, and what it has in words."""
    path = given if given and (given / "dataset.json").exists() else home / "set"
    if path != given:
        videos = given or made(home / "videos/made", 4 if quick else 64, "96x72" if quick else "340x256")
        vidrec.pack(videos, path, size=72 if quick else 256)
    dataset = vidrec.open(path)
    kind = f"clips of {given}" if given else "clips that FFmpeg made; real ones differ"
    jpeg = sum(len(dataset[i].jpeg(0)) for i in range(len(dataset))) / len(dataset)
    return path, f"{len(dataset):,} {kind}; {jpeg:,.0f} bytes of a JPEG, in the mean of first frames"


def made(folder, count, size):
    folder.mkdir(parents=True)
    for i in range(count):
        name, *options = SOURCES[i % len(SOURCES)].split("=", 1)
        source = f"{name}=size={size}:rate=12" + (":" + options[0] if options else "")
        command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-vf", f"noise=alls=8:allf=t:all_seed={i}"]
        command += ["-t", "2", "-pix_fmt", "yuv420p", str(Path(folder, f"{i:03}.mp4"))]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return folder.parent
