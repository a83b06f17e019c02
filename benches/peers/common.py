"""What the contestants share: their command line, how they are measured, how their batches are checked.

A contestant is a script that hands two functions to `main`:

    prepare(store, clips)                         keeps the clips in its own format in the folder `store`
    batches(workload, store, workers, shuffle)    gives batches, numpy arrays or tensors, for ever

and then answers to

    SCRIPT.py prepare
    SCRIPT.py run WORKLOAD [--seconds S] [--workers N|Np]     one line of JSON
    SCRIPT.py check                                           are its batches what they should be?

`Np` stands for N processes where a contestant has the choice; N alone for threads, native ones where it has those.
"""
import argparse
import io
import json
import os
import shutil
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil

from workloads import BATCH, FRAMES, MEAN, PLAIN, STD, STORES, WORKLOADS, reader


class Workers(NamedTuple):
    count: int
    processes: bool

    @classmethod
    def parse(cls, text):
        return cls(int(text.rstrip("p")), text.endswith("p"))


def clips():
    """The clips that everybody stores: ordinary JPEGs, 8 a clip, with the name of the video and the frames' places."""
    return list(reader.open_dataset(PLAIN).clips)


def jpegs(clip):
    return [clip.jpeg(t) for t in range(FRAMES)]


def recordio(store):
    """The plain data set is a RecordIO file of images already; MXNet and DALI only lack their own kind of index."""
    (shard,) = reader.open_dataset(PLAIN).shards
    return str(shard.record_path), str(store / "frames.idx")


def prepare_recordio(store, clips):
    offsets = [frame.offset for clip in clips for frame in clip.frames]
    Path(recordio(store)[1]).write_text("".join(f"{k}\t{at}\n" for k, at in enumerate(offsets)))


def main(prepare, batches, packages, from_video=False):
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("prepare")
    run = commands.add_parser("run")
    run.add_argument("workload", choices=WORKLOADS)
    run.add_argument("--seconds", type=float, default=5)
    run.add_argument("--workers", type=Workers.parse, default="2")
    check = commands.add_parser("check")
    check.add_argument("--workers", type=Workers.parse, default="1")
    a = parser.parse_args()

    store = STORES / Path(sys.argv[0]).stem
    status = 0
    if a.command == "prepare":
        shutil.rmtree(store, ignore_errors=True)
        store.mkdir(parents=True)
        prepare(store, clips())
    elif a.command == "run":
        result = measure(WORKLOADS[a.workload], batches, store, a.workers, a.seconds)
        versions = {"python": sys.version.split()[0], **{name: metadata.version(name) for name in packages}}
        print("\n" + json.dumps({**result, "versions": versions}))
    else:
        names = [name for name in WORKLOADS if (name == "W3") == from_video]
        status = int(not all([check_batch(name, batches, store, a.workers) for name in names]))
    # Some peers take seconds to take down their threads and processes, and some never finish.
    for child in psutil.Process().children(recursive=True):
        child.kill()
    sys.stdout.flush()
    os._exit(status)


def measure(workload, batches, store, workers, seconds):
    """Steady state after a second of warming up. Imports are over when the time to the first batch begins."""
    started = time.perf_counter()
    feed = iter(batches(workload, store, workers, True))
    batch = take(feed)
    first_batch = time.perf_counter() - started
    expect(workload, batch)
    run_for(min(seconds, 1), feed)
    cpu = cpu_seconds()
    taken, elapsed = run_for(seconds, feed)
    cpu = cpu_seconds() - cpu
    clips = taken * BATCH
    return {
        "frames_per_second": clips * FRAMES / elapsed,
        "clips_per_second": clips / elapsed,
        "first_batch_seconds": first_batch,
        "cpu_seconds_per_1000_frames": cpu / (clips * FRAMES) * 1000,
        "workers": workers.count,
        "processes": workers.processes,
        "batches": taken,
        "seconds": elapsed,
    }


def take(feed):
    """The next batch, with a look at its last frame, so that it is really there."""
    batch = next(feed)
    np.asarray(batch[-1][-1]).ravel()[::997].sum()
    return batch


def run_for(seconds, feed):
    """Takes batches for some time, at least two; returns their number and the time."""
    started, taken = time.perf_counter(), 0
    while True:
        take(feed)
        taken += 1
        elapsed = time.perf_counter() - started
        if elapsed >= seconds and taken >= 2:
            return taken, elapsed


def cpu_seconds():
    """Of this process and its children, living and gone."""
    me = psutil.Process()
    total = 0.0
    for process in [me, *me.children(recursive=True)]:
        try:
            total += sum(process.cpu_times()[:4])
        except psutil.NoSuchProcess:
            pass
    return total


def expect(workload, batch):
    found = tuple(batch.shape), str(batch.dtype).replace("torch.", "")
    if found != (workload.shape, workload.dtype):
        raise SystemExit(f"a batch of {found}, not {(workload.shape, workload.dtype)}")


def check_batch(name, batches, store, workers):
    """Compares the first batch, not shuffled, with the center crops that Pillow decodes from the stored frames."""
    workload = WORKLOADS[name]
    batch = next(iter(batches(workload, store, workers, False)))
    expect(workload, batch)
    batch = np.array(batch)
    if workload.layout == "TCHW":
        batch = batch.transpose(0, 1, 3, 4, 2)
    if workload.dtype == "float32":
        batch = (batch * np.float32(STD) + np.float32(MEAN)) * 255
    truth = center_crops()
    if workload.random:
        # Other parts of the same pictures: alike in mean and spread. And two frames that were cut alike are alike.
        shift, spread = batch.mean() - truth.mean(), batch.std() / truth.std()
        alike = [np.corrcoef(clip[0].ravel(), clip[1].ravel())[0, 1] for clip in batch]
        ok = abs(shift) < 15 and 0.75 < spread < 1.25
        words = f"mean {shift:+.1f}, spread x{spread:.2f}, correlation of frames 0 and 1: {np.median(alike):.2f}"
    else:
        apart = np.abs(batch.astype(np.int16) - truth)
        # Other inverse transforms and upsamplings come within 1.5; another scaler and the JPEG's own loss within 6.
        ok = apart.mean() < (6 if name == "W3" else 1.5)
        words = f"apart from Pillow: mean {apart.mean():.3f}, most {apart.max()}"
    print(f"{name:6} {'ok  ' if ok else 'FAIL'} {words}", flush=True)
    return ok


def center_crops():
    from PIL import Image

    def crop(jpeg, size=224):
        image = Image.open(io.BytesIO(jpeg)).convert("RGB")
        x, y = (image.width - size) // 2, (image.height - size) // 2
        return np.asarray(image.crop((x, y, x + size, y + size)))

    return np.stack([[crop(jpeg) for jpeg in jpegs(clip)] for clip in clips()[:BATCH]])
