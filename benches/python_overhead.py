#!/usr/bin/env python3
"""What Python costs: the package's Loader beside `vidrec bench` with the same settings, in turn.

    python benches/python_overhead.py PROGRAM DATASET [--rounds N] [--seconds S] [--batch B] [--size P]

PROGRAM is the release build of vidrec, of the same source as the installed package. Prints frames a second, and CPU time
a thousand frames, which other load on the machine disturbs less; medians, and the ratio of the package to the program.
"""
import argparse
import json
import statistics
import subprocess
import time

import vidrec

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("dataset")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--seconds", type=float, default=3.0)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--size", type=int, default=224)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--output", choices=["torch", "numpy"])
args = parser.parse_args()


def program():
    options = [f"batch_size={args.batch}", f"crop=RandomResizedCrop({args.size})", f"threads={args.threads}", "flip=0.5"]
    options += ["shuffle=True", "last=wrap", "dtype=float32", "normalize=IMAGENET"]
    command = [args.program, "bench", args.dataset, *options, "--seconds", str(args.seconds), "--json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return report["frames_per_second"], report["cpu_seconds_per_1000_frames"]


loader = vidrec.Loader(
    args.dataset,
    args.batch,
    crop=vidrec.RandomResizedCrop(args.size),
    flip=0.5,
    dtype="float32",
    normalize=vidrec.IMAGENET,
    # One long epoch: the program's epochs follow without a pause too.
    order=list(range(len(vidrec.open(args.dataset)))) * 1000,
    last="wrap",
    prefetch=2,
    threads=args.threads,
    output=args.output,
)


def package():
    batches = iter(loader)
    next(batches)
    begin, cpu, frames = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - begin < args.seconds:
        batch = next(batches)
        frames += args.batch * len(batch.params[0].frames)
    return frames / (time.perf_counter() - begin), (time.process_time() - cpu) / frames * 1000


found = {"program": [], "package": []}
for _ in range(args.rounds):
    found["program"].append(program())
    found["package"].append(package())
medians = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in found.items()}
for name, (rate, cpu) in medians.items():
    print(f"{name}: {rate:8.0f} frames/s   {cpu:.4f} s of CPU a thousand frames")
(a, b), (c, d) = medians["program"], medians["package"]
print(f"package / program: {c / a:.3f} frames/s   {d / b:.3f} CPU")
