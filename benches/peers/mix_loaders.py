"""One contestant: a run of it, or its first sample.

    mix_loaders.py run NAME HOME SECONDS     one line of JSON: samples a second
    mix_loaders.py first NAME HOME OUT       the pixels of the first sample, not shuffled, as OUT

Each uses two threads or two processes.
"""
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

from mix_store import FRAMES, LENGTHS, SHARES

WORKERS, CROP, BATCH = 2, 224, 16
WARM_UP = 5  # batches


def by_vidrec(home, shuffle):
    """(B, T, C, H, W), u8."""
    import vidrec

    sets = {name: (home / "vidrec" / name, share) for name, share in SHARES.items()}
    source = vidrec.mix(sets, window=BATCH * 10) if shuffle else home / "vidrec/a"
    loader = vidrec.Loader(source, BATCH, frames=FRAMES, crop=CROP, threads=WORKERS, last="drop", output="torch")
    return (batch.frames for _ in iter(int, 1) for batch in loader)


def by_streaming(home, shuffle):
    import streaming
    import torch

    class Clips(streaming.StreamingDataset):
        def __getitem__(self, at):
            row = super().__getitem__(at)
            return torch.from_numpy(decoded(row["lengths"], row["jpegs"]))

    streaming.base.util.clean_stale_shared_memory()
    shares = SHARES if shuffle else {"a": 1.0}
    streams = [streaming.Stream(local=str(home / "streaming" / name), proportion=p) for name, p in shares.items()]
    clips = Clips(streams=streams, batch_size=BATCH, shuffle=shuffle)
    loader = torch.utils.data.DataLoader(
        clips, BATCH, num_workers=WORKERS if shuffle else 0, persistent_workers=shuffle, drop_last=True
    )
    for _ in iter(int, 1):
        yield from loader


def by_grain(home, shuffle):
    import grain

    def one(record):
        return decoded(record[: LENGTHS.size], memoryview(record)[LENGTHS.size :])

    def clips(name):
        source = grain.sources.ArrayRecordDataSource(str(home / "grain" / name))
        of_source = grain.MapDataset.source(source)
        return of_source.seed(0).shuffle().repeat(None) if shuffle else of_source

    mixed = grain.MapDataset.mix([clips(name) for name in SHARES], list(SHARES.values())) if shuffle else clips("a")
    options = grain.ReadOptions(num_threads=WORKERS, prefetch_buffer_size=2 * BATCH)
    return iter(mixed.map(one).to_iter_dataset(options).batch(BATCH))


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


CONTESTANTS = {"vidrec": by_vidrec, "streaming": by_streaming, "grain": by_grain}


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
    what, name, home, last = sys.argv[1:]
    batches, shape = iter(CONTESTANTS[name](Path(home), what == "run")), (BATCH, FRAMES, 3, CROP, CROP)
    if what == "run":
        print(json.dumps({"samples_per_second": samples_per_second(batches, shape, float(last))}))
    else:
        np.save(last, np.asarray(take(batches, shape)[0]))
    sys.stdout.flush()
    # Some loaders take seconds to end their processes.
    os._exit(0)


if __name__ == "__main__":
    main()
