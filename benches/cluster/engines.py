#!/usr/bin/env python3
"""What an engine costs: the same videos packed by vidrec alone, and by Ray.

    benches/cluster/engines.py VIDEOS [--count 200] [--rounds 3] [--shards 2]

VIDEOS is a folder of videos, of which each contestant gets COUNT links, and takes one frame a second with a short side of
256 pixels. Contestants take turns; the table has medians of the rounds.

    pack     vidrec pack, one process with two threads
    ray      vidrec.ray.pack on a Ray cluster of two cores that is up, in SHARDS tasks of one core

The Python of this script needs vidrec and Ray (scripts/cluster.sh).
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FPS, SIZE = 1, 256


def main():
    a = arguments()
    with tempfile.TemporaryDirectory(dir=a.scratch) as scratch:
        scratch = Path(scratch)
        videos = link(a.videos, scratch / "videos", a.count)
        start_ray()
        times = {name: [] for name in CONTESTANTS}
        for _ in range(a.rounds):
            for name, pack in CONTESTANTS.items():
                out = scratch / "out"
                shutil.rmtree(out, ignore_errors=True)
                seconds = pack(a, videos, out)
                times[name].append(seconds)
                print(f"{name:9} {seconds:7.2f} s  {a.count / seconds:6.1f} videos/s  {size(out):7.1f} MB", flush=True)
    first = statistics.median(times["pack"])
    for name, seconds in times.items():
        middle, spread = statistics.median(seconds), f"{min(seconds):.2f} to {max(seconds):.2f}"
        print(f"| {name} | {middle:.2f} s | {spread} | {a.count / middle:.1f} videos/s | {middle / first:.3f} |")


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("videos", type=Path, metavar="VIDEOS")
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--shards", type=int, default=2)
    p.add_argument("--program", default="vidrec", help="the program [vidrec]")
    p.add_argument("--scratch", type=Path, help="where to write [the system's temporary folder]")
    return p.parse_args()


def link(videos, folder, count):
    files = sorted(p for p in videos.rglob("*") if p.suffix in {".mp4", ".avi", ".mkv", ".webm"})
    folder.mkdir()
    for i in range(count):
        (folder / f"{i:05}{files[i % len(files)].suffix}").symlink_to(files[i % len(files)].resolve())
    return folder


def size(out):
    return sum(p.stat().st_size for p in out.rglob("*") if p.is_file()) / 1e6


def by_program(a, videos, out):
    command = [a.program, "pack", videos, "-o", out, "--threads", 2, "--outside", "--fps", FPS, "--size", SIZE]
    began = time.monotonic()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{done.stderr[-2000:]}")
    return time.monotonic() - began


def start_ray():
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # Ray gives its workers a lower priority than other programs have (15), which would measure the others.
    os.environ["RAY_worker_niceness"] = "0"
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")


def by_ray(a, videos, out):
    import vidrec
    import vidrec.ray

    began = time.monotonic()
    vidrec.ray.pack(videos, out, shards=a.shards, num_cpus=1, frames=vidrec.Fps(FPS), size=SIZE, outside=True)
    return time.monotonic() - began


CONTESTANTS = {"pack": by_program, "ray": by_ray}

if __name__ == "__main__":
    main()
