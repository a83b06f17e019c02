"""SPDL: FFmpeg's JPEG decoder and filters (crop, resize, flip) in its thread pool. It has no store of its own."""
import random

import numpy as np
import simplejpeg
import spdl.io
from spdl.pipeline import PipelineBuilder

import augment
import common
import loaders
from packed_file import PackedFile, prepare
from workloads import BATCH


def filters(workload, view):
    chain = [f"crop={view.width}:{view.height}:{view.x}:{view.y}:exact=1"]
    if workload.random:
        chain.append(f"scale={workload.size}:{workload.size}:flags=bilinear")
    return ",".join([*chain, *["hflip"] * view.flip, "format=pix_fmts=rgb24"])


def batches(workload, store, workers, shuffle):
    clips = PackedFile(store)
    ring = [np.empty(workload.shape, workload.dtype) for _ in range(4)]

    def tasks():
        for draw, clip in enumerate(loaders.clip_order(len(clips), shuffle)):
            yield ring[draw // BATCH % len(ring)], draw, clip

    def fill(task):
        batch, draw, clip = task
        jpegs = clips[clip]
        height, width = simplejpeg.decode_jpeg_header(jpegs[0])[:2]
        view = augment.view(workload, width, height, random.Random(draw))
        as_stored = {"width": None, "height": None, "pix_fmt": None}
        frames = spdl.io.load_image_batch(jpegs, **as_stored, filter_desc=filters(workload, view))
        for target, image in zip(batch[draw % BATCH], spdl.io.to_numpy(frames)):
            if workload.dtype == "float32":
                augment.write_normalized(target, image)
            else:
                target[:] = image if workload.layout == "THWC" else image.transpose(2, 0, 1)
        return batch

    pipeline = (
        PipelineBuilder()
        .add_source(tasks())
        .pipe(fill, concurrency=workers.count, output_order="input")
        .aggregate(BATCH)
        .add_sink(1)
        .build(num_threads=workers.count)
    )
    with pipeline.auto_stop():
        for batch, *_ in pipeline:
            yield batch


if __name__ == "__main__":
    common.main(prepare, batches, ["spdl", "spdl-io", "opencv-python-headless", "numpy"])
