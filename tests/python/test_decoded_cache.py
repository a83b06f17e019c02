"""Decoded frames in memory: the same batches, in this process, in forked ones and in those that torch starts."""

import multiprocessing
import os
import pathlib
import sys
import tempfile

import numpy as np
import pytest

import vidrec

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="planes are kept in memory on Linux only")


@pytest.fixture
def memory():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield folder


def make(ds, memory=None, **options):
    cache = {} if memory is None else {"decoded_cache": vidrec.DecodedCache("8MB", dir=memory)}
    return vidrec.Loader(ds, 4, **{"crop": vidrec.RandomResizedCrop(48), "output": "numpy", "shuffle": True, **cache, **options})


def frames(loader, epochs=range(2)):
    return [batch.frames.copy() for epoch in epochs for batch in loader.set_epoch(epoch) or loader]


def same(a, b):
    return len(a) == len(b) and all(np.array_equal(x, y) for x, y in zip(a, b))


def test_batches_are_the_same_and_the_loader_says_what_was_kept(ds, memory):
    loader = make(ds, memory)
    assert same(frames(loader, range(4)), frames(make(ds), range(4)))
    stats = loader.stats()
    kept = stats.decoded_cache
    assert kept.hits + kept.misses == stats.frames and kept.other_frames == kept.refused == 0
    assert kept.misses >= 96 and kept.hits > 0 and 0 < kept.kept_bytes < kept.taken_bytes <= kept.limit_bytes <= 8_000_000
    assert kept.extra == {} and kept.failure is None and make(ds).stats().decoded_cache is None
    (folder,) = pathlib.Path(memory).iterdir()
    assert folder.name == f"vidrec-{os.geteuid()}" and len(list(folder.iterdir())) == 1
    del loader
    assert not folder.exists()


def test_a_forked_process_shares_it_and_the_parent_goes_on(ds, memory):
    loader = make(ds, memory)
    first = frames(loader, range(1))
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)

    def child():
        send.send((frames(loader, range(1)), loader.stats().decoded_cache.misses))

    process = context.Process(target=child)
    process.start()
    got, misses = receive.recv()
    process.join()
    assert process.exitcode == 0 and same(got, first) and misses == 0
    assert same(frames(loader), frames(make(ds)))
    assert len(list(pathlib.Path(memory).glob("*/*.planes"))) == 1, "the child has not removed it"
