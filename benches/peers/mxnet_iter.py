"""MXNet's ImageRecordIter. It augments each frame by itself: it knows nothing of clips.

Version 1.9.1 decodes with at most half the cores less one, so as many iterators run as workers are asked for, each over
its part of the file. Records are not shuffled: that would mix the frames of clips.
"""
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MXNET_CPU_WORKER_NTHREADS", "1")

import mxnet
import numpy as np

import common
from workloads import BATCH, FRAMES, MEAN, STD


def batches(workload, store, workers, shuffle):
    record_file, index = common.recordio(store)
    size = workload.size
    options = {
        "path_imgrec": record_file,
        "path_imgidx": index,
        "data_shape": (3, size, size),
        "batch_size": BATCH * FRAMES,
        "preprocess_threads": 1,
        "prefetch_buffer": 2,
        "verbose": False,
    }
    if workload.random:
        options |= {
            "random_resized_crop": True,
            "min_random_area": 0.08,
            "max_random_area": 1.0,
            "min_aspect_ratio": 3 / 4,
            "max_aspect_ratio": 4 / 3,
            "rand_mirror": True,
        }
    make = mxnet.io.ImageRecordUInt8Iter
    if workload.dtype == "float32":
        make = mxnet.io.ImageRecordIter
        for channel, mean, std in zip("rgb", MEAN, STD):
            options |= {f"mean_{channel}": 255 * mean, f"std_{channel}": 255 * std}
    parts = [make(**options, num_parts=workers.count, part_index=i) for i in range(workers.count)]
    while True:
        for part in parts:
            try:
                frames = part.next()
            except StopIteration:
                part.reset()
                frames = part.next()
            clips = frames.data[0].asnumpy().reshape(BATCH, FRAMES, 3, size, size)
            # It has no other layout.
            yield clips if workload.layout == "TCHW" else np.ascontiguousarray(clips.transpose(0, 1, 3, 4, 2))


if __name__ == "__main__":
    common.main(common.prepare_recordio, batches, ["mxnet", "numpy"])
