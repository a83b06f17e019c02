#!/usr/bin/env python3
"""vidrec beside LeRobot at windows of episodes, and beside MosaicML Streaming and Grain at a mix of three data sets.

    benches/robots/setup.sh                                        once: the Python environment, about 10 GB
    target/robots/venv/bin/python benches/robots/run.py VIDEOS     makes the data, compares pixels, prints two tables

VIDEOS is a folder of videos of some seconds. Contestants run in turn (A B, B A, ...), each in a process of its own; a row
is the median of its rounds. Data and results.json are in --home.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

import data
from contestants import JOBS

REPOSITORY = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("contestants.py")
LEAST_PSNR = {"windows": 25, "mix": 30}  # dB, of the first sample beside vidrec's; LeRobot's is of lossy videos


def main():
    a = arguments()
    videos = sorted(path for path in a.videos.iterdir() if path.suffix in (".mp4", ".mkv", ".webm", ".avi"))
    if len(videos) < len(data.SHARES):
        sys.exit(f"{a.videos} has {len(videos)} videos; a mix needs at least {len(data.SHARES)}")
    failed, runs = prepare(a, videos), []
    for job in a.jobs:
        names = [name for name in JOBS[job] if (job, name) not in failed]
        if "vidrec" in names:
            names = [name for name in names if name == "vidrec" or is_alike(a, job, name, failed)]
        for r in range(a.rounds):
            turn = r % max(len(names), 1)
            for name in names[turn:] + names[:turn]:
                found = contestant(a, "run", job, name, a.seconds)
                runs.append({"job": job, "name": name, "load": os.getloadavg()[0], **json.loads(found)})
    (a.home / "results.json").write_text(json.dumps(runs, indent=1))
    print(report(runs))
    for (job, name), why in failed.items():
        print(f"\n{job}, {name}: {why}")
    return int(bool(failed))


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("videos", type=Path)
    p.add_argument("--home", type=Path, default=REPOSITORY / "target/robots")
    p.add_argument("--vidrec", type=Path, default=REPOSITORY / "target/release/vidrec", help="the program that packs")
    p.add_argument("--jobs", type=lambda text: text.split(","), default=list(JOBS), help=", ".join(JOBS))
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=5, help="length of a run, after five batches of warm-up")
    p.add_argument("--nice", type=int, default=0, help="niceness of what is measured; below 0 needs root")
    return p.parse_args()


def prepare(a, videos):
    """Makes the data; why some contestants cannot run."""
    failed = {}
    a.home.mkdir(parents=True, exist_ok=True)
    source = data.episodes(a.home / "episodes", videos) if "windows" in a.jobs else None
    for job in a.jobs:
        for name in JOBS[job]:
            out, make = a.home / f"{job}-{name}", getattr(data, f"{job}_{name}")
            given = {"windows": source, "mix": videos if name == "vidrec" else a.home / "mix-vidrec"}[job]
            try:
                make(out, given, *([a.vidrec] if name == "vidrec" else []))
            except Exception as e:
                failed[job, name] = f"no data: {type(e).__name__}: {e}"
    return failed


def contestant(a, what, job, name, last):
    words = ["nice", "-n", a.nice, sys.executable, SCRIPT, what, job, name, a.home, last]
    done = subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip().split("\n")[-1]


def is_alike(a, job, name, failed):
    """Whether the first sample is that of vidrec, as far as their ways to store pictures allow."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{who}.npy" for who in ("vidrec", name)]
        for file in files:
            contestant(a, "first", job, file.stem, file)
        ours, theirs = (np.load(file).astype(np.float64) for file in files)
    peak = 255 if job == "mix" else 1
    psnr = 10 * np.log10(peak**2 / max(np.mean((ours - theirs) ** 2), 1e-12))
    print(f"{job}, {name}: the first sample is {psnr:.1f} dB from vidrec's", flush=True)
    if psnr < LEAST_PSNR[job]:
        failed[job, name] = f"its pictures are others: {psnr:.1f} dB"
    return psnr >= LEAST_PSNR[job]


def report(runs):
    lines = []
    for job in dict.fromkeys(run["job"] for run in runs):
        lines += ["", f"| {job} | samples/s (least–most) | load |", "|---|---|---|"]
        for name in JOBS[job]:
            of_name = [run for run in runs if (run["job"], run["name"]) == (job, name)]
            if of_name:
                speeds = [run["samples_per_second"] for run in of_name]
                load = median(run["load"] for run in of_name)
                spread = f"{median(speeds):.1f} ({min(speeds):.1f}–{max(speeds):.1f})"
                lines.append(f"| {name} {of_name[0]['version']} | {spread} | {load:.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
