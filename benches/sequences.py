#!/usr/bin/env python3
"""NVVL's own workload: sequences of 5 consecutive frames, random crops of 960x540 from videos of 540 to 2160 lines, batches of
8, in FP32 and FP16; beside JPEG and PNG files, and TorchCodec on the video, in a DataLoader.

    benches/sequences.py VIDEO [--lines 540,720,1080,2160] [--rounds 3] [--seconds 10] [--json FILE]

ffmpeg scales VIDEO, which has 1080 lines or more, to each number of lines, with a keyframe every 10 frames. Needs the program
`vidrec` on PATH (or in VIDREC_PROGRAM), ffmpeg, and vidrec, torch, TorchCodec and Pillow for Python. The files hold the frames that ffmpeg decodes, as JPEG of
quality 90 in 4:2:0, which vidrec packs at about the same PSNR, and as PNG. Contestants have one thread or worker, and run in
turn. CPU time is of the process and its workers.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

import vidrec

SEQUENCE, BATCH, WIDTH, HEIGHT = 5, 8, 960, 540
VIDEO = "video.mp4"
TYPES = {"FP32": "float32", "FP16": "float16"}


def made(video, lines, folder):
    """The video of so many lines, a data set of it, and its frames as files."""
    folder.mkdir()
    scaled, size = folder / "video.mp4", f"scale=-2:{lines}:flags=lanczos"
    run("ffmpeg", "-v", "error", "-i", video, "-an", "-vf", size, "-c:v", "libx264", "-crf", "18", "-preset", "veryfast", "-g", "10", scaled)
    run(os.environ.get("VIDREC_PROGRAM", "vidrec"), "pack", scaled, "-o", folder / "set", "--all", "--size", "original")
    (folder / "png").mkdir()
    (folder / "jpg").mkdir()
    run("ffmpeg", "-v", "error", "-i", scaled, "-compression_level", "3", folder / "png/%05d.png")
    for path in (folder / "png").iterdir():
        Image.open(path).convert("RGB").save(folder / "jpg" / f"{path.stem}.jpg", quality=90, subsampling=2)
    return folder


def run(*command):
    done = subprocess.run([*map(str, command)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{command[0]}: {done.stderr}")


def corner(width, height):
    return (int(torch.randint(most + 1, ())) for most in (width - WIDTH, height - HEIGHT))


class Files(Dataset):
    """Sequences of files, cropped alike, as floats in CHW."""

    def __init__(self, folder, dtype):
        self.paths, self.dtype = sorted(folder.iterdir()), getattr(torch, dtype)

    def __len__(self):
        return len(self.paths) - SEQUENCE + 1

    def __getitem__(self, first):
        paths = self.paths[first : first + SEQUENCE]
        with Image.open(paths[0]) as picture:
            left, top = corner(picture.width, picture.height)
        frames = [np.asarray(Image.open(path).convert("RGB").crop((left, top, left + WIDTH, top + HEIGHT))) for path in paths]
        return torch.from_numpy(np.stack(frames)).permute(0, 3, 1, 2).to(self.dtype).div_(255)


class Video(Dataset):
    """Sequences of the video, likewise."""

    def __init__(self, path, count, dtype):
        self.path, self.count, self.dtype, self.decoder = str(path), count, getattr(torch, dtype), None

    def __len__(self):
        return self.count - SEQUENCE + 1

    def __getitem__(self, first):
        if self.decoder is None:  # In the worker.
            from torchcodec.decoders import VideoDecoder

            self.decoder = VideoDecoder(self.path, num_ffmpeg_threads=1)
        frames = self.decoder.get_frames_in_range(first, first + SEQUENCE).data
        left, top = corner(frames.shape[3], frames.shape[2])
        return frames[:, :, top : top + HEIGHT, left : left + WIDTH].to(self.dtype).div_(255)


def batches(way, folder, dtype):
    torch.set_num_threads(1)
    while True:
        if way == "vidrec":
            frames, crop = vidrec.Windows(SEQUENCE), vidrec.RandomCrop((HEIGHT, WIDTH))
            options = {"dtype": dtype, "shuffle": True, "threads": 1}
            yield from (batch.frames for batch in vidrec.Loader(folder / "set", BATCH, frames=frames, crop=crop, **options))
        else:
            count = len([*(folder / "png").iterdir()])
            found = Video(folder / way, count, dtype) if way == VIDEO else Files(folder / way, dtype)
            yield from DataLoader(found, BATCH, shuffle=True, num_workers=1, drop_last=True, persistent_workers=False)


def cpu():
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def measure(way, folder, dtype, seconds):
    """Frames a second, and CPU seconds for 1000 frames."""
    source = batches(way, folder, dtype)
    next(source)
    begun, used, frames = time.perf_counter(), cpu(), 0
    while time.perf_counter() < begun + seconds:
        batch = next(source)
        assert batch.shape[1:] == (SEQUENCE, 3, HEIGHT, WIDTH)
        frames += batch.shape[0] * SEQUENCE
    took = time.perf_counter() - begun
    # The time of a worker counts when it has ended.
    source.close()
    return frames / took, (cpu() - used) / frames * 1000


def bytes_of(way, folder):
    """Kilobytes of a frame on disk."""
    count = len([*(folder / "png").iterdir()])
    paths = [folder / way] if way == VIDEO else (folder / ("set" if way == "vidrec" else way)).iterdir()
    return sum(path.stat().st_size for path in paths) / count / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("video", type=Path)
    parser.add_argument("--lines", type=lambda text: [*map(int, text.split(","))], default=[540, 720, 1080, 2160])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as temp:
        for lines in given.lines:
            folder, ways = made(given.video, lines, Path(temp) / str(lines)), ("vidrec", "jpg", "png", VIDEO)
            seen = {(way, kind): [] for way in ways for kind in TYPES}
            for _ in range(given.rounds):
                for (way, kind), found in seen.items():
                    found.append(measure(way, folder, TYPES[kind], given.seconds))
            for (way, kind), found in seen.items():
                speed, cost = (statistics.median(each[i] for each in found) for i in (0, 1))
                rows.append({"lines": lines, "way": way, "type": kind, "kB": bytes_of(way, folder), "frames/s": speed, "CPU": cost})
    print("| lines | | | kB a frame | frames/s | CPU s/1000 frames |\n|---|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['lines']} | {row['way']} | {row['type']} | {row['kB']:.0f} | {row['frames/s']:.0f} | {row['CPU']:.2f} |")
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
