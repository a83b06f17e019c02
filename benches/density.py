#!/usr/bin/env python3
"""Bytes of a frame against quality: libjpeg-turbo as `vidrec pack` uses it, with --optimize, and with --effort 1.

    benches/density.py VIDEOS...

Packs the videos at each quality, and compares every frame, as Pillow decodes it to RGB, with the one packed at quality 100.
Then it says how many bytes each way needs for the PSNR that the first way has, on lines between its own qualities. Needs
NumPy and Pillow. VIDREC_PROGRAM names the program; without it, it is the one on PATH.
"""
import argparse
import io
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / "format-spec"))
import reader  # noqa: E402

PROGRAM = os.environ.get("VIDREC_PROGRAM", "vidrec")
QUALITIES = (75, 80, 85, 90, 95)
WAYS = {"libjpeg-turbo": (), "with --optimize": ("--optimize",), "with --effort 1": ("--effort", "1")}


def pack(videos, out, *options):
    command = [PROGRAM, "pack", *videos, "-o", out, "--frames", "2", *options]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{command}: {done.stderr}")
    return [clip.jpeg(t) for clip in reader.open_dataset(out).clips for t in range(len(clip.frames))]


def pixels(jpeg):
    return numpy.asarray(Image.open(io.BytesIO(jpeg)).convert("RGB"), dtype=numpy.int16)


def psnr(frame, reference):
    squares = numpy.square(pixels(frame) - reference, dtype=numpy.int32).mean()
    return 10 * math.log10(255**2 / max(squares, 1e-9))


def bytes_at(curve, wanted):
    """Bytes on the line, logarithmic in bytes, through the two points of (PSNR, bytes) next to a PSNR."""
    curve = sorted(curve)
    after = next((i for i in range(1, len(curve)) if curve[i][0] >= wanted), len(curve) - 1)
    (low, few), (high, many) = curve[after - 1 : after + 1]
    return few * (many / few) ** ((wanted - low) / (high - low))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("videos", nargs="+", type=Path)
    videos = parser.parse_args().videos
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        reference = [pixels(jpeg) for jpeg in pack(videos, folder / "reference", "--quality", "100")]
        curves = {}
        for number, (way, options) in enumerate(WAYS.items()):
            for quality in QUALITIES:
                frames = pack(videos, folder / f"{number}-{quality}", "--quality", str(quality), *options)
                mean = sum(psnr(frame, whole) for frame, whole in zip(frames, reference)) / len(frames)
                curves.setdefault(way, []).append((mean, sum(map(len, frames)) / len(frames)))
    print(f"{len(reference)} frames")
    print("| | quality | bytes | PSNR of RGB in dB | bytes at the PSNR of libjpeg-turbo |\n|---|---|---|---|---|")
    for way, curve in curves.items():
        for quality, (mean, length), (wanted, first) in zip(QUALITIES, curve, curves["libjpeg-turbo"]):
            change = 100 * (bytes_at(curve, wanted) / first - 1)
            print(f"| {way} | {quality} | {length:,.0f} | {mean:.2f} | {change:+.1f} % |")


if __name__ == "__main__":
    main()
