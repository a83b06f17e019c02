"""Loaders of clips of different length with captions: one run of each, or the pixels of some clips.

    captions_loaders.py run NAME WORKERS SECONDS          one line of JSON
    captions_loaders.py pixels NAME WORKERS OUT ID...     the frames of these clips as OUT/ID.npy

Each loader gives batches of 8 clips, padded to the longest of the batch, as `Batch`; each `iter` of it is an epoch.
"""
import json
import os
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any, Callable, NamedTuple

import numpy as np
import psutil
import torch
from torch.utils.data import DataLoader

import captions_store as store
from common import cpu_seconds

BATCH, SIZE = 8, 224
BUCKETS = (16, 24, 32, 40, 48, 64)
WARM_UP = 8  # batches
torch.set_num_threads(1)


class Batch(NamedTuple):
    frames: torch.Tensor  # u8 of shape (clips, longest, 3, 224, 224)
    mask: torch.Tensor    # bool of shape (clips, longest): whether it is a frame of a clip that counts
    captions: list        # of the clips that count, which come first
    ids: list


class Sample(NamedTuple):
    """A clip before it is decoded."""
    id: str
    caption: str
    count: int
    write: Callable[[np.ndarray], Any]  # decodes it into its place in the batch


def vidrec(workers, batching=None):
    from vidrec import AllFrames, Cover, Loader

    options = {"frames": AllFrames(), "fields": ["caption", "id"], "crop": Cover(SIZE), "shuffle": True}
    loader = Loader(store.PACKED, BATCH, threads=workers, batching=batching, **options)
    return loader.map(lambda batch: Batch(batch.frames, batch.frame_mask, batch.fields["caption"], batch.fields["id"]))


def vidrec_buckets(workers):
    from vidrec import Buckets

    return vidrec(workers, Buckets(BUCKETS))


def streaming(workers):
    from streaming import StreamingDataset
    from streaming.base.util import clean_stale_shared_memory

    def sample(row):
        ends = np.cumsum(row["lengths"])
        jpegs = [row["jpegs"][end - length : end] for end, length in zip(ends, row["lengths"])]
        return jpeg_sample(row["id"], row["caption"], jpegs)

    clean_stale_shared_memory()
    clips = StreamingDataset(local=str(store.MDS), batch_size=BATCH, shuffle=True)
    return torch_loader(clips, workers, sample)


def webdataset(workers):
    import webdataset as wds

    def sample(row):
        about = json.loads(row["json"])
        jpegs = [row[key] for key in sorted(row) if key.endswith(".jpg")]
        return jpeg_sample(about["id"], about["caption"], jpegs)

    shards = wds.SimpleShardList(sorted(map(str, store.TAR.glob("*.tar"))))
    mix = wds.shuffle(100)
    # Each process shuffles its own shards: before the split, they would have to agree on an order.
    clips = wds.DataPipeline(shards, wds.split_by_worker, mix, wds.tarfile_to_samples(), mix)
    return torch_loader(clips, workers, sample)


def torchcodec(workers):
    from torchcodec.decoders import VideoDecoder
    from torchvision.transforms import v2

    def sample(row):
        name, caption, path, size, indices = row

        def write(out):
            options = {"num_ffmpeg_threads": 1, "seek_mode": "approximate"}
            transforms = [v2.Resize(size), v2.CenterCrop((SIZE, SIZE))]
            decoder = VideoDecoder(path, transforms=transforms, **options)
            out[:] = decoder.get_frames_at(indices).data.numpy()

        return Sample(name, caption, len(indices), write)

    def row(name, caption, clip):
        scale = SIZE / min(clip.size)
        return name, caption, clip.source, tuple(round(side * scale) for side in clip.size[::-1]), clip.source_indices

    return torch_loader([row(*clip) for clip in store.clips()], workers, sample, shuffle=True)


