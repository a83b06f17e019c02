"""Batches from a function that gets one clip, with a pool of threads or with PyTorch's DataLoader.

`make_fill()` is called once in each thread or process and returns `fill(out, clip, rng)`, which writes clip number
`clip` into its place in a batch.
"""
import random
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from workloads import BATCH

torch.set_num_threads(1)
AHEAD = 2  # batches in the making


def clip_order(count, shuffle):
    """Clip numbers, epoch after epoch, for ever."""
    rng, order = random.Random(0), list(range(count))
    while True:
        if shuffle:
            rng.shuffle(order)
        yield from order


def batches(workload, count, make_fill, workers, shuffle):
    pool = processes if workers.processes else threads
    return pool(workload, count, make_fill, workers.count, shuffle)


def threads(workload, count, make_fill, workers, shuffle):
    """Each clip is a task; batches are used in turn, one of them with the caller."""
    ring = deque(np.empty(workload.shape, workload.dtype) for _ in range(AHEAD + 1))
    order, local, pool = enumerate(clip_order(count, shuffle)), threading.local(), ThreadPoolExecutor(workers)

    def task(out, draw, clip):
        if not hasattr(local, "fill"):
            local.fill = make_fill()
        local.fill(out, clip, random.Random(draw))

    def submit():
        ring.rotate()
        return ring[0], [pool.submit(task, out, *next(order)) for out in ring[0]]

    queue = deque(submit() for _ in range(AHEAD))
    while True:
        queue.append(submit())  # where the batch lay that the caller had until now
        batch, tasks = queue.popleft()
        for done in tasks:
            done.result()
        yield batch


def shared_batch(workload):
    """A tensor in shared memory: made by a worker and handed over without a copy."""
    dtype = getattr(torch, workload.dtype)
    size = int(np.prod(workload.shape)) * dtype.itemsize
    return torch.empty(0, dtype=dtype).set_(torch.UntypedStorage._new_shared(size), 0, workload.shape)


class Batches(Dataset):
    """Items are whole batches, so that nothing has to be collated."""

    def __init__(self, workload, make_fill):
        self.workload, self.make_fill, self.fill = workload, make_fill, None

    def __getitem__(self, draws):
        self.fill = self.fill or self.make_fill()
        batch = shared_batch(self.workload)
        for out, (draw, clip) in zip(batch.numpy(), draws):
            self.fill(out, clip, random.Random(draw))
        return batch


def processes(workload, count, make_fill, workers, shuffle):
    order = enumerate(clip_order(count, shuffle))
    sampler = iter(lambda: [next(order) for _ in range(BATCH)], None)
    return iter(DataLoader(Batches(workload, make_fill), None, sampler=sampler, num_workers=workers))
