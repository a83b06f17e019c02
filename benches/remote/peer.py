"""What the scripts of the peers share: their command line, the batches, and what they tell `run.py` while they run.

A peer is a script that hands two functions to `main`:

    prepare(store, clips, shard_bytes)     keeps the clips, lists of JPEGs, in its own format in the folder `store`
    loader(task)                           gives batches; each `iter` of it is an epoch

and then answers to

    SCRIPT.py prepare STORE SOURCE COPIES SHARD_BYTES
    SCRIPT.py read LOCATION OPTION...      lines of JSON: `ready`, `first` batch, `epoch` after each one, and `end`
"""
import argparse
import json
import os
import random
import sys
import time
from importlib import metadata
from pathlib import Path

import numpy as np
import psutil

from layout import BATCH, REPOSITORY, reader

# After this folder, whose names come first.
sys.path.append(str(REPOSITORY / "benches/peers"))
from common import cpu_seconds  # noqa: E402
from workloads import WORKLOADS  # noqa: E402

WORKLOAD = WORKLOADS["W1"]  # random resized crop to 224, flip, normalized f32, BTCHW


def main(prepare, loader, packages):
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    write = commands.add_parser("prepare")
    write.add_argument("store", type=Path)
    write.add_argument("source", type=Path)
    write.add_argument("copies", type=int)
    write.add_argument("shard_bytes", type=int)
    read = commands.add_parser("read")
    read.add_argument("server", help="http://HOST:PORT, or a folder")
    read.add_argument("path", help="of the data set on the server; its first part is the bucket")
    read.add_argument("--frames", type=int, required=True, help="of a clip")
    read.add_argument("--cache", type=Path, help="a folder that is there")
    read.add_argument("--cache-bytes", type=int)
    read.add_argument("--workers", type=int, default=1)
    read.add_argument("--epochs", type=int, default=1)
    read.add_argument("--block", type=int, help="clips to shuffle at a time, for those that can choose")
    read.add_argument("--shards", type=int, help="number of shard files, for those that list them")
    task = parser.parse_args()
    if task.command == "prepare":
        prepare(task.store, clips(task.source, task.copies), task.shard_bytes)
    else:
        measure(loader, task)
        tell("end", cpu_seconds=cpu_seconds(), versions={name: metadata.version(name) for name in packages})
    # Some peers take seconds to take down their threads and processes, and some never finish.
    for child in psutil.Process().children(recursive=True):
        child.kill()
    os._exit(0)


def clips(source, copies):
    """All clips, one after the other, each as a list of JPEGs."""
    base = [[clip.jpeg(t) for t in range(len(clip.frames))] for clip in reader.open_dataset(source).clips]
    for _ in range(copies):
        yield from base


def measure(loader, task):
    """Takes whole epochs, and looks at each batch. Imports are over when the clock starts."""
    tell("ready")
    started = time.perf_counter()
    feed, first = loader(task), True
    for _ in range(task.epochs):
        frames = 0
        for batch in feed:
            frames += look_at(batch, task)
            if first:
                tell("first", seconds=time.perf_counter() - started, frames=frames)
                first = False
        tell("epoch", seconds=time.perf_counter() - started, frames=frames)


def look_at(batch, task):
    """At the last frame, so that it is really there; the number of frames."""
    clips, *shape = batch.shape
    if shape != [task.frames, 3, WORKLOAD.size, WORKLOAD.size]:
        raise SystemExit(f"a batch of {tuple(batch.shape)}")
    np.asarray(batch[-1][-1]).ravel()[::997].sum()
    return clips * task.frames


def tell(event, **about):
    print("\n" + json.dumps({"event": event, **about}), flush=True)


def collate(task, jpegs):
    """For a DataLoader: rows of a peer to a batch; `jpegs(row)` gives the JPEGs of a clip.

    As fast as we know in Python: simplejpeg and OpenCV straight into the batch, in shared memory if in a worker.
    """
    import simplejpeg
    import torch

    import augment

    torch.set_num_threads(1)
    rng = random.Random(os.getpid())

    def batch(rows):
        shape = len(rows), task.frames, 3, WORKLOAD.size, WORKLOAD.size
        if torch.utils.data.get_worker_info() is None:
            out = torch.empty(shape)
        else:
            out = torch.empty(0).set_(torch.UntypedStorage._new_shared(4 * int(np.prod(shape))), 0, shape)
        for target, row in zip(out.numpy(), rows):
            augment.write_clip(WORKLOAD, target, [simplejpeg.decode_jpeg(jpeg) for jpeg in jpegs(row)], rng)
        return out

    return batch


def by_number(task):
    """The JPEGs of a sample with a field for each frame."""
    names = [f"frame{t}" for t in range(task.frames)]
    return lambda row: [row[name] for name in names]


def as_fields(jpegs):
    return {f"frame{t}": jpeg for t, jpeg in enumerate(jpegs)}


def s3_location(task):
    """The address for clients of S3, which find the endpoint and any credentials in the environment."""
    os.environ |= {"S3_ENDPOINT_URL": task.server, "AWS_ENDPOINT_URL": task.server, "AWS_ALLOW_HTTP": "true",
                   "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "AWS_REGION": "us-east-1",
                   "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}
    return f"s3://{task.path}"
