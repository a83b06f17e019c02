"""NVIDIA DALI on the CPU: decodes only the part of the JPEG that is wanted, the same for the frames of a clip.

Records are not shuffled: that would mix the frames of clips.
"""
import math

import numpy as np
from nvidia.dali import fn, math as dali_math, pipeline_def, types

import common
from workloads import BATCH, FRAMES, MEAN, STD

PACKAGES = ["nvidia-dali-cuda120", "numpy"]
# The first frame's draw for all frames of a clip.
FIRST_OF_CLIP = [i // FRAMES * FRAMES for i in range(BATCH * FRAMES)]


def decode_random_area(jpegs):
    """As torchvision's RandomResizedCrop, but what is too wide or too high is cut instead of drawn again."""
    draws = fn.random.uniform(range=(0.08, 1.0)), fn.random.uniform(range=(math.log(3 / 4), math.log(4 / 3)))
    area, ratio = (fn.permute_batch(draw, indices=FIRST_OF_CLIP) for draw in draws)
    place = fn.permute_batch(fn.random.uniform(range=(0.0, 1.0), shape=[2]), indices=FIRST_OF_CLIP)
    frame = fn.cast(fn.peek_image_shape(jpegs)[:2], dtype=types.FLOAT)
    area, ratio = frame[0] * frame[1] * area, dali_math.exp(ratio)
    height, width = dali_math.sqrt(area / ratio), dali_math.sqrt(area * ratio)
    part = fn.stack(dali_math.min(height, frame[0]), dali_math.min(width, frame[1]))
    pixels = {"normalized_anchor": False, "normalized_shape": False, "axis_names": "HW"}
    return fn.decoders.image_slice(jpegs, (frame - part) * place, part, **pixels)


@pipeline_def(batch_size=BATCH * FRAMES, device_id=None, prefetch_queue_depth=2, seed=1)
def pipeline(workload, record_file, index, per_clip):
    jpegs, _ = fn.readers.mxnet(path=record_file, index_path=index)
    size = (workload.size, workload.size)
    if not workload.random:
        images = fn.decoders.image_crop(jpegs, crop=size)
        return images if workload.layout == "THWC" else fn.transpose(images, perm=[2, 0, 1])
    flip = fn.random.coin_flip()
    if per_clip:
        images, flip = decode_random_area(jpegs), fn.permute_batch(flip, indices=FIRST_OF_CLIP)
    else:
        images = fn.decoders.image_random_crop(jpegs, random_area=[0.08, 1], random_aspect_ratio=[3 / 4, 4 / 3])
    images = fn.resize(images, size=size, interp_type=types.INTERP_LINEAR, antialias=False)
    if workload.dtype == "uint8":
        return fn.flip(images, horizontal=flip)
    mean, std = ([255 * x for x in values] for values in (MEAN, STD))
    return fn.crop_mirror_normalize(images, output_layout="CHW", mirror=flip, mean=mean, std=std)


def batches(workload, store, workers, shuffle, per_clip=True):
    feed = pipeline(workload, *common.recordio(store), per_clip, num_threads=workers.count)
    feed.build()
    while True:
        (frames,) = feed.run()
        yield np.asarray(frames.as_tensor()).reshape(workload.shape)


if __name__ == "__main__":
    common.main(common.prepare_recordio, batches, PACKAGES)
