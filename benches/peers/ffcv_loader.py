"""FFCV: a row a frame, its own decoder and transforms, compiled. It augments each frame by itself.

Clips are shuffled through the list of rows. Its f32 batches are channels-last in memory, as its users have them.
"""
import random

import ffcv.fields.rgb_image
import numpy as np
import simplejpeg
import torch
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.rgb_image import CenterCropRGBImageDecoder, RandomResizedCropRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.reader import Reader
from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, ToTensor, ToTorchImage
from ffcv.writer import DatasetWriter

import common
from workloads import BATCH, FRAMES, MEAN, STD

SHORT_SIDE = 256
torch.set_num_threads(1)


class Rows:
    """Its writer takes pixels and encodes them; here it gets the stored JPEG back instead."""

    def __init__(self, clips):
        self.jpegs = [jpeg for clip in clips for jpeg in common.jpegs(clip)]
        ffcv.fields.rgb_image.encode_jpeg = lambda pixels, quality: np.frombuffer(self.last, np.uint8)

    def __len__(self):
        return len(self.jpegs)

    def __getitem__(self, i):
        self.last = self.jpegs[i]
        return simplejpeg.decode_jpeg(self.last), i // FRAMES


def prepare(store, clips):
    fields = {"image": RGBImageField(write_mode="jpg"), "clip": IntField()}
    DatasetWriter(str(store / "frames.beton"), fields, num_workers=1).from_indexed_dataset(Rows(clips))


def pipeline(workload):
    size = (workload.size, workload.size)
    if not workload.random:
        return [CenterCropRGBImageDecoder(size, ratio=workload.size / SHORT_SIDE), ToTensor(), ToTorchImage()]
    decode = [RandomResizedCropRGBImageDecoder(size, scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3)), RandomHorizontalFlip()]
    if workload.dtype == "uint8":
        return [*decode, ToTensor()]
    mean, std = (255 * np.float32(values) for values in (MEAN, STD))
    return [*decode, NormalizeImage(mean, std, np.float32), ToTensor(), ToTorchImage()]


def batches(workload, store, workers, shuffle):
    path = str(store / "frames.beton")
    order = list(range(Reader(path).num_samples // FRAMES))
    if shuffle:
        random.Random(0).shuffle(order)
    rows = np.array([clip * FRAMES + t for clip in order[: len(order) // BATCH * BATCH] for t in range(FRAMES)])
    loader = Loader(
        path,
        batch_size=BATCH * FRAMES,
        num_workers=workers.count,
        order=OrderOption.SEQUENTIAL,
        indices=rows,
        os_cache=True,
        batches_ahead=2,
        pipelines={"image": pipeline(workload), "clip": None},
    )
    while True:
        for (frames,) in loader:
            yield frames.reshape(workload.shape)


if __name__ == "__main__":
    common.main(prepare, batches, ["ffcv", "numba", "torch", "numpy"])
