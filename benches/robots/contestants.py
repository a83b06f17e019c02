"""One contestant at one job: a run of it, or its first sample.

    contestants.py run JOB NAME HOME SECONDS     one line of JSON: samples a second
    contestants.py first JOB NAME HOME OUT       the pixels of the first sample, not shuffled, as OUT

Each uses two threads or two processes.
"""
import json
import os
import sys
import time
from importlib import metadata
from pathlib import Path

import numpy as np

import data
from data import CAMERAS, FRAMES, LENGTHS, RATE, SHARES, SIDE

WORKERS, WINDOW, CROP = 2, 8, 224
BATCH = {"windows": 8, "mix": 16}
WARM_UP = 5  # batches


def windows_vidrec(home, shuffle):
    """(B, V, T, C, H, W), f32 from 0 to 1, and (B, T, 14)."""
    import vidrec

    action = vidrec.track(steps=WINDOW, rate=RATE)
    loader = vidrec.Loader(
        home / "windows-vidrec", BATCH["windows"], frames=vidrec.Windows(WINDOW), crop=SIDE, dtype="float32",
        cameras=vidrec.Cameras(CAMERAS), tracks={"action": action}, shuffle=shuffle, threads=WORKERS, output="torch",
    )  # fmt: skip
    return (batch.frames for _ in iter(int, 1) for batch in loader if batch.tracks["action"].shape[1] == WINDOW)


def windows_lerobot(home, shuffle):
    import torch
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    times = [t / RATE for t in range(WINDOW)]
    keys = [data.image_key(camera) for camera in CAMERAS]
    wanted = dict.fromkeys([*keys, "action"], times)
    dataset = LeRobotDataset("local/robots", root=home / "windows-lerobot", delta_timestamps=wanted)
    loader = torch.utils.data.DataLoader(
        dataset, BATCH["windows"], shuffle, num_workers=WORKERS, drop_last=True, persistent_workers=True
    )
    for _ in iter(int, 1):
        for batch in loader:
            assert batch["action"].shape[1] == WINDOW
            yield torch.stack([batch[key] for key in keys], 1)


def mix_vidrec(home, shuffle):
    """(B, T, C, H, W), u8."""
    import vidrec

    sets = {name: (home / "mix-vidrec" / name, share) for name, share in SHARES.items()}
    source = vidrec.mix(sets, window=BATCH["mix"] * 10) if shuffle else home / "mix-vidrec/a"
    loader = vidrec.Loader(source, BATCH["mix"], frames=FRAMES, crop=CROP, threads=WORKERS, output="torch")
    return (batch.frames for _ in iter(int, 1) for batch in loader)


def mix_streaming(home, shuffle):
    import streaming
    import torch

    class Clips(streaming.StreamingDataset):
        def __getitem__(self, at):
            row = super().__getitem__(at)
            return torch.from_numpy(decoded(row["lengths"], row["jpegs"]))

    streaming.base.util.clean_stale_shared_memory()
    shares = SHARES if shuffle else {"a": 1.0}
    streams = [streaming.Stream(local=str(home / "mix-streaming" / name), proportion=p) for name, p in shares.items()]
    clips = Clips(streams=streams, batch_size=BATCH["mix"], shuffle=shuffle)
    loader = torch.utils.data.DataLoader(
        clips, BATCH["mix"], num_workers=WORKERS if shuffle else 0, persistent_workers=shuffle, drop_last=True
    )
    for _ in iter(int, 1):
        yield from loader


def mix_grain(home, shuffle):
    import grain

    def one(record):
        return decoded(record[: LENGTHS.size], memoryview(record)[LENGTHS.size :])

    def clips(name):
        source = grain.sources.ArrayRecordDataSource(str(home / "mix-grain" / name))
        of_source = grain.MapDataset.source(source)
        return of_source.seed(0).shuffle().repeat(None) if shuffle else of_source

    mixed = grain.MapDataset.mix([clips(name) for name in SHARES], list(SHARES.values())) if shuffle else clips("a")
    options = grain.ReadOptions(num_threads=WORKERS, prefetch_buffer_size=2 * BATCH["mix"])
    return iter(mixed.map(one).to_iter_dataset(options).batch(BATCH["mix"]))


def decoded(lengths, images):
    """The middle of each picture, with the fastest code that we know in Python."""
    import cv2
    import simplejpeg

    cv2.setNumThreads(1)
    out, at = np.empty((FRAMES, 3, CROP, CROP), np.uint8), 0
    for picture, length in zip(out, LENGTHS.unpack(lengths)):
        image = simplejpeg.decode_jpeg(images[at : at + length])
        y, x = (image.shape[0] - CROP) // 2, (image.shape[1] - CROP) // 2
        cv2.split(image[y : y + CROP, x : x + CROP], list(picture))
        at += length
    return out


JOBS = {
    "windows": {"vidrec": windows_vidrec, "lerobot": windows_lerobot},
    "mix": {"vidrec": mix_vidrec, "streaming": mix_streaming, "grain": mix_grain},
}
PACKAGES = {"vidrec": "vidrec", "lerobot": "lerobot", "streaming": "mosaicml-streaming", "grain": "grain"}


def samples_per_second(batches, shape, seconds):
    for _ in range(WARM_UP):
        take(batches, shape)
    started, taken = time.perf_counter(), 0
    while (passed := time.perf_counter() - started) < seconds:
        take(batches, shape)
        taken += 1
    return taken * shape[0] / passed


def take(batches, shape):
    """The next batch, with a look at its last picture, so that it is really there."""
    batch = next(batches)
    if tuple(batch.shape) != shape:
        raise SystemExit(f"a batch of {tuple(batch.shape)}, not {shape}")
    np.asarray(batch[-1][-1]).ravel()[::997].sum()
    return batch


def main():
    what, job, name, home, last = sys.argv[1:]
    shapes = {"windows": (2, WINDOW, 3, SIDE, SIDE), "mix": (FRAMES, 3, CROP, CROP)}
    batches, shape = iter(JOBS[job][name](Path(home), what == "run")), (BATCH[job], *shapes[job])
    if what == "run":
        speed = samples_per_second(batches, shape, float(last))
        print(json.dumps({"samples_per_second": speed, "version": metadata.version(PACKAGES[name])}))
    else:
        np.save(last, np.asarray(take(batches, shape)[0]))
    sys.stdout.flush()
    # Some loaders take seconds to end their processes.
    os._exit(0)


if __name__ == "__main__":
    main()