def jpeg_sample(name, caption, jpegs):
    import cv2
    import simplejpeg

    def write(out):
        for target, jpeg in zip(out, jpegs):
            image = simplejpeg.decode_jpeg(jpeg)
            height, width = image.shape[:2]
            side = min(height, width)
            y, x = (height - side) // 2, (width - side) // 2
            part = cv2.resize(image[y : y + side, x : x + side], (SIZE, SIZE), interpolation=cv2.INTER_LINEAR)
            cv2.split(part, list(target))

    return Sample(name, caption, len(jpegs), write)


def torch_loader(clips, workers, sample, **options):
    """PyTorch's, whose processes decode each clip straight into the shared memory of its padded batch."""

    def collate(rows):
        samples = [sample(row) for row in rows]
        shape = len(samples), max(s.count for s in samples), 3, SIZE, SIZE
        # Fresh memory of the system, so padding is zero already.
        memory = torch.UntypedStorage._new_shared(int(np.prod(shape)))
        frames = torch.empty(0, dtype=torch.uint8).set_(memory, 0, shape)
        mask = torch.zeros(shape[:2], dtype=torch.bool)
        for s, out, real in zip(samples, frames.numpy(), mask):
            s.write(out[: s.count])
            real[: s.count] = True
        return Batch(frames, mask, [s.caption for s in samples], [s.id for s in samples])

    return DataLoader(clips, BATCH, num_workers=workers, collate_fn=collate, persistent_workers=True, **options)


LOADERS = {"vidrec": (vidrec, ["vidrec"]), "vidrec_buckets": (vidrec_buckets, ["vidrec"])}
LOADERS |= {
    "streaming": (streaming, ["mosaicml-streaming", "torch", "simplejpeg", "opencv-python-headless"]),
    "webdataset": (webdataset, ["webdataset", "torch", "simplejpeg", "opencv-python-headless"]),
    "torchcodec": (torchcodec, ["torchcodec", "torch", "torchvision"]),
}


def run(loader, seconds):
    """Whole epochs, timed from a batch in the first one on, once all is under way. Proves that each has every clip."""
    wanted = {name: (caption, len(clip)) for name, caption, clip in store.clips()}
    found, clock, cpu, count = {"clips": 0, "frames": 0, "places": 0, "batches": 0}, None, 0, 0
    while clock is None or time.perf_counter() - clock < seconds:
        seen = []
        for batch in loader:
            look_at(batch)
            counts = batch.mask.sum(1).tolist()[: len(batch.ids)]
            seen += zip(batch.ids, zip(batch.captions, counts))
            if clock is None:
                count += 1
                if count == WARM_UP:
                    clock, cpu = time.perf_counter(), cpu_seconds()
                continue
            for key, more in zip(found, (len(counts), sum(counts), batch.mask.numel(), 1)):
                found[key] += more
        if len(seen) != len(wanted) or dict(seen) != wanted:
            raise SystemExit(f"an epoch of {len(seen)} clips, not each of the {len(wanted)} once with its caption")
        if clock is None:
            raise SystemExit(f"an epoch has {count} batches; this needs more than {WARM_UP}")
    return found | {"seconds": time.perf_counter() - clock, "cpu_seconds": cpu_seconds() - cpu}


def look_at(batch):
    """At its last frame, so that it is really there."""
    np.asarray(batch.frames[-1][-1]).ravel()[::997].sum()


def pixels(loader, out, names):
    """Saves the frames of some clips, after a look at all padding, which has to be zero."""
    for batch in loader:
        real = len(batch.ids)
        if batch.frames[:real, :, :, ::8, ::8][~batch.mask[:real]].any():
            raise SystemExit("padding is not zero")
        for name, frames, mask in zip(batch.ids, batch.frames, batch.mask):
            if name in names:
                np.save(Path(out) / f"{name}.npy", frames[mask].numpy())


def main():
    what, name, workers, *rest = sys.argv[1:]
    make, packages = LOADERS[name]
    if what == "pixels":
        pixels(make(int(workers)), rest[0], set(rest[1:]))
    else:
        found = run(make(int(workers)), float(rest[0]))
        print("\n" + json.dumps(found | {"versions": {package: metadata.version(package) for package in packages}}))
    sys.stdout.flush()
    for child in psutil.Process().children(recursive=True):
        child.kill()
    os._exit(0)


if __name__ == "__main__":
    main()
