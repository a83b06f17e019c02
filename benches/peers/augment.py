"""Crop, resize, flip and normalize with OpenCV, for the peers that leave that to the user. One thread a clip."""
import math
import random
from typing import NamedTuple

import cv2
import numpy as np

from workloads import MEAN, STD

cv2.setNumThreads(1)

# Normalizing a byte is looking it up: faster than arithmetic, and it writes float32 where it should go.
TABLES = [((np.arange(256) / 255 - mean) / std).astype(np.float32) for mean, std in zip(MEAN, STD)]


class View(NamedTuple):
    """Part of a frame, in pixels."""
    x: int
    y: int
    width: int
    height: int
    flip: bool


def view(workload, width, height, rng: random.Random):
    """One draw for all frames of a clip."""
    if not workload.random:
        size = workload.size
        if min(width, height) < size:
            raise ValueError(f"no crop of {size} in {width}x{height}")
        return View((width - size) // 2, (height - size) // 2, size, size, False)
    return View(*random_area(width, height, rng), rng.random() < 0.5)


def random_area(width, height, rng):
    """Torchvision's RandomResizedCrop: ten tries, then the largest centered part of an allowed ratio."""
    for _ in range(10):
        area = width * height * rng.uniform(0.08, 1)
        ratio = math.exp(rng.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return rng.randint(0, width - w), rng.randint(0, height - h), w, h
    w, h = min(width, round(height * 4 / 3)), min(height, round(width * 4 / 3))
    return (width - w) // 2, (height - h) // 2, w, h


def write(workload, out, image, v: View):
    """Writes a view of an RGB image into its place in the batch."""
    part = image[v.y : v.y + v.height, v.x : v.x + v.width]
    if not workload.random:
        if workload.layout == "THWC":
            out[:] = part
        else:
            cv2.split(part, list(out))
    elif workload.dtype == "uint8":
        if v.flip:
            cv2.flip(cv2.resize(part, (workload.size, workload.size)), 1, out)
        else:
            cv2.resize(part, (workload.size, workload.size), out)
    else:
        part = cv2.resize(part, (workload.size, workload.size))
        write_normalized(out, cv2.flip(part, 1) if v.flip else part)


def write_normalized(out, image):
    for plane, table, target in zip(cv2.split(image), TABLES, out):
        cv2.LUT(plane, table, target)


def write_clip(workload, out, images, rng):
    height, width = images[0].shape[:2]
    v = view(workload, width, height, rng)
    for target, image in zip(out, images):
        write(workload, target, image, v)
