"""The simplest store: all JPEGs one after the other, and where each begins."""
import mmap

import numpy as np

from common import jpegs
from workloads import FRAMES


def prepare(store, clips):
    offsets = [0]
    with open(store / "frames.bin", "wb") as out:
        for clip in clips:
            for jpeg in jpegs(clip):
                out.write(jpeg)
                offsets.append(out.tell())
    np.save(store / "offsets.npy", offsets)


class PackedFile:
    def __init__(self, store):
        self.offsets = np.load(store / "offsets.npy").tolist()
        with open(store / "frames.bin", "rb") as file:
            self.bytes = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def __len__(self):
        return len(self.offsets) // FRAMES

    def __getitem__(self, clip):
        at = self.offsets[clip * FRAMES : (clip + 1) * FRAMES + 1]
        return [self.bytes[begin:end] for begin, end in zip(at, at[1:])]
